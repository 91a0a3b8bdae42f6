# The runtime shader compiler as shaderc::shaderc: vcpkg's package, the Vulkan SDK's shared library, or Debian's and Ubuntu's
# static one, which has to be given what it is made of (their shared one is linked with none of it).
find_package(unofficial-shaderc CONFIG QUIET)
find_path(shaderc_INCLUDE_DIR shaderc/shaderc.hpp HINTS $ENV{VULKAN_SDK}/include)
find_library(shaderc_SHARED_LIBRARY shaderc_shared HINTS $ENV{VULKAN_SDK}/lib)
find_library(shaderc_COMBINED_LIBRARY shaderc_combined HINTS $ENV{VULKAN_SDK}/lib)
mark_as_advanced(shaderc_INCLUDE_DIR shaderc_SHARED_LIBRARY shaderc_COMBINED_LIBRARY)

if(TARGET unofficial::shaderc::shaderc)
  set(shaderc_libraries unofficial::shaderc::shaderc)
elseif(shaderc_SHARED_LIBRARY)
  set(shaderc_libraries ${shaderc_SHARED_LIBRARY})
elseif(shaderc_COMBINED_LIBRARY)
  set(shaderc_libraries ${shaderc_COMBINED_LIBRARY})
  # In the order of who uses whom; not every version of glslang has all of them.
  foreach(part IN ITEMS SPIRV glslang MachineIndependent GenericCodeGen OSDependent OGLCompiler SPIRV-Tools-opt SPIRV-Tools)
    find_library(shaderc_${part}_LIBRARY ${part} HINTS $ENV{VULKAN_SDK}/lib)
    mark_as_advanced(shaderc_${part}_LIBRARY)
    if(shaderc_${part}_LIBRARY)
      list(APPEND shaderc_libraries ${shaderc_${part}_LIBRARY})
    endif()
  endforeach()
  find_package(Threads REQUIRED)
  list(APPEND shaderc_libraries Threads::Threads)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(shaderc REQUIRED_VARS shaderc_libraries shaderc_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "packages libshaderc-dev, glslang-dev and spirv-tools on Debian and Ubuntu, port shaderc of vcpkg")

if(shaderc_FOUND AND NOT TARGET shaderc::shaderc)
  add_library(shaderc::shaderc INTERFACE IMPORTED)
  set_target_properties(shaderc::shaderc PROPERTIES INTERFACE_LINK_LIBRARIES "${shaderc_libraries}"
                        INTERFACE_INCLUDE_DIRECTORIES ${shaderc_INCLUDE_DIR})
endif()
