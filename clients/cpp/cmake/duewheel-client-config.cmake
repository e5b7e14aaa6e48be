# For find_package(duewheel-client): the target duewheel::client.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(CURL 7.85)
include(${CMAKE_CURRENT_LIST_DIR}/duewheel-client-targets.cmake)
