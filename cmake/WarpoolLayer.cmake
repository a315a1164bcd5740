# SPDX-License-Identifier: Apache-2.0
# Warnings, sanitizers, the generated protocol header, and warpool_layer(): one static library per folder of src/.

# ---------------------------------------------------------------------------------------------------------------- warnings
add_library(warpool_warnings INTERFACE)
set(both_warnings -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wvla -Wcast-align)
set(cxx_warnings -Wnon-virtual-dtor -Wold-style-cast)
target_compile_options(warpool_warnings INTERFACE
  ${both_warnings}
  "$<$<COMPILE_LANGUAGE:CXX>:${cxx_warnings}>"
  $<$<BOOL:${WARPOOL_WERROR}>:-Werror>)
# -Wnull-dereference is left out: gcc 12 reports the unreachable null branches of std::unordered_map::find and of FlatBuffers.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # gcc's names of warnings appear in pragmas of shared code.
  target_compile_options(warpool_warnings INTERFACE -Wno-unknown-warning-option -Wno-unused-command-line-argument)
endif()

# -------------------------------------------------------------------------------------------------------------- sanitizers
if(WARPOOL_SANITIZER STREQUAL "address")
  set(sanitizer_flags -fsanitize=address,undefined -fno-sanitize-recover=all -fno-sanitize=vptr -fno-omit-frame-pointer)
  # gcc 12 sees accesses out of bounds in paths that the instrumentation itself added.
  add_compile_options(-Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-array-bounds)
elseif(WARPOOL_SANITIZER STREQUAL "thread")
  # Boost.Asio uses atomic_thread_fence, which gcc's thread sanitizer does not model: it warns at each use.
  set(sanitizer_flags -fsanitize=thread -fno-omit-frame-pointer)
  add_compile_options(-Wno-tsan -Wno-maybe-uninitialized)
elseif(WARPOOL_SANITIZER STREQUAL "fuzzer")
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "WARPOOL_SANITIZER=fuzzer needs clang, not ${CMAKE_CXX_COMPILER}; use the preset `fuzz`.")
  endif()
  set(sanitizer_flags -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-sanitize=vptr
                      -fno-omit-frame-pointer)
elseif(WARPOOL_SANITIZER)
  message(FATAL_ERROR "WARPOOL_SANITIZER is \"${WARPOOL_SANITIZER}\"; it may be empty, address, thread or fuzzer.")
endif()
if(WARPOOL_SANITIZER)
  add_compile_options(${sanitizer_flags})
  add_link_options(${sanitizer_flags})
endif()

# -------------------------------------------------------------------------------------------------------- protocol header
set(WARPOOL_GENERATED_DIR "${CMAKE_BINARY_DIR}/generated")
find_program(WARPOOL_FLATC flatc REQUIRED)
add_custom_command(
  OUTPUT "${WARPOOL_GENERATED_DIR}/wire/protocol_generated.h"
  COMMAND ${CMAKE_COMMAND} -E make_directory "${WARPOOL_GENERATED_DIR}/wire"
  COMMAND "${WARPOOL_FLATC}" --cpp --scoped-enums -o "${WARPOOL_GENERATED_DIR}/wire"
          "${CMAKE_SOURCE_DIR}/src/wire/protocol.fbs"
  DEPENDS "${CMAKE_SOURCE_DIR}/src/wire/protocol.fbs"
  COMMENT "Generating wire/protocol_generated.h"
  VERBATIM)
add_custom_target(warpool_protocol DEPENDS "${WARPOOL_GENERATED_DIR}/wire/protocol_generated.h")

# What every compilation of ours sees: src/, include/ and the generated header (as a system folder: its warnings are not ours).
add_library(warpool_includes INTERFACE)
target_include_directories(warpool_includes INTERFACE "${CMAKE_SOURCE_DIR}/src" "${CMAKE_SOURCE_DIR}/include")
target_include_directories(warpool_includes SYSTEM INTERFACE "${WARPOOL_GENERATED_DIR}")
add_dependencies(warpool_includes warpool_protocol)

# ------------------------------------------------------------------------------------------------------------ warpool_layer
# warpool_layer(NAME name SOURCES file... [DEPENDS layer...] [PUBLIC_LINK library...] [FREESTANDING])
#   The static library warpool_<name> from the sources of src/<name>. DEPENDS names layers of lower rank.
#   FREESTANDING: no exceptions, no RTTI, no guarded statics, so that libwarpool needs no C++ run-time library.
function(warpool_layer)
  cmake_parse_arguments(arg "FREESTANDING" "NAME" "SOURCES;DEPENDS;PUBLIC_LINK" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "warpool_layer(${arg_NAME}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(target warpool_${arg_NAME})
  add_library(${target} STATIC ${arg_SOURCES})
  target_link_libraries(${target} PUBLIC warpool_includes PRIVATE warpool_warnings)
  foreach(layer IN LISTS arg_DEPENDS)
    if(NOT TARGET warpool_${layer})
      message(FATAL_ERROR "warpool_layer(${arg_NAME}): it depends on \"${layer}\", which is not among the layers added before it.")
    endif()
    target_link_libraries(${target} PUBLIC warpool_${layer})
  endforeach()
  target_link_libraries(${target} PUBLIC ${arg_PUBLIC_LINK})
  if(arg_FREESTANDING)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions> $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>
      $<$<COMPILE_LANGUAGE:CXX>:-fno-threadsafe-statics>)
  endif()
endfunction()
