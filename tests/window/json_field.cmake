# Prints a field of a JSON file: cmake -DFILE=state.json -DFIELD="exhibits;race;data" -P json_field.cmake
file(READ "${FILE}" text)
string(JSON value GET "${text}" ${FIELD})
execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${value}")
