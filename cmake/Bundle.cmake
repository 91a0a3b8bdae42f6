# The target `bundle`: one archive that runs on any x86-64 Linux with glibc 2.36 and a Vulkan driver.
set(lockstep_bundle_name lockstep-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
# The fonts of the window, where they are installed; their licences (SIL Open Font License, Bitstream Vera) allow this.
set(lockstep_fonts "")
foreach(name IN ITEMS opentype/inter/Inter-Regular.otf opentype/inter/Inter-SemiBold.otf
                      truetype/dejavu/DejaVuSans.ttf truetype/dejavu/DejaVuSansMono.ttf)
  if(EXISTS /usr/share/fonts/${name})
    list(APPEND lockstep_fonts /usr/share/fonts/${name})
  endif()
endforeach()
# Fashion-MNIST (MIT), where it is installed.
if(EXISTS /usr/share/datasets/fashion-mnist)
  set(lockstep_fashion_mnist /usr/share/datasets/fashion-mnist)
endif()
add_custom_target(bundle
  COMMAND ${CMAKE_COMMAND} -DBUILD=${CMAKE_BINARY_DIR} -DNAME=${lockstep_bundle_name}
          -DVULKAN_LOADER=${Vulkan_LIBRARY} "-DFONTS=${lockstep_fonts}"
          -DFASHION_MNIST=${lockstep_fashion_mnist} -P ${PROJECT_SOURCE_DIR}/cmake/MakeBundle.cmake
  DEPENDS lockstep
  COMMENT "Packing ${lockstep_bundle_name}.tar.gz"
  VERBATIM)
