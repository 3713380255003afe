#include <string>

#include "preprocess/passes.h"
#include "preprocess/value_replacer.h"

namespace qtool {
namespace {

/// Whether the node's one output is its first input.
bool is_copy(const onnx::NodeProto& node) {
  if (!is_default_domain(node.domain()) || node.output_size() != 1) return false;
  if (node.op_type() == "Identity") return node.input_size() == 1;
  // Without the input that says so there is no training.
  return node.op_type() == "Dropout" && node.input_size() >= 1 && node.input_size() <= 2;
}

class IdentityRemover : public ValueReplacer {
 public:
 private:
  void enter(const onnx::GraphProto& graph) override {
    marks_.push_back(constants_.mark());
    for (const auto& tensor : graph.initializer()) constants_.set(tensor.name(), true);
    for (const auto& input : graph.input()) constants_.set(input.name(), false);
  }

  void leave() override {
    constants_.roll_back(marks_.back());
    marks_.pop_back();
  }

  const google::protobuf::RepeatedPtrField<std::string>* replacement(
      const onnx::NodeProto& node) override {
    if (!is_copy(node)) return nullptr;
    const bool* constant = constants_.find(node.input(0));
    return constant && *constant ? &node.input() : nullptr;
  }

  ScopedMap<bool> constants_;  ///< false: an input that hides one
  std::vector<std::size_t> marks_;
};

}  // namespace

void remove_identities(Model& model) { IdentityRemover().visit(model.graph()); }

}  // namespace qtool
