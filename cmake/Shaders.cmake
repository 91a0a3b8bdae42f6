# How shaders become part of the program.

# Where the generated variants are written (cmake/ShaderVariants.cmake), and their paths.
set(lockstep_variants_folder ${CMAKE_CURRENT_BINARY_DIR}/shader_variants)
set_property(GLOBAL PROPERTY lockstep_shader_variants "")

function(lockstep_write_variant stem text)
  set(file ${lockstep_variants_folder}/${stem}.comp)
  file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY) # leaves a file with the same text as it is
  set_property(GLOBAL APPEND PROPERTY lockstep_shader_variants ${file})
endfunction()

# lockstep_dense_product(stem formula include...)
function(lockstep_dense_product stem formula)
  set_property(GLOBAL APPEND PROPERTY lockstep_dense_products ${stem})
  set_property(GLOBAL PROPERTY lockstep_formula_${stem} "${formula}")
  set_property(GLOBAL PROPERTY lockstep_includes_${stem} ${ARGN})
endfunction()

# lockstep_dense_rung(suffix idea [FOLDS] PRODUCT file [DEFINE word...] [EXTENSION name] [FIRST file]): <product>_<suffix>.comp for
# every product. FIRST is included before anything else.
function(lockstep_dense_rung suffix idea)
  cmake_parse_arguments(rung FOLDS "PRODUCT;EXTENSION;FIRST" DEFINE ${ARGN})
  get_property(products GLOBAL PROPERTY lockstep_dense_products)
  foreach(product IN LISTS products)
    if(product MATCHES "_update$" AND NOT rung_FOLDS)
      continue()
    endif()
    get_property(formula GLOBAL PROPERTY lockstep_formula_${product})
    get_property(includes GLOBAL PROPERTY lockstep_includes_${product})
    set(text "#version 450\n#extension GL_GOOGLE_include_directive : require\n#extension GL_EXT_control_flow_attributes : require\n")
    if(rung_EXTENSION)
      string(APPEND text "#extension ${rung_EXTENSION} : require\n")
    endif()
    string(APPEND text "\n// ${formula}\n// ${idea}\n")
    if(rung_FIRST)
      string(APPEND text "#include \"${rung_FIRST}\"\n")
    endif()
    foreach(word IN LISTS rung_DEFINE)
      string(APPEND text "#define ${word}\n")
    endforeach()
    foreach(include IN LISTS includes rung_PRODUCT)
      string(APPEND text "#include \"${include}\"\n")
    endforeach()
    lockstep_write_variant(${product}_${suffix} "${text}")
  endforeach()
endfunction()

# lockstep_shader_copy(stem FROM file REPLACE old new [old new...]): the text of shaders/<file> with other words.
function(lockstep_shader_copy stem from file)
  set(source ${PROJECT_SOURCE_DIR}/shaders/${file})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(READ ${source} text)
  set(at 4) # behind REPLACE; not as a list, which semicolons in the words would divide
  while(at LESS ARGC)
    math(EXPR next "${at} + 1")
    string(FIND "${text}" "${ARGV${at}}" found)
    if(found EQUAL -1)
      message(FATAL_ERROR "${source} no longer contains '${ARGV${at}}', which ${stem} replaces")
    endif()
    string(REPLACE "${ARGV${at}}" "${ARGV${next}}" text "${text}")
    math(EXPR at "${at} + 2")
  endwhile()
  lockstep_write_variant(${stem} "${text}")
endfunction()

include(${CMAKE_CURRENT_LIST_DIR}/ShaderVariants.cmake)

# lockstep_embed_shaders(TARGET file...): compiles each shader with glslc at build time (with a dependency file, so that
# a change of an included header recompiles it) and embeds the SPIR-V into a static library, found again by name through
# engine/step/shaders.h. LOCKSTEP_SHADERS_FROM is the build folder of another configuration: what that has compiled is taken.
set(LOCKSTEP_SHADERS_FROM "" CACHE PATH "Build folder whose compiled shaders are used; it has to be built first")
function(lockstep_embed_shaders target)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${target})
  file(MAKE_DIRECTORY ${out})
  set(compiled ${out})
  if(LOCKSTEP_SHADERS_FROM)
    set(compiled ${LOCKSTEP_SHADERS_FROM}/engine/${target})
  endif()
  # Shaders include each other by file name, wherever in shaders/ that is: the names are unique.
  file(GLOB folders LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/shaders/*)
  list(TRANSFORM folders PREPEND -I)
  set(words "")
  set(arrays "")
  set(entries "")
  foreach(shader IN LISTS ARGN)
    get_filename_component(stem ${shader} NAME_WE)
    if(NOT shader MATCHES "[.]comp$")
      get_filename_component(stage ${shader} LAST_EXT)
      string(REPLACE "." "_" stage ${stage})
      string(APPEND stem ${stage}) # ui.vert and ui.frag are ui_vert and ui_frag
    endif()
    set(inc ${compiled}/${stem}.inc)
    if(NOT LOCKSTEP_SHADERS_FROM)
      add_custom_command(
        OUTPUT ${inc}
        COMMAND Vulkan::glslc --target-env=vulkan1.2 -O -Werror -mfmt=c ${folders}
                -MD -MF ${inc}.d -MT ${inc} -o ${inc} ${shader}
        DEPENDS ${shader}
        DEPFILE ${inc}.d
        COMMENT "Compiling shader ${stem}"
        VERBATIM)
    endif()
    list(APPEND words ${inc})
    string(APPEND arrays "constexpr std::uint32_t ${stem}[] =\n#include \"${stem}.inc\"\n    ;\n")
    string(APPEND entries "    {\"${stem}\", ${stem}},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${out}/shaders.cpp @ONLY CONTENT
"// Generated by cmake/Shaders.cmake.
#include \"engine/step/shaders.h\"

namespace lockstep {

namespace {

@arrays@
struct Entry {
    std::string_view name;
    std::span<const std::uint32_t> words;
};

constexpr Entry entries[] = {
@entries@};

} // namespace

std::span<const std::uint32_t> shaderWords(std::string_view name) {
    for (const Entry& entry : entries)
        if (entry.name == name) return entry.words;
    return {};
}

} // namespace lockstep
")
  add_library(${target} STATIC ${out}/shaders.cpp ${words})
  set_source_files_properties(${out}/shaders.cpp PROPERTIES OBJECT_DEPENDS "${words}")
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${compiled})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()
