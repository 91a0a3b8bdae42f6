# cmake -DBUILD=<build folder> -DNAME=<archive without .tar.gz> -P bundle_test.cmake
# Packs the bundle, unpacks it elsewhere, and runs it there with an empty environment.
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} --target bundle OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND mktemp -d OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
file(ARCHIVE_EXTRACT INPUT ${BUILD}/${NAME}.tar.gz DESTINATION ${folder})
set(bundle ${folder}/${NAME})

# Every library that the program needs is the bundle's own or glibc's.
execute_process(COMMAND env LD_LIBRARY_PATH=${bundle}/lib/runtime ldd ${bundle}/libexec/lockstep
                OUTPUT_VARIABLE libraries COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]*=> [^\n]*" lines "${libraries}")
foreach(line IN LISTS lines)
  if(NOT line MATCHES "=> [^ ]*/${NAME}/" AND NOT line MATCHES "lib(c|m|dl|rt|pthread)\\.so")
    message(FATAL_ERROR "not in the bundle: ${line}")
  endif()
endforeach()

# Each of them has its licence inside.
find_program(DPKG_QUERY dpkg-query)
if(DPKG_QUERY)
  file(STRINGS ${bundle}/licences/LIBRARIES.txt rows)
  file(GLOB libraries RELATIVE ${bundle} ${bundle}/lib/*.so* ${bundle}/lib/runtime/*.so* ${bundle}/libexec/*.so*)
  foreach(library IN LISTS libraries ITEMS libimgui-dev)
    cmake_path(GET library FILENAME name)
    string(REPLACE "+" "\\+" pattern ${name})
    set(row ${rows})
    list(FILTER row INCLUDE REGEX "^${pattern} ")
    string(REGEX REPLACE ".* " "" package "${row}")
    if(row STREQUAL "" OR NOT EXISTS ${bundle}/licences/${package}.txt)
      message(FATAL_ERROR "no licence in the bundle: ${library}")
    endif()
  endforeach()
endif()

# run(EXPECTED COMMAND...): runs it without any environment, and looks for a text in what it prints.
function(run expected)
  list(JOIN ARGN " " command)
  execute_process(COMMAND env -i ${ARGN} WORKING_DIRECTORY / OUTPUT_VARIABLE output ERROR_VARIABLE output
                  RESULT_VARIABLE code)
  message(STATUS "${command}\n${output}")
  if(NOT code EQUAL 0 OR NOT output MATCHES "${expected}")
    message(FATAL_ERROR "${command}: exit code ${code}; expected 0, and the text '${expected}'")
  endif()
endfunction()
run("lockstep [0-9.]+" ${bundle}/bin/lockstep --version)
run("Vulkan" ${bundle}/bin/lockstep devices)
run("Vulkan" LD_LIBRARY_PATH=${bundle}/lib/runtime ${bundle}/libexec/lockstep devices)
run("cpu:best +100 %" ${bundle}/bin/lockstep race --data circle --layers 8 --lane cpu:best --epochs 2)
run("gpu:best +100 %" ${bundle}/bin/lockstep race --data circle --layers 8 --lane gpu:best --epochs 2)

# Fashion-MNIST comes with the bundle and is found there first: a machine without the data set's package can race, and a file
# damaged in the bundle is noticed even where the package is installed.
set(race ${bundle}/bin/lockstep race --lane cpu:best --steps 20)
run("cpu:best [^\n]* 20 +[0-9]" ${race})
find_program(UNSHARE unshare)
set(hide "mount -t tmpfs none /usr/share/datasets && exec env -i \"$@\"")
if(UNSHARE AND EXISTS /usr/share/datasets)
  execute_process(COMMAND ${UNSHARE} -rm sh -c "${hide}" sh true RESULT_VARIABLE refused OUTPUT_QUIET ERROR_QUIET)
  if(refused)
    message(STATUS "no rights to hide /usr/share/datasets: not raced without it")
  else()
    run("cpu:best [^\n]* 20 +[0-9]" ${UNSHARE} -rm sh -c "${hide}" sh ${race})
  endif()
endif()
run("checks of results passed" ${bundle}/tests/bench/gpu_report.sh --quick)

file(WRITE ${bundle}/assets/data/fashion-mnist/t10k-labels-idx1-ubyte.gz "damaged")
execute_process(COMMAND env -i ${race} WORKING_DIRECTORY / RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT code EQUAL 1 OR NOT output MATCHES "${NAME}/assets/data/fashion-mnist/t10k-labels")
  message(FATAL_ERROR "a damaged file of the bundle: exit code ${code}; expected 1, and the file's name in:\n${output}")
endif()
file(REMOVE_RECURSE ${folder})
