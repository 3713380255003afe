# `cmake --install`: the binary, the example configs with their data, and ONNX Runtime beside them where it is not the system's.
include(GNUInstallDirs)
set_target_properties(qtool PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
install(TARGETS qtool RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(DIRECTORY configs calib_samples DESTINATION "${CMAKE_INSTALL_DATADIR}/qtool")
install(CODE "
  file(REAL_PATH \"$<TARGET_FILE:onnxruntime::onnxruntime>\" library)
  if(NOT library MATCHES \"^/(usr/)?lib\")
    file(INSTALL \"\${library}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}\" RENAME libonnxruntime.so.1)
  endif()")
