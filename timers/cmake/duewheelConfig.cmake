# For find_package(duewheel): the target duewheel::wheels, and duewheel::timers if it was installed and its dependencies
# exist. find_package(duewheel COMPONENTS timers) fails without it.
include(${CMAKE_CURRENT_LIST_DIR}/duewheelWheels.cmake)
set(duewheel_wheels_FOUND TRUE)

if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/duewheelTimers.cmake)
  list(PREPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
  find_package(Threads QUIET)
  find_package(Cctz QUIET)
  list(POP_FRONT CMAKE_MODULE_PATH)
  if(Threads_FOUND AND Cctz_FOUND)
    include(${CMAKE_CURRENT_LIST_DIR}/duewheelTimers.cmake)
    set(duewheel_timers_FOUND TRUE)
  endif()
endif()

foreach(component IN LISTS duewheel_FIND_COMPONENTS)
  if(duewheel_FIND_REQUIRED_${component} AND NOT duewheel_${component}_FOUND)
    set(duewheel_FOUND FALSE)
    set(duewheel_NOT_FOUND_MESSAGE "There is no duewheel::${component} here. duewheel::timers needs cctz (Debian: "
      "libcctz-dev), here and where Duewheel was built and installed; duewheel::wheels needs nothing.")
  endif()
endforeach()
