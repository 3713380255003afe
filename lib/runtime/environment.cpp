#include "runtime/environment.h"

#include <cstdlib>

namespace qtool {
namespace {

void ORT_API_CALL say_nothing(void*, OrtLoggingLevel, const char*, const char*, const char*,
                              const char*) {}

Ort::Env make_environment() {
  // Read once, while the environment is made; afterwards it is too late.
  ::setenv("ORT_DISABLE_TELEMETRY", "1", 1);
  Ort::Env out(ORT_LOGGING_LEVEL_FATAL, "qtool", say_nothing, nullptr);
  out.DisableTelemetryEvents();
  Ort::ThrowOnError(Ort::GetApi().RegisterAllocator(out, &run_memory()));
  return out;
}

}  // namespace

RunMemory& run_memory() {
  static RunMemory memory;
  return memory;
}

Ort::Env& environment() {
  // ONNX Runtime allows one environment in a process and needs it as long as any session lives.
  static Ort::Env env = make_environment();
  return env;
}

}  // namespace qtool
