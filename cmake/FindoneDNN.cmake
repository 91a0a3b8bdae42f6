# oneDNN by its header and library alone: the package's own config file also asks for OpenCL's development files, which nothing
# here needs. Defines oneDNN::dnnl. Installed with the library, so that an embedding project finds it the same way.
find_path(oneDNN_INCLUDE_DIR oneapi/dnnl/dnnl.h)
find_library(oneDNN_LIBRARY dnnl)
mark_as_advanced(oneDNN_INCLUDE_DIR oneDNN_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(oneDNN REQUIRED_VARS oneDNN_LIBRARY oneDNN_INCLUDE_DIR
                                  REASON_FAILURE_MESSAGE "on Debian and Ubuntu: apt-get install libdnnl-dev")

if(oneDNN_FOUND AND NOT TARGET oneDNN::dnnl)
  add_library(oneDNN::dnnl UNKNOWN IMPORTED)
  set_target_properties(oneDNN::dnnl PROPERTIES IMPORTED_LOCATION ${oneDNN_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${oneDNN_INCLUDE_DIR})
endif()
