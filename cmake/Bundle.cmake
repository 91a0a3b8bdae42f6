# The target `bundle`: one archive that runs on any x86-64 Linux with glibc 2.36 and a Vulkan driver.
set(lockstep_bundle_name lockstep-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
add_custom_target(bundle
  COMMAND ${CMAKE_COMMAND} -DBUILD=${CMAKE_BINARY_DIR} -DNAME=${lockstep_bundle_name}
          -DVULKAN_LOADER=${Vulkan_LIBRARY} -P ${PROJECT_SOURCE_DIR}/cmake/MakeBundle.cmake
  DEPENDS lockstep
  COMMENT "Packing ${lockstep_bundle_name}.tar.gz"
  VERBATIM)
