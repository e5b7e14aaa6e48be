# Declares modules, their tests and their flags. Every source file is named in its folder's CMakeLists.txt.

add_library(duewheel_flags INTERFACE)
target_compile_options(duewheel_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast
  -Wno-missing-field-initializers)
if(DUEWHEEL_WERROR)
  target_compile_options(duewheel_flags INTERFACE -Werror)
endif()
target_include_directories(duewheel_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)

# Sources of one target read the same large headers, so a dozen or two are compiled as one file, which takes a quarter of the
# time. Local names in these files must differ: tests have a namespace each, named like the file.
set(DUEWHEEL_FILES_TOGETHER 12 CACHE STRING "How many source files are compiled as one")
function(duewheel_compile_together name)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${DUEWHEEL_FILES_TOGETHER})
  # The compiler collects garbage from 128 MiB on, and spends a tenth of its time on that.
  target_compile_options(${name} PRIVATE "$<$<CXX_COMPILER_ID:GNU>:SHELL:--param ggc-min-heapsize=600000>")
  # A class in a .cc file may have members of local types; the compiler treats the file that includes it as a user.
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# Code that runs once, or at a person's request, is compiled in four fifths of the time without the costly passes of -O2.
function(duewheel_compile_quickly name)
  target_compile_options(${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
endfunction()

# duewheel_module(NAME SOURCES a.cc b.cc DEPS other modules and libraries)
function(duewheel_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_library(duewheel_${name} STATIC ${arg_SOURCES})
  target_link_libraries(duewheel_${name} PUBLIC duewheel_flags ${arg_DEPS})
  duewheel_compile_together(duewheel_${name})
endfunction()

# duewheel_add_test(NAME STAGE test|full COMMAND ... [COST seconds] [TIMEOUT seconds] [ENVIRONMENT a=b ...]): a test run by
# ctest. Stage `test` is what `./dev test` runs and must stay within minutes; `full` is what `./dev test full` adds. Tests with
# a COST start first, the longest before the others, so that none of them runs alone at the end.
function(duewheel_add_test name)
  cmake_parse_arguments(arg "" "STAGE;COST;TIMEOUT" "COMMAND;ENVIRONMENT" ${ARGN})
  if(NOT arg_STAGE MATCHES "^(test|full)$")
    message(FATAL_ERROR "test ${name} needs STAGE test or STAGE full: which command runs it, ./dev test or ./dev test full")
  endif()
  if(NOT arg_COST)
    set(arg_COST 1)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)  # under the sanitizers, on a slow machine
  endif()
  # CTest takes two tests of one name in two folders, and `ctest -R` then runs both.
  get_property(names GLOBAL PROPERTY duewheel_test_names)
  if(name IN_LIST names)
    message(FATAL_ERROR "There is already a test ${name}. Give this one another name.")
  endif()
  set_property(GLOBAL APPEND PROPERTY duewheel_test_names ${name})
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS ${arg_STAGE} COST ${arg_COST} TIMEOUT ${arg_TIMEOUT}
    ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()

# duewheel_test(NAME STAGE test|full SOURCES a_test.cc DEPS libraries [COST seconds] [TIMEOUT seconds]): one test program of
# GoogleTest.
function(duewheel_test name)
  cmake_parse_arguments(arg "" "STAGE;COST;TIMEOUT" "SOURCES;DEPS" ${ARGN})
  if(NOT DUEWHEEL_TESTS)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE duewheel_flags ${arg_DEPS} GTest::gtest_main)
  duewheel_compile_together(${name})
  duewheel_add_test(${name} STAGE ${arg_STAGE} COST ${arg_COST} TIMEOUT ${arg_TIMEOUT} COMMAND ${name})
endfunction()
