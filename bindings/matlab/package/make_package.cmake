# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=<bindings/matlab> -DINCLUDE=<include> -DLICENSE=<LICENSE> -DHELP=<help_texts.h> -DVERSION=x -DOUTPUT=<tar.gz>
#   -P make_package.cmake: the source package for Octave's `pkg install`.
cmake_path(GET OUTPUT PARENT_PATH work)
set(top "${work}/package/warpool-${VERSION}")
file(REMOVE_RECURSE "${top}")
file(MAKE_DIRECTORY "${top}/src/oct" "${top}/src/common" "${top}/inst/packages")
set(WARPOOL_VERSION "${VERSION}")
configure_file("${SOURCE}/package/DESCRIPTION.in" "${top}/DESCRIPTION" @ONLY)
file(COPY "${SOURCE}/package/INDEX" "${SOURCE}/package/PKG_ADD" "${SOURCE}/package/PKG_DEL" DESTINATION "${top}")
configure_file("${LICENSE}" "${top}/COPYING" COPYONLY)
file(COPY "${SOURCE}/+warpool" DESTINATION "${top}/inst/packages")
file(COPY "${SOURCE}/package/Makefile" "${SOURCE}/common" "${SOURCE}/oct" DESTINATION "${top}/src")
file(COPY "${HELP}" DESTINATION "${top}/src/oct")
file(COPY "${INCLUDE}/warpool/warpool.h" DESTINATION "${top}/src/include/warpool")
execute_process(COMMAND ${CMAKE_COMMAND} -E tar czf "${OUTPUT}" "warpool-${VERSION}" WORKING_DIRECTORY "${work}/package"
                COMMAND_ERROR_IS_FATAL ANY)
