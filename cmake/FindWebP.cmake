# libwebp's animations, written as WebP::libwebpmux and read as WebP::webpdemux: by its own package where there is one (vcpkg),
# else by pkg-config (Debian).
find_package(Threads QUIET) # which libwebp 1.2 names but does not look for
find_package(WebP CONFIG QUIET)
find_package(PkgConfig QUIET)
foreach(module IN ITEMS libwebpmux libwebpdemux)
  string(REPLACE libwebpdemux webpdemux library ${module})
  if(NOT TARGET WebP::${library} AND PkgConfig_FOUND)
    pkg_check_modules(${module} QUIET IMPORTED_TARGET ${module})
    if(TARGET PkgConfig::${module})
      add_library(WebP::${library} INTERFACE IMPORTED)
      target_link_libraries(WebP::${library} INTERFACE PkgConfig::${module})
    endif()
  endif()
endforeach()
include(FindPackageHandleStandardArgs)
set(webp_target NOTFOUND)
if(TARGET WebP::libwebpmux AND TARGET WebP::webpdemux)
  set(webp_target WebP::libwebpmux)
endif()
find_package_handle_standard_args(WebP REQUIRED_VARS webp_target
  REASON_FAILURE_MESSAGE "package libwebp-dev on Debian and Ubuntu, port libwebp of vcpkg")
