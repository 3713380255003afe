#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "model/graph_view.h"
#include "model/model.h"
#include "quantize/onnxruntime/qoperator_tensors.h"

namespace qtool {

/// The int32 biases of a QOperator plan: one for each pair of scales that a bias is added under.
class QOperatorBiases {
 public:
  QOperatorBiases(const Model& model, const GraphView& graph, const QuantizationConfig& config,
                  bool is_draft)
      : model_(model), graph_(graph), config_(config), is_draft_(is_draft) {}

  /// Plans the bias that `node` reads at `slot`, given the plans of its first two inputs;
  /// `obstacle` says why it cannot be.
  int plan(const onnx::NodeProto& node, int slot, int input, int weight, QOperatorTensors& tensors,
           std::string& obstacle);

  /// Forgets biases whose plans were taken back.
  void take_back(const QOperatorTensors::Mark& mark);

  /// Settles the scales of weights that are too small for their bias, then those of the biases.
  void settle(QOperatorTensors& tensors);

 private:
  struct Request {
    int plan = -1, input = -1, weight = -1;
    float alpha = 1;
  };
  bool can_adjust(const TensorPlan& weight) const;
  Tensor stored(const TensorPlan& bias, std::size_t scales) const;
  void adjust_weight(const Request& request, QOperatorTensors& tensors) const;

  const Model& model_;
  const GraphView& graph_;
  const QuantizationConfig& config_;
  bool is_draft_;
  std::vector<Request> requests_;
  std::map<std::tuple<std::string, int, int, float, float>, int> known_;
};

}  // namespace qtool
