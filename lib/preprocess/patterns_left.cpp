#include <fmt/format.h>

#include "preprocess/fusion.h"

namespace qtool {
namespace {

/// A pattern that becomes one operator of ONNX from some opset on.
struct Pattern {
  const char* fusion;
  const char* op_type;
  std::int64_t since_opset;
  const char* contrib;  ///< ONNX Runtime's own operator for it, if any
  PatternCount (*count)(Model&);
};

constexpr Pattern kPatterns[] = {
    {"attention", "Attention", 23, "MultiHeadAttention", count_attention},
    {"gelu", "Gelu", 20, "Gelu", count_gelu},
    {"layernorm", "LayerNormalization", 17, nullptr, count_layer_normalization},
    {"rmsnorm", "RMSNormalization", 23, nullptr, count_rms_normalization},
    {"silu", "Swish", 24, "QuickGelu", count_silu},
};

std::string what_would_do(const Pattern& pattern) {
  std::string out = fmt::format("preprocess.opset {}: {}", pattern.since_opset, pattern.op_type);
  if (pattern.contrib) out += fmt::format("; preprocess.fusions: {}", pattern.contrib);
  return out;
}

}  // namespace

std::vector<PatternLeft> find_patterns_left(Model& model,
                                            const std::function<bool(const char*)>& is_wanted) {
  std::vector<PatternLeft> out;
  for (const Pattern& pattern : kPatterns) {
    if (!is_wanted(pattern.fusion)) continue;
    const PatternCount count = pattern.count(model);
    if (count.found > 0 && model.opset() < pattern.since_opset)
      out.push_back({pattern.fusion, count.found, what_would_do(pattern)});
    for (const auto& [obstacle, found] : count.obstacles)
      out.push_back({pattern.fusion, found, obstacle});
  }
  return out;
}

}  // namespace qtool
