#include "model/scalar_constant.h"

#include "model/tensor.h"

namespace qtool {

std::optional<float> scalar_constant(const Model& model, const GraphView& graph,
                                     const std::string& value) {
  const onnx::TensorProto* constant = graph.initializer(value);
  if (!constant || graph.is_graph_input(value) || element_count(*constant) != 1)
    return std::nullopt;
  const ElementType type = element_type(*constant);
  if (type != ElementType::Float && type != ElementType::Float16) return std::nullopt;
  return to_float32(model.tensor(*constant)).front();
}

}  // namespace qtool
