# Finds ONNX Runtime and gives the target onnxruntime::onnxruntime. In this order:
#   ONNXRUNTIME_ROOT, as variable or in the environment: a folder with include/ and lib/, as in the official release archive, or /usr;
#   what scripts/setup.sh has unpacked (QTOOL_ONNXRUNTIME_ROOT);
#   a package with its own CMake config (vcpkg, conan, Debian 13), then the system's folders.
set(onnxruntime_root "${ONNXRUNTIME_ROOT}")
if(NOT onnxruntime_root)
  set(onnxruntime_root "$ENV{ONNXRUNTIME_ROOT}")
endif()
if(NOT onnxruntime_root)
  set(onnxruntime_root "${QTOOL_ONNXRUNTIME_ROOT}")
endif()

if(NOT onnxruntime_root)
  find_package(onnxruntime CONFIG QUIET)
endif()
if(TARGET onnxruntime::onnxruntime)
  set(ONNXRUNTIME_LIBRARY onnxruntime::onnxruntime)
  set(OnnxRuntime_VERSION "${onnxruntime_VERSION}")
else()
  set(where_to_look)
  if(onnxruntime_root)
    set(where_to_look PATHS "${onnxruntime_root}" NO_DEFAULT_PATH)
  endif()
  find_path(ONNXRUNTIME_INCLUDE_DIR onnxruntime_cxx_api.h ${where_to_look}
    PATH_SUFFIXES include include/onnxruntime include/onnxruntime/core/session onnxruntime)
  find_library(ONNXRUNTIME_LIBRARY onnxruntime ${where_to_look} PATH_SUFFIXES lib lib64 "lib/${CMAKE_LIBRARY_ARCHITECTURE}")
  # The headers number the API they describe: 21 came with release 1.21.
  if(ONNXRUNTIME_INCLUDE_DIR)
    file(STRINGS "${ONNXRUNTIME_INCLUDE_DIR}/onnxruntime_c_api.h" api_line REGEX "#define ORT_API_VERSION [0-9]+" LIMIT_COUNT 1)
    string(REGEX REPLACE ".*ORT_API_VERSION ([0-9]+).*" "1.\\1" OnnxRuntime_VERSION "${api_line}")
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OnnxRuntime
  REQUIRED_VARS ONNXRUNTIME_LIBRARY
  VERSION_VAR OnnxRuntime_VERSION
  REASON_FAILURE_MESSAGE "run scripts/setup.sh, or give -DONNXRUNTIME_ROOT=")
if(OnnxRuntime_FOUND AND NOT TARGET onnxruntime::onnxruntime)
  add_library(onnxruntime::onnxruntime SHARED IMPORTED)
  set_target_properties(onnxruntime::onnxruntime PROPERTIES
    IMPORTED_LOCATION "${ONNXRUNTIME_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${ONNXRUNTIME_INCLUDE_DIR}")
endif()
