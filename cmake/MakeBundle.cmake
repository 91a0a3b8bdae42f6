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
#   NAME/licences/              of every library inside, by Debian's packages; LIBRARIES.txt says which is whose
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

# notice(<package> <what is of it>): copies the package's licence, and the licences that it only names.
function(notice package what)
  set(texts ${folder}/licences)
  if(NOT EXISTS /usr/share/doc/${package}/copyright)
    message(WARNING "no licence of ${what}: /usr/share/doc/${package}/copyright is missing")
    return()
  endif()
  file(APPEND ${texts}/LIBRARIES.txt "${what} ${package}\n")
  file(COPY_FILE /usr/share/doc/${package}/copyright ${texts}/${package}.txt)
  file(READ ${texts}/${package}.txt text)
  string(REGEX MATCHALL "/usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]" named "${text}")
  foreach(licence IN LISTS named)
    if(EXISTS ${licence})
      cmake_path(GET licence FILENAME name)
      file(REAL_PATH ${licence} licence)
      file(COPY_FILE ${licence} ${texts}/common-${name}.txt)
    endif()
  endforeach()
endfunction()
file(MAKE_DIRECTORY ${folder}/licences)
find_program(DPKG_QUERY dpkg-query)
if(DPKG_QUERY)
  foreach(library IN LISTS libraries VULKAN_LOADER)
    if(NOT EXISTS ${library})
      continue()
    endif()
    cmake_path(GET library FILENAME name)
    string(REGEX REPLACE "\\.so$" ".so.1" name ${name}) # the loader's, as it is called inside
    file(REAL_PATH ${library} library)
    cmake_path(GET library FILENAME real)
    cmake_path(GET library PARENT_PATH of)
    cmake_path(GET of FILENAME of) # x86_64-linux-gnu, below /lib or /usr/lib
    execute_process(COMMAND ${DPKG_QUERY} -S */${of}/${real} OUTPUT_VARIABLE owner ERROR_QUIET)
    string(REGEX MATCH "^[a-z0-9.+-]+" package "${owner}")
    notice("${package}" ${name})
  endforeach()
  foreach(package IN ITEMS libimgui-dev libcli11-dev nlohmann-json3-dev libstb-dev libglm-dev # compiled in
                        libshaderc-dev glslang-dev spirv-tools)
    notice(${package} ${package})
  endforeach()
else()
  message(WARNING "no dpkg-query: the bundle has no licences of libraries")
endif()

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
