# cmake -DBUILD=<build folder> -DNAME=<archive without .tar.gz> -DVULKAN_LOADER=<libvulkan.so> -DFONTS=<files>
#       -DFASHION_MNIST=<folder> -P MakeBundle.cmake
#   NAME/bin/lockstep               starts libexec/lockstep (bundle_start.sh)
#   NAME/libexec/lockstep           the program; finds its libraries in ../lib
#   NAME/libexec/libvulkan.so.1     for a system that has a driver but no loader; the system's own comes first
#   NAME/lib/                       every other library but glibc's, which has to fit the system's kernel and drivers
#   NAME/lib/lockstep/              lockstep_mpi.so, which is loaded where the system has Open MPI
#   NAME/lib/runtime/               those among them that drivers use as well
#   NAME/share/                     what `cmake --install` puts there, too
#   NAME/share/lockstep/fonts/      the fonts of the window
#   NAME/share/lockstep/data/       Fashion-MNIST
#   NAME/share/lockstep/licences/   of everything inside, by Debian's packages; LIBRARIES.txt says which is whose
#   NAME/tests/bench/               gpu_report.sh and what it runs
#   NAME/README.md, CHANGELOG.md, LICENSE and the README's pictures
# With SOURCE_DATE_EPOCH in the environment, equal files give an equal archive.
cmake_minimum_required(VERSION 3.25)

set(folder ${BUILD}/bundle/${NAME})
set(assets ${folder}/share/lockstep)
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

# notice(<package> <what is of it>): copies the package's licence, and the licences that it only names. The package has to be in
# libraries.json, which *Help, About* shows.
set(texts ${assets}/licences)
file(READ ${texts}/libraries.json listed)
string(JSON rows LENGTH "${listed}")
math(EXPR last "${rows} - 1")
function(notice package what)
  foreach(row RANGE ${last})
    string(JSON name GET "${listed}" ${row} name)
    string(JSON packages GET "${listed}" ${row} packages)
    if("${package}" MATCHES "^(${packages})$")
      set(found ${name})
    endif()
  endforeach()
  if(NOT found)
    message(FATAL_ERROR "${what} is of the package '${package}': add it to assets/licences/libraries.json")
  endif()
  if(NOT EXISTS /usr/share/doc/${package}/copyright)
    message(FATAL_ERROR "no licence of ${what}: /usr/share/doc/${package}/copyright is missing")
  endif()
  execute_process(COMMAND ${DPKG_QUERY} -W -f=\${Version} ${package} OUTPUT_VARIABLE version COMMAND_ERROR_IS_FATAL ANY)
  file(APPEND ${texts}/LIBRARIES.txt "${what} ${package} ${version}\n")
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
find_program(DPKG_QUERY dpkg-query)
if(DPKG_QUERY)
  foreach(library IN LISTS libraries ITEMS ${VULKAN_LOADER})
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
  if(EXISTS ${folder}/lib/lockstep/lockstep_mpi.so) # made with MPI's headers; MPI itself is the system's
    notice(libopenmpi-dev lockstep_mpi.so)
  endif()
  foreach(row RANGE ${last}) # compiled in, and what is no library
    string(JSON packages GET "${listed}" ${row} packages)
    string(JSON shared ERROR_VARIABLE usual GET "${listed}" ${row} shared)
    if(NOT usual AND NOT shared)
      notice(${packages} ${packages})
    endif()
  endforeach()
else()
  message(WARNING "no dpkg-query: the bundle has no licences of libraries")
endif()

foreach(font IN LISTS FONTS)
  file(COPY ${font} DESTINATION ${assets}/fonts)
endforeach()
if(FASHION_MNIST)
  file(COPY ${FASHION_MNIST}/ DESTINATION ${assets}/data/fashion-mnist FILES_MATCHING PATTERN "*-ubyte.gz")
endif()

set(date "")
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  set(date --mtime=@$ENV{SOURCE_DATE_EPOCH})
endif()
execute_process(COMMAND tar --create --format=gnu --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX ${date} ${NAME}
                COMMAND gzip --no-name --best OUTPUT_FILE ${BUILD}/${NAME}.tar.gz
                WORKING_DIRECTORY ${BUILD}/bundle COMMAND_ERROR_IS_FATAL ANY)
file(SIZE ${BUILD}/${NAME}.tar.gz bytes)
math(EXPR megabytes "${bytes} / 1000000")
message(STATUS "${BUILD}/${NAME}.tar.gz (${megabytes} MB)")
