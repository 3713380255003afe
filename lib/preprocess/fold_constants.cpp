#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/interrupt.h"
#include "preprocess/constant_nodes.h"
#include "preprocess/fold_shapes.h"
#include "preprocess/passes.h"
#include "preprocess/shape_inference.h"
#include "runtime/session.h"

namespace qtool {
namespace {

/// What a folded node makes can tell the size of another's result; a chain of such steps ends.
constexpr int kMaxRounds = 10;
/// ONNX Runtime's time to load a model grows faster than the number of its tensors.
constexpr std::size_t kBatch = 1000;
/// Nodes that ONNX Runtime may refuse before the rest is left as it is.
constexpr std::size_t kMaxFailures = 32;

/// Computes constant nodes by ONNX Runtime, all at once where it can, else in parts until those
/// that it cannot are alone.
class Folder {
 public:
  Folder(const Model& model, const ConstantNodes& constants, std::vector<std::string>& notes)
      : model_(model), constants_(constants), notes_(notes) {}

  void run() {
    const std::vector<int> useful = useful_nodes();
    for (std::size_t first = 0; first < useful.size(); first += kBatch) {
      throw_if_interrupted();
      const auto last = std::min(first + kBatch, useful.size());
      fold({useful.begin() + static_cast<std::ptrdiff_t>(first),
            useful.begin() + static_cast<std::ptrdiff_t>(last)});
    }
  }

  /// Places of the nodes that were computed.
  const std::set<int>& folded() const { return folded_; }
  /// Values that nodes which stay read, by the names in the constant nodes.
  const std::map<std::string, onnx::TensorProto>& results() const { return results_; }
  const std::vector<int>& failed() const { return failed_; }

 private:
  /// Nodes on whose results something depends.
  std::vector<int> useful_nodes() const {
    const auto& nodes = constants_.nodes;
    std::vector<bool> is_useful(nodes.size());
    std::vector<int> useful;
    for (int i = static_cast<int>(nodes.size()) - 1; i >= 0; --i) {
      is_useful[i] =
          std::ranges::find(nodes[i].is_read, true) != nodes[i].is_read.end() ||
          std::ranges::any_of(nodes[i].consumers, [&](int reader) { return is_useful[reader]; });
      if (is_useful[i]) useful.push_back(i);
    }
    std::ranges::reverse(useful);
    return useful;
  }

  void fold(std::vector<int> batch) {
    std::set<int> members;
    std::erase_if(batch, [&](int i) { return !is_ready(i, members); });
    if (batch.empty() || failed_.size() >= kMaxFailures) return;
    try {
      compute(batch, members);
      folded_.insert(batch.begin(), batch.end());
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::Interrupted) throw;
      if (batch.size() == 1) return fail(batch.front(), error.what());
      const auto middle = batch.begin() + static_cast<std::ptrdiff_t>(batch.size() / 2);
      fold({batch.begin(), middle});
      fold({middle, batch.end()});
    }
  }

  /// Adds node `i` to `members` where all that it reads is among them or computed before.
  bool is_ready(int i, std::set<int>& members) const {
    const bool ready = std::ranges::all_of(constants_.nodes[i].producers, [&](int each) {
      return members.contains(each) || folded_.contains(each);
    });
    if (ready) members.insert(i);
    return ready;
  }

  void compute(const std::vector<int>& batch, const std::set<int>& members) {
    const Model part = model_.with_proto(make_part(batch, members));
    const Session session(part, {.optimization = SessionConfig::Optimization::None, .taps = {}});
    for (NamedTensor& output : session.run({})) {
      results_[output.name] =
          make_tensor(output.name, output.tensor.type, output.tensor.shape, output.tensor.bytes);
    }
  }

  onnx::ModelProto make_part(const std::vector<int>& batch, const std::set<int>& members) const {
    onnx::ModelProto part;
    part.set_ir_version(model_.proto().ir_version());
    *part.mutable_opset_import() = model_.proto().opset_import();
    auto& graph = *part.mutable_graph();
    graph.set_name("constants");
    std::set<std::string> inputs;
    for (const int i : batch) {
      const ConstantNode& entry = constants_.nodes[i];
      *graph.add_node() = entry.node;
      inputs.insert(entry.node.input().begin(), entry.node.input().end());
      for (int output = 0; output < entry.node.output_size(); ++output) {
        if (is_wanted(entry, output, members))
          graph.add_output()->set_name(entry.node.output(output));
      }
    }
    for (const std::string& name : inputs) add_tensor(name, graph);
    return part;
  }

  /// Whether something outside the batch reads that output of a node in it.
  static bool is_wanted(const ConstantNode& entry, int output, const std::set<int>& members) {
    if (entry.node.output(output).empty()) return false;
    return entry.is_read[output] || std::ranges::any_of(entry.consumers, [&](int reader) {
             return !members.contains(reader);
           });
  }

  void add_tensor(const std::string& name, onnx::GraphProto& graph) const {
    const auto tensor = constants_.tensors.find(name);
    const auto result = results_.find(name);
    if (tensor == constants_.tensors.end() && result == results_.end()) return;
    auto& added = *graph.add_initializer();
    added = tensor != constants_.tensors.end() ? *tensor->second : result->second;
    added.set_name(name);
  }

  void fail(int i, const std::string& reason) {
    const ConstantNode& entry = constants_.nodes[i];
    failed_.push_back(i);
    notes_.push_back("folding: " + describe(entry.graph->node(entry.index)) + " stays: " + reason);
  }

  const Model& model_;
  const ConstantNodes& constants_;
  std::vector<std::string>& notes_;
  std::set<int> folded_;
  std::vector<int> failed_;
  std::map<std::string, onnx::TensorProto> results_;
};

/// Puts results in place of the nodes that were computed.
void apply(const Folder& folder, const ConstantNodes& constants) {
  std::map<onnx::GraphProto*, std::unordered_set<int>> gone;
  for (const int i : folder.folded()) {
    const ConstantNode& entry = constants.nodes[i];
    gone[entry.graph].insert(entry.index);
    for (int output = 0; output < entry.node.output_size(); ++output) {
      const auto result = folder.results().find(entry.node.output(output));
      if (result == folder.results().end()) continue;
      auto& tensor = *entry.graph->add_initializer();
      tensor = result->second;
      tensor.set_name(entry.graph->node(entry.index).output(output));
    }
  }
  for (auto& [graph, indices] : gone) {
    int kept = 0;
    for (int i = 0; i < graph->node_size(); ++i) {
      if (!indices.contains(i)) graph->mutable_node()->SwapElements(kept++, i);
    }
    graph->mutable_node()->DeleteSubrange(kept, graph->node_size() - kept);
  }
}

}  // namespace

void fold_constants(Model& model, std::vector<std::string>& notes) {
  std::unordered_set<std::string> failed;
  fold_shapes(model);
  for (int round = 0; round < kMaxRounds; ++round) {
    make_range_operands_scalar(model);
    const ConstantNodes constants = find_constant_nodes(model.graph(), failed);
    Folder folder(model, constants, notes);
    folder.run();
    for (const int i : folder.failed()) {
      const ConstantNode& entry = constants.nodes[i];
      failed.insert(entry.graph->node(entry.index).output(0));
    }
    apply(folder, constants);
    if (fold_shapes(model) == 0 && folder.folded().empty()) return;
    std::vector<std::string> said_before;
    ShapeInference(model, said_before).run();
  }
}

}  // namespace qtool
