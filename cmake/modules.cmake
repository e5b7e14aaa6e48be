# How a module, its tests and their flags are declared. Every source file is named in its folder's CMakeLists.txt.

add_library(duewheel_flags INTERFACE)
target_compile_options(duewheel_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast
  -Wno-missing-field-initializers)
if(DUEWHEEL_WERROR)
  target_compile_options(duewheel_flags INTERFACE -Werror)
endif()
target_include_directories(duewheel_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)

# Where many files read the same large headers, a dozen of them are compiled as one, which takes a quarter of the time. Such
# files must not name alike what is only theirs: tests have a namespace each, named like the file.
function(duewheel_compile_together name)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
endfunction()

# duewheel_module(NAME SOURCES a.cc b.cc DEPS other modules and libraries [TOGETHER])
function(duewheel_module name)
  cmake_parse_arguments(arg "TOGETHER" "" "SOURCES;DEPS" ${ARGN})
  add_library(duewheel_${name} STATIC ${arg_SOURCES})
  target_link_libraries(duewheel_${name} PUBLIC duewheel_flags ${arg_DEPS})
  if(arg_TOGETHER AND NOT DUEWHEEL_FUZZ)
    duewheel_compile_together(duewheel_${name})
  endif()
endfunction()

# duewheel_test(NAME SOURCES a_test.cc DEPS libraries [TIMEOUT seconds] [TOGETHER]): one test program, run by ctest.
function(duewheel_test name)
  cmake_parse_arguments(arg "TOGETHER" "TIMEOUT" "SOURCES;DEPS" ${ARGN})
  if(NOT DUEWHEEL_TESTS)
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)  # under the sanitizers, on a slow machine
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE duewheel_flags ${arg_DEPS} GTest::gtest_main)
  if(arg_TOGETHER)
    duewheel_compile_together(${name})
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT})
endfunction()
