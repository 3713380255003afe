#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/graph_view.h"
#include "quantize/plan.h"
#include "quantize/stored_params.h"

namespace qtool {

/// A node that lowering made, and the node that makes its input; -1: the graph gives it.
struct NewNode {
  int maker = -1;
  onnx::NodeProto node;
};

/// Q and DQ between which a value goes.
struct PairNames {
  std::string node;  ///< stem of both nodes' names
  std::string input, quantized, output;
  std::string suffix = {};  ///< of the nodes' names
};

/// One rewriting of one graph, and of the bodies in it.
class QdqLowering {
 public:
  /// `outer` is the one of the graph around, if there is one.
  QdqLowering(Model& model, onnx::GraphProto& graph, const QuantPlan& plan, NameAllocator& names,
              QdqLowering* outer = nullptr)
      : model_(model),
        target_(graph),
        plan_(plan),
        view_(graph, outer ? &outer->view_ : nullptr),
        names_(names),
        outer_(outer) {
    nodes_.assign(graph.node().begin(), graph.node().end());
    is_removed_.resize(nodes_.size(), false);
    param_names_.resize(plan.tensors.size());
    conversion_names_.resize(plan.tensors.size());
    quantized_names_.resize(plan.tensors.size());
    is_source_.resize(plan.tensors.size(), false);
    for (const TensorPlan& tensor : plan.tensors) {
      if (tensor.source >= 0) is_source_[static_cast<std::size_t>(tensor.source)] = true;
    }
  }

  void run() {
    for (const FoldedNode& folded : plan_.folded) fold(folded);
    for (const int node : plan_.scaled_biases)
      set_beta_to_one(nodes_[static_cast<std::size_t>(node)]);
    for (const int node : plan_.absorbed) is_removed_[static_cast<std::size_t>(node)] = true;
    for (std::size_t i = 0; i < plan_.tensors.size(); ++i) lower_tensor(i);
    for (const BodyPlan& body : plan_.bodies) lower_body(body);
    assemble();
  }

 private:
  void fold(const FoldedNode& folded);
  static void set_beta_to_one(onnx::NodeProto& node);
  int maker_of(const std::string& name) const;
  void lower_tensor(std::size_t index);
  void lower_body(const BodyPlan& body);

  void lower_activation(std::size_t index);
  void repeat_scale(onnx::NodeProto& quantizer, const TensorPlan& tensor);
  void add_rescaled(const TensorPlan& tensor, const ParamNames& params);
  void add_pair_per_reader(const TensorPlan& tensor, const ParamNames& params, int maker);
  void add_conversion(std::size_t index, const ParamNames& params, int maker);
  std::string input_of_pair(const TensorPlan& tensor, int maker, bool& keeps_name);

  QdqLowering& owner_of(const std::string& constant);
  void lower_constant(std::size_t index);
  StoredConstant stored_constant(const TensorPlan& tensor);
  StoredConstant add_constant(const TensorPlan& tensor, const ParamNames& names);
  void lower_bias(std::size_t index);
  std::string bias_output(const TensorPlan& tensor);
  Tensor bias_of(const TensorPlan& tensor) const;
  void add_bias_dequantizer(const TensorPlan& tensor, std::vector<std::string> inputs);

  std::string rename_output(int maker, const std::string& name);
  const ParamNames& params_of(std::size_t index);
  const ParamNames& conversion_params_of(std::size_t index);
  ParamNames add_params(const QuantParams& params, ParamNames names);
  void redirect(const std::vector<Use>& uses, const std::string& to);
  void add_node(int maker, const char* op_type, std::string name, std::vector<std::string> inputs,
                const std::string& output, const QuantParams& params);
  void add_pair(int maker, const PairNames& names, const ParamNames& params,
                const QuantParams& values);
  void add_initializer(onnx::TensorProto tensor) { added_.push_back(std::move(tensor)); }
  void add_param(onnx::TensorProto tensor) {
    if (plan_.convention == Convention::OnnxRuntime) use_typed_field(tensor);
    add_initializer(std::move(tensor));
  }

  void assemble();
  void place_nodes();
  void drop_unused_initializers();
  void drop_stale_value_info();

  Model& model_;
  onnx::GraphProto& target_;
  const QuantPlan& plan_;
  GraphView view_;
  NameAllocator& names_;
  QdqLowering* outer_;
  std::vector<onnx::NodeProto> nodes_;
  std::vector<bool> is_removed_;
  std::vector<NewNode> new_nodes_;
  std::vector<ParamNames> param_names_, conversion_names_;
  std::vector<std::string> quantized_names_;  ///< what the Q of each plan gives
  std::vector<bool> is_source_;               ///< other plans read those integers
  std::vector<onnx::TensorProto> added_;
  std::unordered_multimap<std::string, StoredConstant> stored_;  ///< by the constant's name
  std::unordered_map<std::string, int>
      moved_producer_;                        ///< output of a folded node -> node that makes it now
  std::unordered_set<std::string> touched_;   ///< initializers that some reader no longer reads
  std::unordered_set<std::string> replaced_;  ///< initializers whose name a node's output has now
};

}  // namespace qtool
