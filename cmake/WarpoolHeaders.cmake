# SPDX-License-Identifier: Apache-2.0
# The target check_headers: each header of src/ and include/ compiled alone, so that none depends on what was included before it.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${CMAKE_SOURCE_DIR}" "${CMAKE_SOURCE_DIR}/src/*.h")
file(GLOB public_headers CONFIGURE_DEPENDS RELATIVE "${CMAKE_SOURCE_DIR}"
     "${CMAKE_SOURCE_DIR}/include/warpool/*.h" "${CMAKE_SOURCE_DIR}/include/warpool/*.hpp")

set(units "")
foreach(header IN LISTS headers public_headers)
  string(REGEX REPLACE "^(src|include)/" "" name "${header}")
  string(MAKE_C_IDENTIFIER "${name}" unit)
  set(file "${CMAKE_BINARY_DIR}/headers/${unit}.cc")
  # Twice, so that a missing include guard shows as well.
  file(CONFIGURE OUTPUT "${file}" CONTENT "#include \"${name}\"\n#include \"${name}\"\n")
  list(APPEND units "${file}")
  if(header MATCHES "^include/.*\\.h$")
    # The installed header is C; a C compiler reads it too.
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/headers/${unit}.c" CONTENT "#include \"${name}\"\n#include \"${name}\"\n")
    list(APPEND units "${CMAKE_BINARY_DIR}/headers/${unit}.c")
  endif()
endforeach()
if(units)
  add_library(check_headers OBJECT EXCLUDE_FROM_ALL ${units})
  target_link_libraries(check_headers PRIVATE warpool_includes warpool_warnings)
  target_compile_options(check_headers PRIVATE -O0 -g0)
endif()
