#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/graph_view.h"
#include "model/model.h"

namespace qtool {

/// Scale and zero point of a Q or DQ node, where they are one constant number each.
struct PairParams {
  double scale = 0, zero_point = 0;
  friend bool operator==(const PairParams&, const PairParams&) = default;
};

/// One end of a value: what stands there.
struct End {
  enum class Kind {
    Float,      ///< a float operator, an input or output of the graph
    Quantized,  ///< DequantizeLinear before the node, QuantizeLinear behind it
  };
  Kind kind = Kind::Float;
  ElementType type = ElementType::Undefined;  ///< of the integers
  std::optional<PairParams> params;
  int node = -1;                ///< the Q or DQ
  bool has_half_scale = false;  ///< the values are float16
};

/// A graph as ONNX Runtime sees it when it looks for integer kernels: Relu and Clip that a
/// quantizer behind them makes superfluous are gone, and quantizers have been moved past operators
/// that only move values.
class FusionGraph {
 public:
  /// `outer`: of the graph around, where `graph` is a body.
  FusionGraph(const Model& model, const onnx::GraphProto& graph, const GraphView* outer = nullptr);

  const GraphView& view() const { return view_; }
  const Model& model() const { return model_; }
  /// Whether the node is a Relu or Clip that goes away, or was folded at loading.
  bool is_gone(int index) const { return is_gone_[static_cast<std::size_t>(index)]; }
  /// The values of an initializer or of a Constant node, which is one to ONNX Runtime; or nullptr.
  const onnx::TensorProto* constant(const std::string& value) const;
  End before(int index, int slot) const;
  /// The name of the value that the node reads, as it was before a pair.
  std::string value_before(int index, int slot) const;
  /// The readers of the node's outputs, those of a Relu or Clip that is gone in its place.
  std::vector<End> behind(int index) const;
  bool gives_graph_output(int index) const;
  /// The Relu or Clip that alone reads the node's output and is not gone, where one node alone
  /// reads what it gives; or -1.
  int clamp_behind(int index) const;

 private:
  double number_in(const onnx::TensorProto& constant) const;
  End end_at(int pair) const;
  bool becomes_unsigned(const onnx::NodeProto& pair) const;
  bool keeps_one_dequantizer(const onnx::NodeProto& dequantizer) const;
  void find_constants();
  ElementType integer_type(const onnx::NodeProto& pair) const;
  std::optional<PairParams> params_of(const onnx::NodeProto& node) const;
  bool makes_superfluous(const onnx::NodeProto& clamp, const onnx::NodeProto& quantizer) const;
  std::optional<std::pair<double, double>> bounds_of(const onnx::NodeProto& clamp) const;
  int quantizer_behind(const std::string& value) const;
  void drop_clamps();
  void move_quantizers();
  int sole_reader(const std::string& value) const;
  std::string output_of(int index) const;

  const Model& model_;
  GraphView view_;
  std::vector<bool> is_gone_;
  std::unordered_set<std::string_view> computed_constants_;  ///< values that depend on constants
  std::unordered_map<std::string, End> moved_;               ///< values that a moved pair stands on
};

}  // namespace qtool
