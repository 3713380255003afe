#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "model/model.h"
#include "preprocess/graph_editor.h"
#include "preprocess/preprocess.h"

namespace qtool {

// Passes that put one operator in place of the nodes that spell it out. What the last of them made
// keeps its name; what stands before it dies where nobody else reads it.

/// Which operators a fusion may put: those of the model's opset, or also ONNX Runtime's own.
enum class Operators { Standard, Contrib };

/// A Gelu as its single nodes.
struct SpelledGelu {
  std::string x;                    ///< what it is computed of
  std::vector<std::string> inside;  ///< values between that and its result
};
/// x * 0.5 * (1 + erf(x / sqrt(2))) and its approximation by tanh, where `is_wanted` says so or is
/// empty. A standard operator from opset 20 on.
bool fuse_gelu(Model& model, Operators which,
               const std::function<bool(const SpelledGelu&)>& is_wanted = {});
/// The product of a matrix and a constant one, and what is added to each column.
bool fuse_gemm(Model& model);
/// (x - mean) / sqrt(variance + epsilon) * scale + bias over the last axes. From opset 17 on.
bool fuse_layer_normalization(Model& model);
/// x / sqrt(mean(x^2) + epsilon) * scale over the last axes. From opset 23 on.
bool fuse_rms_normalization(Model& model);
/// Clip(x * a + b, 0, c) / c, and that times x: HardSigmoid, and HardSwish from opset 14 on.
bool fuse_hard_swish(Model& model);
/// The one opset at which ONNX Runtime runs Swish: it has no kernel and knows the nodes that stand
/// for it at no later one.
inline constexpr std::int64_t kSwishOpset = 24;
/// x * sigmoid(a * x): Swish at its opset, else QuickGelu.
bool fuse_silu(Model& model, Operators which);
/// x / max(norm(x), tiny): LpNormalization, which takes no vector for longer than it is.
bool fuse_lp_normalization(Model& model);
/// Reshapes and Transposes that together move blocks of the image to the channels.
bool fuse_space_to_depth(Model& model);

/// softmax(scale * Q K^T + mask) V: Attention from opset 23 on, else MultiHeadAttention.
bool fuse_attention(Model& model, Operators which);

/// How often the pattern of a fusion stands in a model.
struct PatternCount {
  int found = 0;                         ///< that could become one operator
  std::map<std::string, int> obstacles;  ///< why others could not
};
PatternCount count_gelu(Model& model);
PatternCount count_silu(Model& model);
PatternCount count_layer_normalization(Model& model);
PatternCount count_rms_normalization(Model& model);
PatternCount count_attention(Model& model);
/// The patterns of wanted fusions that stand in the model.
std::vector<PatternLeft> find_patterns_left(Model& model,
                                            const std::function<bool(const char*)>& is_wanted);

/// The nodes behind Erf or Tanh and behind the division by the deviation that runtimes make part of
/// one Gelu or LayerNormalization: whoever takes one of them away leaves them all the rest.
std::unordered_set<int> nodes_runtimes_fuse(const GraphEditor& graph);
/// Its part in fuse_gelu.cpp.
void add_gelu_nodes(const GraphEditor& graph, std::unordered_set<int>& nodes);

/// Imports ONNX Runtime's domain.
void import_contrib(Model& model);

}  // namespace qtool
