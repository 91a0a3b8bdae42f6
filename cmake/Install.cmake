# `cmake --install`: the library's headers, static libraries and package files, and the program.
#   find_package(lockstep REQUIRED)
#   target_link_libraries(app PRIVATE lockstep::engine)
# or pkg-config --cflags --libs lockstep. The shared object with the functions of lockstep.h is lockstep::shared.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(lockstep_package ${CMAKE_INSTALL_LIBDIR}/cmake/lockstep)

foreach(name IN ITEMS ${lockstep_rooms} shaders engine shared)
  set_target_properties(lockstep_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(lockstep_${name} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  install(TARGETS lockstep_${name} EXPORT lockstep ARCHIVE COMPONENT library RUNTIME COMPONENT library LIBRARY COMPONENT library NAMELINK_COMPONENT library)
endforeach()
install(EXPORT lockstep NAMESPACE lockstep:: DESTINATION ${lockstep_package} FILE lockstepTargets.cmake COMPONENT library)

install(DIRECTORY ${LOCKSTEP_PUBLIC_HEADERS}/lockstep DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)

# A static library comes before those that it uses; ours use each other in the order in which the engine lists them.
set(lockstep_libraries "")
foreach(name IN ITEMS ${lockstep_rooms})
  string(PREPEND lockstep_libraries "-llockstep_${name} ")
endforeach()
string(REPLACE "-llockstep_step" "-llockstep_step -llockstep_shaders" lockstep_libraries "${lockstep_libraries}")
if(lockstep_links_onednn)
  string(APPEND lockstep_libraries "-ldnnl ")
endif()
file(RELATIVE_PATH lockstep_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
set(lockstep_prefix "\${pcfiledir}/${lockstep_prefix}")
set(lockstep_includes "")
if(NOT Vulkan_INCLUDE_DIR STREQUAL /usr/include)
  set(lockstep_includes " -I${Vulkan_INCLUDE_DIR}")
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/lockstep.pc.in ${CMAKE_CURRENT_BINARY_DIR}/lockstep.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lockstep.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/lockstepConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/lockstepConfig.cmake INSTALL_DESTINATION ${lockstep_package})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/lockstepConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lockstepConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/lockstepConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindoneDNN.cmake
        DESTINATION ${lockstep_package} COMPONENT library)

if(LOCKSTEP_BUILD_DEMOS)
  # RPATH rather than RUNPATH: a bundled library has to find the libraries that it needs itself, too.
  set_target_properties(lockstep PROPERTIES INSTALL_RPATH "$ORIGIN/../lib" BUILD_WITH_INSTALL_RPATH ON)
  target_link_options(lockstep PRIVATE $<$<PLATFORM_ID:Linux>:-Wl,--disable-new-dtags>)
  install(TARGETS lockstep RUNTIME COMPONENT program)
  if(TARGET lockstep_mpi) # engine/many/mpi.cpp looks there
    install(TARGETS lockstep_mpi LIBRARY DESTINATION lib/lockstep COMPONENT program)
  endif()
  # demos/kit/assets.cpp looks there.
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/assets/ DESTINATION share/lockstep COMPONENT program PATTERN pictures EXCLUDE)
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    install(FILES ${PROJECT_SOURCE_DIR}/demos/linux/lockstep.desktop DESTINATION share/applications COMPONENT program)
    install(FILES ${PROJECT_SOURCE_DIR}/demos/linux/lockstep.svg DESTINATION share/icons/hicolor/scalable/apps COMPONENT program)
    install(FILES ${PROJECT_SOURCE_DIR}/demos/linux/lockstep.metainfo.xml DESTINATION share/metainfo COMPONENT program)
  endif()
  # What a person sees first in an unpacked bundle.
  install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/LICENSE
          DESTINATION . COMPONENT bundle EXCLUDE_FROM_ALL)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/assets/pictures DESTINATION assets COMPONENT bundle EXCLUDE_FROM_ALL
          FILES_MATCHING PATTERN "*.png")
  # The report of a machine with a GPU, which needs no more than the bundle: tests/bench/gpu_report.sh.
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/tests/bench DESTINATION tests COMPONENT bundle EXCLUDE_FROM_ALL
          USE_SOURCE_PERMISSIONS FILES_MATCHING PATTERN "*.py" PATTERN "gpu_report.sh" PATTERN "README.md"
          PATTERN "__pycache__" EXCLUDE)
  install(FILES ${PROJECT_SOURCE_DIR}/tests/reference/pytorch_twin.py DESTINATION tests/reference COMPONENT bundle
          EXCLUDE_FROM_ALL)
endif()
