#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "config/config.h"
#include "model/graph_view.h"
#include "model/model.h"
#include "quantize/onnxruntime/range_sources.h"
#include "quantize/params.h"
#include "quantize/plan.h"
#include "quantize/tensor_overrides.h"

namespace qtool {

/// Which constants a reader can do with.
struct ConstantWish {
  bool is_weight = false;                 ///< else it stands where others have an activation
  std::optional<std::int64_t> axis = {};  ///< one scale per index of it
  /// The only axis whose indices may have scales, also where an override asks for it.
  std::int64_t channel_axis = -1;
  bool is_int8 =
      false;  ///< whatever the weight type: what QLinearConv takes with scales per channel
};

/// The tensors of a plan while onnxruntime.quantization's walk over the nodes goes on: which exist
/// in integers by now, and with what scale. Anything added since `mark()` can be taken back.
class QOperatorTensors {
 public:
  QOperatorTensors(const Model& model, const GraphView& graph, const QuantizationConfig& config,
                   const RangeSources& ranges)
      : model_(model),
        graph_(graph),
        config_(config),
        ranges_(ranges),
        overrides_(config.extra_options) {}

  /// The plan whose integers `name` exists in, or -1.
  int integers_of(const std::string& name) const;
  /// The plan that a reader of the activation or constant gets, made where there is none; -1: stays
  /// float.
  int activation(const std::string& name);
  int constant(const std::string& name, ConstantWish wish);
  /// A value that gets the parameters of another plan: a constant stored so, or a computed one.
  int in_terms_of(const std::string& name, int provider);

  /// What a node writes: by its range (-1: has none), as `provider`, or with given parameters.
  int output(const std::string& name);
  int output_like(const std::string& name, int provider);
  int output_with(const std::string& name, float scale, std::int32_t zero_point);
  /// `name` has the integers of another plan.
  void alias(const std::string& name, int plan) { note(name, plan); }
  /// What the walk makes known once a node writes the plan.
  void note(const std::string& name, int plan);

  int add(TensorPlan plan);
  TensorPlan& at(int index) { return tensors_[static_cast<std::size_t>(index)]; }
  std::vector<TensorPlan>& all() { return tensors_; }
  /// Index of the plan that owns the parameters of `index`.
  int root(int index) { return at(index).provider >= 0 ? at(index).provider : index; }

  struct Mark {
    std::size_t tensors = 0, noted = 0;
  };
  Mark mark() const { return {tensors_.size(), noted_.size()}; }
  void take_back(const Mark& mark);

  /// Whether `name` is a tensor of floats that has a plan or may get one.
  bool is_float(const std::string& name) const;
  bool is_constant(const std::string& name) const;
  /// Activations that were asked for, in order.
  const std::vector<std::string>& measured() const { return measured_; }
  void measure(const std::string& name);

 private:
  struct Noted {
    std::string name;
    int before;
  };
  TensorPlan plan_of(const std::string& name, QuantParams params, std::string derivation) const;
  std::optional<QuantParams> measured_params(const std::string& name) const;
  QuantScheme scheme_of(const std::string& name, const ConstantWish& wish) const;
  std::optional<QuantParams> constant_params(const std::string& name,
                                             const ConstantWish& wish) const;
  bool serves(int index, const std::string& name, const ConstantWish& wish) const;

  const Model& model_;
  const GraphView& graph_;
  const QuantizationConfig& config_;
  const RangeSources& ranges_;
  TensorOverrides overrides_;
  std::vector<TensorPlan> tensors_;
  std::unordered_map<std::string, int> integers_;
  std::unordered_map<std::string, std::vector<int>> constants_;  ///< all plans of an initializer
  std::vector<Noted> noted_;
  std::vector<std::string> measured_;
};

}  // namespace qtool
