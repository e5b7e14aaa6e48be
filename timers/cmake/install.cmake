# The timer library for its users: the files of `cmake --install`, the package for find_package(duewheel), and the targets
# for a project that includes this tree with add_subdirectory.
#
#     duewheel::wheels    the wheels: only headers
#     duewheel::timers    all of it, as one archive; only if cctz is installed
#
# The archive is made of the objects of the modules, so a module is compiled once for the library and the server.
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/duewheel)

add_library(duewheel_wheels INTERFACE)
add_library(duewheel::wheels ALIAS duewheel_wheels)
set_target_properties(duewheel_wheels PROPERTIES EXPORT_NAME wheels)
target_compile_features(duewheel_wheels INTERFACE cxx_std_20)
target_include_directories(duewheel_wheels INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# One component, so that `cmake --install BUILD --component timers` does not need the server.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/duewheel DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT timers)
install(TARGETS duewheel_wheels EXPORT duewheelWheels)
install(EXPORT duewheelWheels NAMESPACE duewheel:: DESTINATION ${package} COMPONENT timers)

if(Cctz_FOUND)
  set(objects shared calendar runtime patterns)
  list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:duewheel_\\1>")
  add_library(duewheel_timers STATIC ${objects})
  add_library(duewheel::timers ALIAS duewheel_timers)
  set_target_properties(duewheel_timers PROPERTIES EXPORT_NAME timers LINKER_LANGUAGE CXX)
  target_link_libraries(duewheel_timers PUBLIC duewheel_wheels Threads::Threads PRIVATE Cctz::cctz)
  install(TARGETS duewheel_timers EXPORT duewheelTimers
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT timers)
  install(EXPORT duewheelTimers NAMESPACE duewheel:: DESTINATION ${package} COMPONENT timers)
endif()

write_basic_package_version_file(${PROJECT_BINARY_DIR}/duewheelConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/duewheelConfig.cmake ${PROJECT_SOURCE_DIR}/cmake/FindCctz.cmake
  ${PROJECT_BINARY_DIR}/duewheelConfigVersion.cmake DESTINATION ${package} COMPONENT timers)
