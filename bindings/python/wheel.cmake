# SPDX-License-Identifier: Apache-2.0
# What a wheel carries beside the Python files: the module, the library, and the programs, where libwarpool looks for the broker.
add_custom_target(warpool_wheel DEPENDS warpool_python warpool)
install(TARGETS warpool_python LIBRARY DESTINATION warpool COMPONENT python)
# Under the name that programs load: a wheel cannot hold the links of a development package.
install(FILES "$<TARGET_FILE:warpool>" DESTINATION warpool/lib COMPONENT python RENAME libwarpool.so.0)
foreach(program warpoold warpool_keeper warpool_cli)
  add_dependencies(warpool_wheel ${program})
  install(TARGETS ${program} RUNTIME DESTINATION warpool/bin COMPONENT python)
endforeach()
