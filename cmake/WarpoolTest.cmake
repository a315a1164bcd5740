# SPDX-License-Identifier: Apache-2.0
# How tests are registered. Every registered test has a time limit and at least one label, and writes its cases as JUnit XML to
# <build>/test-results/<name>.xml, so that tools/test_summary counts cases and not programs.

set(WARPOOL_TEST_RESULTS "${CMAKE_BINARY_DIR}/test-results")
file(MAKE_DIRECTORY "${WARPOOL_TEST_RESULTS}")

# What a test needs to find the programs of this build, and to stay away from brokers that run already.
set(WARPOOL_TEST_ENVIRONMENT
    "WARPOOL_BUILD_DIR=${CMAKE_BINARY_DIR}"
    "WARPOOL_SOURCE_DIR=${CMAKE_SOURCE_DIR}"
    "WARPOOL_BROKER=${CMAKE_BINARY_DIR}/bin/warpoold"
    "PYTHONPATH=${CMAKE_BINARY_DIR}/python"
    "ASAN_OPTIONS=detect_leaks=1:abort_on_error=0"
    "UBSAN_OPTIONS=print_stacktrace=1"
    "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1")

# warpool_register_test(NAME name LABELS label... COMMAND command... [TIMEOUT seconds] [ENVIRONMENT name=value...] [SERIAL])
#   A test that is any command. SERIAL: nothing else runs beside it.
function(warpool_register_test)
  cmake_parse_arguments(arg "SERIAL" "NAME;TIMEOUT" "LABELS;COMMAND;ENVIRONMENT" ${ARGN})
  if(NOT arg_LABELS OR NOT arg_COMMAND)
    message(FATAL_ERROR "warpool_register_test(${arg_NAME}): LABELS and COMMAND are needed.")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(WARPOOL_SANITIZER)
    math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 3")
  endif()
  add_test(NAME ${arg_NAME} COMMAND ${arg_COMMAND})
  set_tests_properties(${arg_NAME} PROPERTIES
    LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} RUN_SERIAL "${arg_SERIAL}"
    ENVIRONMENT "${WARPOOL_TEST_ENVIRONMENT};GTEST_OUTPUT=xml:${WARPOOL_TEST_RESULTS}/${arg_NAME}.xml;${arg_ENVIRONMENT}")
endfunction()

# warpool_test(NAME name SOURCES file... LINK library... LABELS label... [TIMEOUT seconds] [ENVIRONMENT name=value...] [SERIAL])
#   A GoogleTest program; RapidCheck is at hand. Layers are named as warpool_<name>.
function(warpool_test)
  if(NOT WARPOOL_TESTS OR WARPOOL_SANITIZER STREQUAL "fuzzer")
    return()
  endif()
  cmake_parse_arguments(arg "SERIAL" "NAME;TIMEOUT" "SOURCES;LINK;LABELS;ENVIRONMENT" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "warpool_test(${arg_NAME}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  add_executable(${arg_NAME} ${arg_SOURCES})
  set_target_properties(${arg_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests" WARPOOL_IS_TEST ON)
  target_link_libraries(${arg_NAME} PRIVATE
    warpool_includes warpool_warnings ${arg_LINK} GTest::gtest GTest::gtest_main rapidcheck Threads::Threads)
  if(arg_SERIAL)
    set(serial SERIAL)
  endif()
  warpool_register_test(NAME ${arg_NAME} LABELS ${arg_LABELS} TIMEOUT ${arg_TIMEOUT} COMMAND ${arg_NAME}
                        ENVIRONMENT ${arg_ENVIRONMENT} ${serial})
endfunction()

# warpool_pytest(NAME name PATHS file-or-folder... LABELS label... [TIMEOUT seconds] [ENVIRONMENT name=value...] [SERIAL])
#   Python tests, run by the project's Python against the package of this build. Not in sanitizer builds.
function(warpool_pytest)
  if(NOT WARPOOL_TESTS OR WARPOOL_SANITIZER)
    return()
  endif()
  cmake_parse_arguments(arg "SERIAL" "NAME;TIMEOUT" "PATHS;LABELS;ENVIRONMENT" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "warpool_pytest(${arg_NAME}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(paths "")
  foreach(path IN LISTS arg_PATHS)
    cmake_path(ABSOLUTE_PATH path)
    list(APPEND paths "${path}")
  endforeach()
  if(arg_SERIAL)
    set(serial SERIAL)
  endif()
  warpool_register_test(NAME ${arg_NAME} LABELS ${arg_LABELS} TIMEOUT ${arg_TIMEOUT}
    COMMAND "${WARPOOL_PYTHON}" -m pytest -q -p no:cacheprovider "--junitxml=${WARPOOL_TEST_RESULTS}/${arg_NAME}.xml" ${paths}
    ENVIRONMENT ${arg_ENVIRONMENT} ${serial})
endfunction()

# warpool_fuzz(NAME name SOURCES file... LINK library... CORPUS folder)
#   A libFuzzer target, built in the preset `fuzz` only, run for WARPOOL_FUZZ_SECONDS (an environment variable, 20 if not set).
if(NOT TARGET fuzz_targets)
  add_custom_target(fuzz_targets)
endif()
function(warpool_fuzz)
  if(NOT WARPOOL_TESTS OR NOT WARPOOL_SANITIZER STREQUAL "fuzzer")
    return()
  endif()
  cmake_parse_arguments(arg "" "NAME;CORPUS" "SOURCES;LINK" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "warpool_fuzz(${arg_NAME}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  cmake_path(ABSOLUTE_PATH arg_CORPUS)
  add_executable(${arg_NAME} ${arg_SOURCES})
  set_target_properties(${arg_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/fuzz")
  target_link_libraries(${arg_NAME} PRIVATE warpool_includes warpool_warnings ${arg_LINK} Threads::Threads)
  target_link_options(${arg_NAME} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzz_targets ${arg_NAME})
  # A generous limit: WARPOOL_FUZZ_SECONDS decides how long a target runs, and `make fuzz` runs them for long.
  warpool_register_test(NAME ${arg_NAME} LABELS fuzz TIMEOUT 28800
    COMMAND "${CMAKE_SOURCE_DIR}/tools/run_fuzz" "$<TARGET_FILE:${arg_NAME}>" "${arg_CORPUS}" "${CMAKE_BINARY_DIR}/fuzz/found/${arg_NAME}")
endfunction()
