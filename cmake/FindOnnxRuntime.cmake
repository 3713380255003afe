# Finds ONNX Runtime: -DONNXRUNTIME_ROOT= (layout of the official release archive, or of scripts/quickstart.sh),
# a package that brings its own CMake config (vcpkg, conan, Debian 13), or the system's folders.
# Gives the target onnxruntime::onnxruntime.
if(NOT TARGET onnxruntime::onnxruntime AND NOT ONNXRUNTIME_ROOT AND NOT DEFINED ENV{ONNXRUNTIME_ROOT})
  find_package(onnxruntime CONFIG QUIET)
endif()
if(NOT TARGET onnxruntime::onnxruntime)
  find_path(ONNXRUNTIME_INCLUDE_DIR onnxruntime_cxx_api.h
    HINTS "${ONNXRUNTIME_ROOT}/include" "$ENV{ONNXRUNTIME_ROOT}/include" PATH_SUFFIXES onnxruntime onnxruntime/core/session)
  find_library(ONNXRUNTIME_LIBRARY onnxruntime HINTS "${ONNXRUNTIME_ROOT}/lib" "$ENV{ONNXRUNTIME_ROOT}/lib")
endif()
include(FindPackageHandleStandardArgs)
if(TARGET onnxruntime::onnxruntime)
  set(OnnxRuntime_FOUND TRUE)
else()
  find_package_handle_standard_args(OnnxRuntime
    REQUIRED_VARS ONNXRUNTIME_LIBRARY ONNXRUNTIME_INCLUDE_DIR
    REASON_FAILURE_MESSAGE "give -DONNXRUNTIME_ROOT=, or run scripts/quickstart.sh")
  if(OnnxRuntime_FOUND)
    add_library(onnxruntime::onnxruntime SHARED IMPORTED)
    set_target_properties(onnxruntime::onnxruntime PROPERTIES
      IMPORTED_LOCATION "${ONNXRUNTIME_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${ONNXRUNTIME_INCLUDE_DIR}")
  endif()
endif()
