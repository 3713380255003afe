#include "quantize/node_forms.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/graph_view.h"
#include "quantize/bias.h"
#include "quantize/integer_forms.h"

namespace qtool {
namespace {

constexpr double kInt32Max = std::numeric_limits<std::int32_t>::max();

using Part = Operand::Part;
using Role = TensorPlan::Role;

bool is_bias(const IntegerForm& row, int slot) {
  return std::ranges::any_of(row.operands, [&](const Operand& each) {
    return each.part == Part::Bias && each.slot == slot;
  });
}

std::vector<OpRule> rows_with_forms(std::span<const OpRule> rows) {
  std::vector<OpRule> out;
  for (OpRule row : rows) {
    const bool is_clamp = row.outputs == OutputParams::FoldedIntoProducer;
    const IntegerForm* form = find_integer_form(row.op_type, row.domain);
    if (form == nullptr && !is_clamp) continue;
    if (form != nullptr) {
      for (int slot = 0; slot < static_cast<int>(row.inputs.size()); ++slot) {
        const auto is_weight = [&](const Operand& each) {
          return each.part == Part::Weight && each.slot == slot;
        };
        InputRule& input = row.inputs[static_cast<std::size_t>(slot)];
        if (input.role == InputRole::Weight && std::ranges::none_of(form->operands, is_weight))
          input = {InputRole::Activation};
      }
      if (row.op_type == "MatMul") row.refine = refine_integer_matmul;
      const bool can_give_integers = form->output != OutputForm::Float;
      row.gives_integers = can_give_integers && (row.gives_integers || row.entry == Entry::Always);
      row.since_opset = std::max(row.since_opset, form->since_opset);
    }
    out.push_back(row);
  }
  return out;
}

/// Finds the form of each node.
class FormFinder {
 public:
  FormFinder(const Model& model, QuantPlan& plan)
      : model_(model), graph_(model.graph()), plan_(plan) {
    for (std::size_t i = 0; i < plan.tensors.size(); ++i) {
      const TensorPlan& tensor = plan.tensors[i];
      for (const Use& use : tensor.uses) reads_[{use.node, use.slot}] = static_cast<int>(i);
      if (tensor.role == Role::Activation) writes_[tensor.name] = static_cast<int>(i);
    }
    // Backwards, so that in a chain of them the first is written what the last one gives.
    for (auto folded = plan.folded.rbegin(); folded != plan.folded.rend(); ++folded) {
      if (const int output = written(folded->output); output >= 0) writes_[folded->input] = output;
    }
  }

  void run() {
    std::vector<int> quantized;
    for (const int node : plan_.quantized_nodes) {
      NodeForm form{.node = node, .inputs = {}, .outputs = {}};
      if (is_folded(node)) {
        quantized.push_back(node);
      } else if (const std::string obstacle = find(form); obstacle.empty()) {
        quantized.push_back(node);
        plan_.forms.push_back(std::move(form));
      } else {
        const auto& kept = graph_.node(node);
        plan_.skipped.push_back({node, kept.name(), kept.op_type(), "", obstacle});
      }
    }
    plan_.quantized_nodes = std::move(quantized);
    plan_.qdq_domain.clear();
    std::ranges::sort(plan_.forms, {}, &NodeForm::node);
    unfold();
    drop_unneeded();
  }

 private:
  bool is_folded(int node) const {
    return std::ranges::any_of(plan_.folded, [&](const auto& each) { return each.node == node; });
  }
  int read(int node, int slot) const {
    const auto found = reads_.find({node, slot});
    return found == reads_.end() ? -1 : found->second;
  }
  int written(const std::string& name) const {
    const auto found = writes_.find(name);
    return found == writes_.end() ? -1 : found->second;
  }
  int root(int index) const {
    const int provider = plan_.tensors[static_cast<std::size_t>(index)].provider;
    return provider >= 0 ? provider : index;
  }

  std::string find(NodeForm& form);
  std::string find_inputs(const IntegerForm& row, NodeForm& form) const;
  std::string find_outputs(const IntegerForm& row, NodeForm& form) const;
  bool is_own_constant(const std::string& name) const;
  void add_bias(const IntegerForm& row, NodeForm& form);
  std::string fit_bias(const NodeForm& form);
  std::optional<Tensor> values_of(const TensorPlan& bias) const;
  void unfold();
  void drop_unneeded();

