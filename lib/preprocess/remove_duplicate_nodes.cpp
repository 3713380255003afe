#include <algorithm>
#include <string>

#include "preprocess/foldable.h"
#include "preprocess/passes.h"
#include "preprocess/value_replacer.h"

namespace qtool {
namespace {

/// Everything that a node's values hang on.
std::string signature(const onnx::NodeProto& node) {
  onnx::NodeProto bare;
  bare.set_op_type(node.op_type());
  *bare.mutable_input() = node.input();
  *bare.mutable_attribute() = node.attribute();
  for (auto& attribute : *bare.mutable_attribute()) attribute.clear_doc_string();
  std::sort(bare.mutable_attribute()->begin(), bare.mutable_attribute()->end(),
            [](const auto& a, const auto& b) { return a.name() < b.name(); });
  for (const auto& output : node.output()) bare.add_output(output.empty() ? "" : "made");
  return bare.SerializeAsString();
}

class DuplicateRemover : public ValueReplacer {
 private:
  using Outputs = google::protobuf::RepeatedPtrField<std::string>;

  void enter(const onnx::GraphProto&) override { marks_.push_back(made_.mark()); }

  void leave() override {
    made_.roll_back(marks_.back());
    marks_.pop_back();
  }

  const Outputs* replacement(const onnx::NodeProto& node) override {
    if (!is_pure(node)) return nullptr;
    std::string key = signature(node);
    if (const Outputs* outputs = made_.find(key)) return outputs;
    made_.set(key, node.output());
    return nullptr;
  }

  ScopedMap<Outputs> made_;
  std::vector<std::size_t> marks_;
};

}  // namespace

void remove_duplicate_nodes(Model& model) { DuplicateRemover().visit(model.graph()); }

}  // namespace qtool
