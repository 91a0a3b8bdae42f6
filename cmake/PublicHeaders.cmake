# The headers as others include them: <lockstep/run/trainer.h> for engine/run/trainer.h, so that no header of a host can be taken for
# one of these, nor the other way round. They are copies in which these paths differ, and what they declare is hidden in a host's
# shared object.
#   include(PublicHeaders) defines the target lockstep_headers, which writes them to LOCKSTEP_PUBLIC_HEADERS/lockstep;
#   cmake -DSOURCE=<source folder> -DOUTPUT=<folder>/lockstep -P PublicHeaders.cmake writes them.
if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB_RECURSE headers RELATIVE ${SOURCE} ${SOURCE}/engine/*.h ${SOURCE}/shaders/shared/*.h)
  list(FILTER headers EXCLUDE REGEX "spirv_rewriter") # needs headers that others need not have
  set(written ${OUTPUT}/version.h)
  foreach(header IN LISTS headers)
    string(REGEX REPLACE "^engine/(c_api/)?" "" place ${header})
    file(READ ${SOURCE}/${header} text)
    string(REGEX REPLACE "engine/([a-z_]+/[a-z_0-9]+[.]h)" "lockstep/\\1" text "${text}")
    string(REPLACE "#include \"shaders/" "#include \"lockstep/shaders/" text "${text}")
    foreach(ends IN ITEMS "\nnamespace lockstep|\n} // namespace lockstep" "\nSHARED_BEGIN|\nSHARED_END")
      string(REGEX REPLACE "[|].*" "" opens "${ends}")
      string(REGEX REPLACE ".*[|]" "" closes "${ends}")
      string(FIND "${text}" "${opens}" from)
      string(FIND "${text}" "${closes}" to REVERSE)
      if(from GREATER_EQUAL 0 AND to GREATER from)
        string(SUBSTRING "${text}" 0 ${from} head)
        math(EXPR between "${to} - ${from}")
        string(SUBSTRING "${text}" ${from} ${between} body)
        string(SUBSTRING "${text}" ${to} -1 tail)
        string(SUBSTRING "${tail}" 1 -1 tail) # to the end of the closing line
        string(FIND "${tail}" "\n" end)
        string(SUBSTRING "${tail}" 0 ${end} closing)
        string(SUBSTRING "${tail}" ${end} -1 tail)
        set(text "${head}\n#pragma GCC visibility push(hidden)${body}\n${closing}\n#pragma GCC visibility pop${tail}")
      endif()
    endforeach()
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
string(MD5 which "${headers}") # without one of them, too, they are written anew
add_custom_command(OUTPUT ${stamp} COMMENT "Writing the public headers"
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${LOCKSTEP_PUBLIC_HEADERS}/lockstep -DWHICH=${which} -P ${CMAKE_CURRENT_LIST_FILE}
  COMMAND ${CMAKE_COMMAND} -E touch ${stamp} DEPENDS ${headers} ${CMAKE_CURRENT_LIST_FILE} VERBATIM)
add_custom_target(lockstep_headers ALL DEPENDS ${stamp})
