# How a module, its tests and their flags are declared. Every source file is named in its folder's CMakeLists.txt.

add_library(duewheel_flags INTERFACE)
target_compile_options(duewheel_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast
  -Wno-missing-field-initializers)
if(DUEWHEEL_WERROR)
  target_compile_options(duewheel_flags INTERFACE -Werror)
endif()
target_include_directories(duewheel_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)

# duewheel_module(NAME SOURCES a.cc b.cc DEPS other modules and libraries)
function(duewheel_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_library(duewheel_${name} STATIC ${arg_SOURCES})
  target_link_libraries(duewheel_${name} PUBLIC duewheel_flags ${arg_DEPS})
endfunction()

# duewheel_test(NAME SOURCES a_test.cc DEPS libraries [TIMEOUT seconds]): one test program, run by ctest.
function(duewheel_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;DEPS" ${ARGN})
  if(NOT DUEWHEEL_TESTS)
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE duewheel_flags ${arg_DEPS} GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT})
endfunction()
