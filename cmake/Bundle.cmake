# The target `bundle`: one archive that runs on any x86-64 Linux with glibc 2.36 and a Vulkan driver.
set(lockstep_bundle_name lockstep-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
# The window's letters, free to be passed on (SIL Open Font License, Bitstream Vera's licence), where they are installed.
set(lockstep_fonts "")
foreach(name IN ITEMS opentype/inter/Inter-Regular.otf opentype/inter/Inter-SemiBold.otf
                      truetype/dejavu/DejaVuSans.ttf truetype/dejavu/DejaVuSansMono.ttf)
  if(EXISTS /usr/share/fonts/${name})
    list(APPEND lockstep_fonts /usr/share/fonts/${name})
  endif()
endforeach()
foreach(package IN ITEMS fonts-inter fonts-dejavu-core)
  if(EXISTS /usr/share/doc/${package}/copyright)
    list(APPEND lockstep_font_notices /usr/share/doc/${package}/copyright)
  endif()
endforeach()
add_custom_target(bundle
  COMMAND ${CMAKE_COMMAND} -DBUILD=${CMAKE_BINARY_DIR} -DNAME=${lockstep_bundle_name}
          -DVULKAN_LOADER=${Vulkan_LIBRARY} "-DFONTS=${lockstep_fonts}" "-DFONT_NOTICES=${lockstep_font_notices}" -P ${PROJECT_SOURCE_DIR}/cmake/MakeBundle.cmake
  DEPENDS lockstep
  COMMENT "Packing ${lockstep_bundle_name}.tar.gz"
  VERBATIM)
