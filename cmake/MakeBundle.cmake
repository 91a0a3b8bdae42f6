# cmake -DBUILD=<build folder> -DNAME=<archive without .tar.gz> -DVULKAN_LOADER=<libvulkan.so> -P MakeBundle.cmake
#   NAME/bin/lockstep       finds its libraries in ../lib
#   NAME/bin/libvulkan.so.1 for a system that has a driver but no loader; the system's own comes first
#   NAME/lib/               every other library but glibc's, which has to fit the system's kernel and drivers
#   NAME/assets/, README.md, LICENSE
cmake_minimum_required(VERSION 3.25)

set(folder ${BUILD}/bundle/${NAME})
file(REMOVE_RECURSE ${BUILD}/bundle)
foreach(component IN ITEMS program bundle)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${folder} --component ${component} --strip
                  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endforeach()

set(glibc "^ld-linux.*" "^lib(c|m|dl|rt|pthread|resolv|util)\\.so\\.[0-9]+$")
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${folder}/bin/lockstep PRE_EXCLUDE_REGEXES ${glibc}
     RESOLVED_DEPENDENCIES_VAR libraries)
file(COPY ${libraries} DESTINATION ${folder}/lib FOLLOW_SYMLINK_CHAIN)
if(EXISTS ${VULKAN_LOADER})
  file(COPY_FILE ${VULKAN_LOADER} ${folder}/bin/libvulkan.so.1)
endif()

file(ARCHIVE_CREATE OUTPUT ${BUILD}/${NAME}.tar.gz PATHS ${folder} FORMAT gnutar COMPRESSION GZip
     WORKING_DIRECTORY ${BUILD}/bundle)
file(SIZE ${BUILD}/${NAME}.tar.gz bytes)
math(EXPR megabytes "${bytes} / 1000000")
message(STATUS "${BUILD}/${NAME}.tar.gz (${megabytes} MB)")