  const Model& model_;
  GraphView graph_;
  QuantPlan& plan_;
  std::map<std::pair<int, int>, int> reads_;
  std::unordered_map<std::string, int> writes_;
};

std::string FormFinder::find(NodeForm& form) {
  const auto& node = graph_.node(form.node);
  const IntegerForm* row = find_integer_form(node.op_type(), node.domain());
  if (row == nullptr) return "the operator has no integer form";
  if (model_.opset() < row->since_opset) return "the operator takes no integers in this opset";
  if (std::string obstacle = find_inputs(*row, form); !obstacle.empty()) return obstacle;
  if (std::string obstacle = find_outputs(*row, form); !obstacle.empty()) return obstacle;
  if (std::string obstacle = form_obstacle(*row, node, form, plan_.tensors); !obstacle.empty())
    return obstacle;
  add_bias(*row, form);
  return fit_bias(form);
}

/// Whether `name` is a constant of floats that no caller can replace.
bool FormFinder::is_own_constant(const std::string& name) const {
  const ElementType type = graph_.type_of(name);
  return graph_.initializer(name) && !graph_.is_graph_input(name) &&
         (type == ElementType::Float || type == ElementType::Float16);
}

/// A bias that stays in float between Q and DQ must be stored in integers here.
void FormFinder::add_bias(const IntegerForm& row, NodeForm& form) {
  const auto& node = graph_.node(form.node);
  if (form.inputs.size() < 3 || form.inputs[2] >= 0 || !is_bias(row, 2)) return;
  if (node.input_size() < 3 || node.input(2).empty()) return;
  const TensorPlan& weight = plan_.tensors[static_cast<std::size_t>(form.inputs[1])];
  TensorPlan bias;
  bias.name = node.input(2);
  bias.role = Role::Bias;
  bias.params.type = ElementType::Int32;
  bias.params.scales = weight.params.scales;
  bias.params.zero_points.assign(weight.params.scales.size(), 0);
  bias.factor = node.op_type() == "Gemm" ? float_attribute(node, "beta", 1.0F) : 1.0F;
  bias.derivation =
      "scale=" + plan_.tensors[static_cast<std::size_t>(form.inputs[0])].name + "*" + weight.name;
  form.inputs[2] = static_cast<int>(plan_.tensors.size());
  plan_.tensors.push_back(std::move(bias));
}

std::string FormFinder::find_inputs(const IntegerForm& row, NodeForm& form) const {
  const auto& node = graph_.node(form.node);
  const int slots = std::max(node.input_size(), 3);
  for (int slot = 0; slot < slots; ++slot) form.inputs.push_back(read(form.node, slot));
  const auto is_missing = [&](int slot) {
    return slot < node.input_size() && !node.input(slot).empty() &&
           form.inputs[static_cast<std::size_t>(slot)] < 0;
  };
  const auto needs = [&](int slot) {
    return std::ranges::any_of(row.operands, [&](const Operand& each) {
      return each.part != Part::AsIs && each.part != Part::Output &&
             (each.part == Part::All || each.slot == slot);
    });
  };
  for (int slot = 0; slot < slots; ++slot) {
    if (!needs(slot)) {
      form.inputs[static_cast<std::size_t>(slot)] = -1;
    } else if (is_missing(slot) && !(is_bias(row, slot) && is_own_constant(node.input(slot)))) {
      return fmt::format("'{}' stays in float", node.input(slot));
    }
  }
  while (static_cast<int>(form.inputs.size()) > node.input_size() && form.inputs.back() < 0)
    form.inputs.pop_back();
  return "";
}

std::string FormFinder::find_outputs(const IntegerForm& row, NodeForm& form) const {
  const auto& node = graph_.node(form.node);
  for (const auto& name : node.output())
    form.outputs.push_back(row.output == OutputForm::Float ? -1 : written(name));
  if (row.output == OutputForm::Float) return "";
  if (form.outputs.front() < 0) return fmt::format("'{}' stays in float", node.output(0));
  if (row.output != OutputForm::AsInput) return "";
  for (const int output : form.outputs) {
    if (output >= 0 && root(output) != root(form.inputs.front()))
      return "its output has another scale than its input";
  }
  return "";
}

/// Gives the bias the scale that the integer operator adds it with: input x weight, and alpha of
/// QGemm. Why it cannot have that, or nothing.
std::string FormFinder::fit_bias(const NodeForm& form) {
  const int index = form.inputs.size() > 2 ? form.inputs[2] : -1;
  if (index < 0 || plan_.tensors[static_cast<std::size_t>(index)].role != Role::Bias) return "";
  TensorPlan& bias = plan_.tensors[static_cast<std::size_t>(index)];
  const auto scales_of = [&](std::size_t slot) -> const std::vector<float>& {
    return plan_.tensors[static_cast<std::size_t>(form.inputs[slot])].params.scales;
  };
  const auto& node = graph_.node(form.node);
  const float alpha = node.op_type() == "Gemm" ? float_attribute(node, "alpha", 1.0F) : 1.0F;
  const auto& weights = scales_of(1);
  if (weights.empty()) return "";  // a draft
  std::vector<float>& scales = bias.params.scales;
  for (std::size_t i = 0; i < scales.size(); ++i)
    scales[i] = scales_of(0).front() * weights[i % weights.size()] * alpha;
  bias.params.scale_type = ElementType::Float;
  const auto values = values_of(bias);
  if (!values) return "its bias does not fit the weight's channels";
  bias.shape = values->shape;
  const auto largest = largest_per_scale(*values, scales.size());
  for (std::size_t i = 0; i < scales.size(); ++i) {
    if (!(largest[i] <= std::abs(static_cast<double>(scales[i])) * kInt32Max))
      return "its bias does not fit int32 at the scale of the products";
  }
  return "";
}

std::optional<Tensor> FormFinder::values_of(const TensorPlan& bias) const {
  if (!bias.values.empty()) return float_tensor(bias.shape, bias.values);
  const std::string& source = bias.initializer.empty() ? bias.name : bias.initializer;
  return stored_bias(model_.tensor(*graph_.initializer(source)), bias.params.scales.size(),
                     bias.factor);
}

/// A Relu or Clip goes only where what stands before it writes integers: float readers of a float
/// operator would see what it takes away.
void FormFinder::unfold() {
  std::unordered_set<std::string> clamped;  // values that exist in integers alone
  for (const NodeForm& form : plan_.forms) {
    const auto& node = graph_.node(form.node);
    clamped.insert(node.output().begin(), node.output().end());
  }
  std::vector<FoldedNode> kept;
  for (FoldedNode& folded : plan_.folded) {
    if (clamped.contains(folded.input)) {
      clamped.insert(folded.output);
      kept.push_back(std::move(folded));
      continue;
    }
    const auto& node = graph_.node(folded.node);
    plan_.skipped.push_back(
        {folded.node, node.name(), node.op_type(), "", "its input comes from a float operator"});
    std::erase(plan_.quantized_nodes, folded.node);
  }
  plan_.folded = std::move(kept);
}

/// Takes out the plans that no form needs; indices into the list move along.
void FormFinder::drop_unneeded() {
  std::vector<int> moved(plan_.tensors.size(), -1);
  const auto keep = [&](const std::vector<int>& indices) {
    for (const int index : indices) {
      if (index < 0) continue;
      moved[static_cast<std::size_t>(index)] = 0;
      moved[static_cast<std::size_t>(root(index))] = 0;
    }
  };
  for (const NodeForm& form : plan_.forms) {
    keep(form.inputs);
    keep(form.outputs);
  }
  std::vector<TensorPlan> kept;
  for (std::size_t i = 0; i < moved.size(); ++i) {
    if (moved[i] < 0) continue;
    moved[i] = static_cast<int>(kept.size());
    kept.push_back(std::move(plan_.tensors[i]));
  }
  const auto move = [&](int& index) {
    if (index >= 0) index = moved[static_cast<std::size_t>(index)];
  };
  for (TensorPlan& tensor : kept) move(tensor.provider);
  for (NodeForm& form : plan_.forms) {
    std::ranges::for_each(form.inputs, move);
    std::ranges::for_each(form.outputs, move);
  }
  plan_.tensors = std::move(kept);
}

}  // namespace

Placement with_integer_forms(const Placement& placement) {
  static const std::vector<OpRule> rows = rows_with_forms(placement_for(Preset::Cpu).rules);
  // What has an integer form has a kernel, which gives integers.
  return {.rules = rows,
          .follows_onnxruntime = placement.follows_onnxruntime,
          .corrects_biases = placement.corrects_biases,
          .float_channels = placement.float_channels,
          .float_channels_behind = placement.float_channels_behind,
          .spares_noisy_weights = placement.spares_noisy_weights,
          .joins_mixed_inputs = placement.joins_mixed_inputs};
}

void add_node_forms(const Model& model, QuantPlan& plan) { FormFinder(model, plan).run(); }

}  // namespace qtool
