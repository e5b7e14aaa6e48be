# What find_package(duewheel) reads: the target duewheel::timers, and what it stands on.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
list(PREPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
find_dependency(Cctz)
list(POP_FRONT CMAKE_MODULE_PATH)
include(${CMAKE_CURRENT_LIST_DIR}/duewheelTargets.cmake)
