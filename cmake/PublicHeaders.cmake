# The headers as others include them: <lockstep/run/trainer.h> for engine/run/trainer.h, so that no header of a host can be taken for
# one of these, nor the other way round. They are copies in which nothing but these paths differs.
#   include(PublicHeaders) defines the target lockstep_headers, which writes them to LOCKSTEP_PUBLIC_HEADERS/lockstep;
#   cmake -DSOURCE=<source folder> -DOUTPUT=<folder>/lockstep -P PublicHeaders.cmake writes them.
if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB_RECURSE headers RELATIVE ${SOURCE} ${SOURCE}/engine/*.h ${SOURCE}/shaders/shared/*.h)
  set(written ${OUTPUT}/version.h)
  foreach(header IN LISTS headers)
    string(REGEX REPLACE "^engine/(c_api/)?" "" place ${header})
    file(READ ${SOURCE}/${header} text)
    string(REGEX REPLACE "engine/([a-z_]+/[a-z_0-9]+[.]h)" "lockstep/\\1" text "${text}")
    string(REPLACE "#include \"shaders/" "#include \"lockstep/shaders/" text "${text}")
    set(before "")
    if(EXISTS ${OUTPUT}/${place})
      file(READ ${OUTPUT}/${place} before)
    endif()
    if(NOT text STREQUAL before) # what includes it need not be compiled again
      file(WRITE ${OUTPUT}/${place} "${text}")
    endif()
    list(APPEND written ${OUTPUT}/${place})
  endforeach()
  file(GLOB_RECURSE present ${OUTPUT}/*.h)
  list(REMOVE_ITEM present ${written})
  if(present)
    file(REMOVE ${present})
  endif()
  return()
endif()

set(LOCKSTEP_PUBLIC_HEADERS ${PROJECT_BINARY_DIR}/include)
configure_file(${PROJECT_SOURCE_DIR}/cmake/version.h.in ${LOCKSTEP_PUBLIC_HEADERS}/lockstep/version.h @ONLY)
file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/engine/*.h ${PROJECT_SOURCE_DIR}/shaders/shared/*.h)
set(stamp ${PROJECT_BINARY_DIR}/public_headers.stamp)
add_custom_command(OUTPUT ${stamp} COMMENT "Writing the public headers"
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${LOCKSTEP_PUBLIC_HEADERS}/lockstep -P ${CMAKE_CURRENT_LIST_FILE}
  COMMAND ${CMAKE_COMMAND} -E touch ${stamp} DEPENDS ${headers} ${CMAKE_CURRENT_LIST_FILE} VERBATIM)
add_custom_target(lockstep_headers ALL DEPENDS ${stamp})
