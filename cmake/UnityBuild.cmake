# Most of the time of a build goes into parsing the same headers again. The presets set CMAKE_UNITY_BUILD, which compiles
# several files as one; without it each file is compiled alone. Names in anonymous namespaces are unique within a folder.
set(lockstep_unity_files 8) # files in a batch: an edit of one recompiles all of them
if(CMAKE_BUILD_TYPE STREQUAL "Sanitizer") # made once, from nothing: what parsing costs counts, not what an edit does
  set(lockstep_unity_files 32)
endif()

# lockstep_unity_build(TARGET): forms batches within folders. A source with compile options of its own stays alone.
function(lockstep_unity_build target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  set(last "")
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    if(NOT folder STREQUAL last)
      set(last ${folder})
      set(number 0)
    endif()
    cmake_path(GET folder FILENAME group)
    math(EXPR batch "${number} / ${lockstep_unity_files}")
    math(EXPR number "${number} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group}_${batch})
  endforeach()
endfunction()
