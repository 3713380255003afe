#include "runtime/session_options.h"

#include <onnxruntime_session_options_config_keys.h>

#include "runtime/providers.h"

namespace qtool {
namespace {

GraphOptimizationLevel level_of(SessionConfig::Optimization optimization) {
  switch (optimization) {
    case SessionConfig::Optimization::None:
      return ORT_DISABLE_ALL;
    case SessionConfig::Optimization::Basic:
      return ORT_ENABLE_BASIC;
    case SessionConfig::Optimization::Extended:
      return ORT_ENABLE_EXTENDED;
    case SessionConfig::Optimization::All:
      return ORT_ENABLE_ALL;
  }
  return ORT_ENABLE_ALL;
}

}  // namespace

Ort::SessionOptions session_options(const SessionConfig& config) {
  Ort::SessionOptions out;
  out.SetGraphOptimizationLevel(level_of(config.optimization));
  out.SetIntraOpNumThreads(config.intra_op_threads);
  out.SetInterOpNumThreads(1);
  out.AddConfigEntry(kOrtSessionOptionsConfigAllowIntraOpSpinning, "0");
  // A pattern is one block for all of a run, kept for each shape seen; without it the arena reuses
  // what was freed, which takes two thirds of the memory at the same speed.
  out.DisableMemPattern();
  if (!config.taps.empty()) out.AddConfigEntry(kOrtSessionOptionsConfigUseEnvAllocators, "1");
  if (!config.optimized_model.empty())
    out.SetOptimizedModelFilePath(config.optimized_model.c_str());
  append_providers(out, config.providers);
  return out;
}

}  // namespace qtool
