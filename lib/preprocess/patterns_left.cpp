#include <fmt/format.h>
#include <limits>

#include "preprocess/fusion.h"

namespace qtool {
namespace {

constexpr auto kLatest = std::numeric_limits<std::int64_t>::max();

/// A pattern that becomes one operator of ONNX at some opsets.
struct Pattern {
  const char* fusion;
  const char* op_type;
  std::int64_t since_opset, last_opset;
  const char* contrib;  ///< ONNX Runtime's own operator for it, if any
  PatternCount (*count)(Model&);
};

constexpr Pattern kPatterns[] = {
    {"attention", "Attention", 23, kLatest, "MultiHeadAttention", count_attention},
    {"gelu", "Gelu", 20, kLatest, "Gelu", count_gelu},
    {"layernorm", "LayerNormalization", 17, kLatest, nullptr, count_layer_normalization},
    {"rmsnorm", "RMSNormalization", 23, kLatest, nullptr, count_rms_normalization},
    {"silu", "Swish", kSwishOpset, kSwishOpset, "QuickGelu", count_silu},
};

/// What would make one operator of the pattern at that opset; empty where nothing has to.
std::string what_would_do(const Pattern& pattern, std::int64_t opset) {
  if (opset >= pattern.since_opset && opset <= pattern.last_opset) return {};
  std::string by_name;
  if (pattern.contrib) by_name = fmt::format("preprocess.fusions: {}", pattern.contrib);
  if (opset > pattern.last_opset) return by_name;
  return fmt::format("preprocess.opset {}: {}{}{}", pattern.since_opset, pattern.op_type,
                     pattern.contrib ? "; " : "", by_name);
}

}  // namespace

std::vector<PatternLeft> find_patterns_left(Model& model,
                                            const std::function<bool(const char*)>& is_wanted) {
  std::vector<PatternLeft> out;
  for (const Pattern& pattern : kPatterns) {
    if (!is_wanted(pattern.fusion)) continue;
    const PatternCount count = pattern.count(model);
    const std::string remedy = what_would_do(pattern, model.opset());
    if (count.found > 0 && !remedy.empty()) out.push_back({pattern.fusion, count.found, remedy});
    for (const auto& [obstacle, found] : count.obstacles)
      out.push_back({pattern.fusion, found, obstacle});
  }
  return out;
}

}  // namespace qtool
