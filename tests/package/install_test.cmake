# cmake -DBUILD=<build folder> -DSOURCE=<source folder> -P install_test.cmake
# Installs into a temporary folder, builds the README's sample against that package alone, and runs it.
cmake_minimum_required(VERSION 3.25)

file(READ ${SOURCE}/README.md readme)
file(READ ${SOURCE}/tests/package/sample.cpp sample)
string(FIND "${readme}" "```cpp\n${sample}```" place)
if(place EQUAL -1)
  message(FATAL_ERROR "README.md does not show tests/package/sample.cpp, or not as it is; copy it there")
endif()

set(folder ${BUILD}/install_test)
file(REMOVE_RECURSE ${folder})
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${folder}/prefix --component library)
run(${CMAKE_COMMAND} -S ${SOURCE}/tests/package -B ${folder}/build -G Ninja -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_PREFIX_PATH=${folder}/prefix)
run(${CMAKE_COMMAND} --build ${folder}/build)
execute_process(COMMAND ${folder}/build/sample OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
message(STATUS "The sample says:\n${output}")
if(NOT output MATCHES "cpu:best on .*accuracy (9[0-9]|100)\\." OR NOT output MATCHES "gpu:best on .*accuracy (9[0-9]|100)\\.")
  message(FATAL_ERROR "both machines should have learned the spiral (accuracy of at least 90 %)")
endif()
file(REMOVE_RECURSE ${folder})
