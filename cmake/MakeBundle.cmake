# cmake -DBUILD=<build folder> -DNAME=<archive without .tar.gz> -DVULKAN_LOADER=<libvulkan.so> -DFONTS=<files>
#       -DFONT_NOTICES=<their licences> "-DFASHION_MNIST=<folder>;<licence>" -P MakeBundle.cmake
#   NAME/bin/lockstep           starts libexec/lockstep (bundle_start.sh)
#   NAME/libexec/lockstep       the program; finds its libraries in ../lib
#   NAME/libexec/libvulkan.so.1 for a system that has a driver but no loader; the system's own comes first
#   NAME/lib/                   every other library but glibc's, which has to fit the system's kernel and drivers
#   NAME/lib/runtime/           those among them that drivers use as well
#   NAME/tests/bench/           gpu_report.sh and what it runs
#   NAME/assets/fonts/          the fonts of the window and their licences
#   NAME/assets/data/           Fashion-MNIST and its licence
#   NAME/assets/, README.md, LICENSE
cmake_minimum_required(VERSION 3.25)

set(folder ${BUILD}/bundle/${NAME})
file(REMOVE_RECURSE ${BUILD}/bundle)
foreach(component IN ITEMS program bundle)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${folder} --component ${component} --strip
                  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(MAKE_DIRECTORY ${folder}/libexec)
file(RENAME ${folder}/bin/lockstep ${folder}/libexec/lockstep)
file(COPY_FILE ${CMAKE_CURRENT_LIST_DIR}/bundle_start.sh ${folder}/bin/lockstep)
if(EXISTS ${VULKAN_LOADER})
  file(COPY_FILE ${VULKAN_LOADER} ${folder}/libexec/libvulkan.so.1)
endif()

set(glibc "^ld-linux.*" "^lib(c|m|dl|rt|pthread|resolv|util)\\.so\\.[0-9]+$")
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${folder}/libexec/lockstep PRE_EXCLUDE_REGEXES ${glibc}
     RESOLVED_DEPENDENCIES_VAR libraries)
file(MAKE_DIRECTORY ${folder}/lib/runtime)
foreach(library IN LISTS libraries)
  cmake_path(GET library FILENAME name)
  string(REGEX MATCH "^lib(stdc\\+\\+|gcc_s|z)\\.so" usedByDrivers ${name})
  if(usedByDrivers)
    string(PREPEND name runtime/)
  endif()
  file(COPY_FILE ${library} ${folder}/lib/${name})
endforeach()

foreach(font IN LISTS FONTS)
  file(COPY ${font} DESTINATION ${folder}/assets/fonts)
endforeach()
foreach(notice IN LISTS FONT_NOTICES)
  cmake_path(GET notice PARENT_PATH package)
  cmake_path(GET package FILENAME package)
  file(COPY_FILE ${notice} ${folder}/assets/fonts/${package}-licence.txt)
endforeach()

if(FASHION_MNIST)
  list(GET FASHION_MNIST 0 data)
  list(GET FASHION_MNIST 1 licence)
  file(COPY ${data}/ DESTINATION ${folder}/assets/data/fashion-mnist FILES_MATCHING PATTERN "*-ubyte.gz")
  file(COPY_FILE ${licence} ${folder}/assets/data/fashion-mnist/LICENCE.txt)
endif()

execute_process(COMMAND ${CMAKE_COMMAND} -E tar czf ${BUILD}/${NAME}.tar.gz --format=gnutar ${NAME}
                WORKING_DIRECTORY ${BUILD}/bundle COMMAND_ERROR_IS_FATAL ANY)
file(SIZE ${BUILD}/${NAME}.tar.gz bytes)
math(EXPR megabytes "${bytes} / 1000000")
message(STATUS "${BUILD}/${NAME}.tar.gz (${megabytes} MB)")
