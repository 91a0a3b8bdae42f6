# cmake -DBUILD=<build folder> -DSOURCE=<source folder> -P install_test.cmake
# Installs into a temporary folder, builds the programs of demos/embed against that package alone, and runs them. The README shows
# the first one.
cmake_minimum_required(VERSION 3.25)

file(READ ${SOURCE}/README.md readme)
file(READ ${SOURCE}/demos/embed/two_machines.cpp sample)
string(FIND "${readme}" "```cpp\n${sample}```" place)
if(place EQUAL -1)
  message(FATAL_ERROR "README.md does not show demos/embed/two_machines.cpp, or not as it is; copy it there")
endif()

set(folder ${BUILD}/install_test)
file(REMOVE_RECURSE ${folder})
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${folder}/prefix --component library)
run(${CMAKE_COMMAND} -S ${SOURCE}/demos/embed -B ${folder}/build -G Ninja -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_PREFIX_PATH=${folder}/prefix)
run(${CMAKE_COMMAND} --build ${folder}/build)
# learns(EXPECTED PROGRAM ARGUMENT...): runs it, and looks for what it should have come to.
function(learns expected)
  list(POP_FRONT ARGN program)
  execute_process(COMMAND ${folder}/build/${program} ${ARGN} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  message(STATUS "${program} ${ARGN} says:\n${output}")
  if(NOT output MATCHES "${expected}")
    message(FATAL_ERROR "${program} ${ARGN}: expected '${expected}'")
  endif()
endfunction()
set(most "(9[0-9]|100)\\.[0-9] %")
learns("cpu:best on .*accuracy ${most}.*gpu:best on .*accuracy ${most}" two_machines)
learns("best at [0-9]+ with a test loss of 0\\.00" own_data)
learns("300 frames, 300 copies of the weights, .*test accuracy ${most}" frame_loop cpu:best)
learns("300 frames, 300 copies of the weights, [0-9]*[0-9][0-9][0-9] steps" frame_loop gpu:best) # one step a frame at least
foreach(lane IN ITEMS cpu:best gpu:best)
  learns("step 1000: ${most}.*step 1250: ([0-8][0-9]|9[0-6]).*step 2000: ${most}" online ${lane})
endforeach()
file(REMOVE_RECURSE ${folder})
