# SPDX-License-Identifier: Apache-2.0
# What `make install` puts where, beside the programs and libraries, which their own folders install. Everything finds its neighbours
# by relative paths, so that a tree can be moved and PREFIX may be given at install time.
include(CMakePackageConfigHelpers)

install(DIRECTORY "${CMAKE_SOURCE_DIR}/include/warpool" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h*")
install(FILES "${CMAKE_SOURCE_DIR}/LICENSE" "${CMAKE_SOURCE_DIR}/README.md" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/warpool")

# ------------------------------------------------------------------------------------------------- for C and C++ programs
configure_file("${CMAKE_SOURCE_DIR}/cmake/warpool.pc.in" "${CMAKE_BINARY_DIR}/warpool.pc" @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/warpool.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
set(cmake_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/warpool")
configure_package_config_file("${CMAKE_SOURCE_DIR}/cmake/warpool-config.cmake.in" "${CMAKE_BINARY_DIR}/warpool-config.cmake"
  INSTALL_DESTINATION "${cmake_package_dir}" PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/warpool-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/warpool-config.cmake" "${CMAKE_BINARY_DIR}/warpool-config-version.cmake"
        DESTINATION "${cmake_package_dir}")

# ------------------------------------------------------------------------------------------------------ for the command line
if(TARGET warpool_cli AND NOT WARPOOL_SANITIZER)
  install(TARGETS warpool_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  set(completions "${CMAKE_BINARY_DIR}/completions")
  set(completion_files "")
  foreach(shell bash zsh fish)
    add_custom_command(OUTPUT "${completions}/${shell}"
      COMMAND "${CMAKE_COMMAND}" -E make_directory "${completions}"
      COMMAND warpool_cli completion ${shell} > "${completions}/${shell}"
      DEPENDS warpool_cli VERBATIM)
    list(APPEND completion_files "${completions}/${shell}")
  endforeach()
  add_custom_target(warpool_completions ALL DEPENDS ${completion_files})
  add_dependencies(programs warpool_completions)
  install(FILES "${completions}/bash" RENAME warpool DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  install(FILES "${completions}/zsh" RENAME _warpool DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
  install(FILES "${completions}/fish" RENAME warpool.fish DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
endif()

# ------------------------------------------------------------------------------------------------------------- Python package
# Debian's Python reads /usr/local/lib/pythonX.Y/dist-packages; below any other prefix, such as $HOME/.local, it is site-packages.
# A wheel (SKBUILD) brings its own rules.
if(TARGET warpool_python AND NOT SKBUILD)
  get_directory_property(python_major DIRECTORY bindings/python DEFINITION Python_VERSION_MAJOR)
  get_directory_property(python_minor DIRECTORY bindings/python DEFINITION Python_VERSION_MINOR)
  install(CODE "
    set(warpool_python_dir \"lib/python${python_major}.${python_minor}/site-packages/warpool\")
    if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr/local\" AND EXISTS /etc/debian_version)
      string(REPLACE site-packages dist-packages warpool_python_dir \"\${warpool_python_dir}\")
    endif()")
  # From lib/pythonX.Y/*-packages/warpool to lib.
  set_property(TARGET warpool_python APPEND PROPERTY INSTALL_RPATH "\$ORIGIN/../../..")
  install(TARGETS warpool_python LIBRARY DESTINATION "\${warpool_python_dir}")
  install(DIRECTORY "${CMAKE_SOURCE_DIR}/bindings/python/warpool/" DESTINATION "\${warpool_python_dir}"
          FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
endif()

# ------------------------------------------------------------------------------------------------- package for Octave and MATLAB
if(TARGET warpool_oct)
  set(octave_dir "${CMAKE_INSTALL_LIBDIR}/warpool/octave")
  install(TARGETS warpool_oct LIBRARY DESTINATION "${octave_dir}/oct")
  install(TARGETS warpool_mex LIBRARY DESTINATION "${octave_dir}/mex")
  install(DIRECTORY "${CMAKE_SOURCE_DIR}/bindings/matlab/+warpool" DESTINATION "${octave_dir}/packages" FILES_MATCHING PATTERN "*.m")
  install(FILES "${CMAKE_SOURCE_DIR}/bindings/matlab/octave/PKG_ADD" "${CMAKE_SOURCE_DIR}/bindings/matlab/octave/PKG_DEL"
          DESTINATION "${octave_dir}")
endif()
