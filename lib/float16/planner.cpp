#include "float16/planner.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "config/node_selector.h"
#include "float16/block_reasons.h"
#include "float16/bodies.h"
#include "float16/type_groups.h"

namespace qtool {
namespace {

/// So many bytes of the mapped file may be resident before its pages are given back.
constexpr std::size_t kResidentBytes = std::size_t{8} << 20;

/// Operators that only move values: between nodes in float32 they stay there too, since to convert
/// them would cost two casts and digits. Sorted.
constexpr auto kMovers = std::to_array<std::string_view>(
    {"Concat", "DepthToSpace", "Expand", "Flatten", "Gather", "GatherElements", "GatherND",
     "Identity", "Pad", "Reshape", "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose",
     "Unsqueeze"});
static_assert(std::ranges::is_sorted(kMovers), "keep kMovers sorted");

/// Operators for which ONNX Runtime has no kernel that makes 16-bit floats, and whose inputs give
/// it no cause to cast, or which it expands to others with float32 among them. Sorted.
constexpr auto kMadeInFloat = std::to_array<std::string_view>(
    {"Bernoulli", "BlackmanWindow", "EyeLike", "HammingWindow", "HannWindow",
     "MeanVarianceNormalization", "MelWeightMatrix", "RandomNormal", "RandomNormalLike",
     "RandomUniform", "RandomUniformLike"});
static_assert(std::ranges::is_sorted(kMadeInFloat), "keep kMadeInFloat sorted");

bool is_one_of(const IndexedNode& node, std::span<const std::string_view> sorted) {
  return is_default_domain(node.proto->domain()) &&
         std::ranges::binary_search(sorted, std::string_view(node.proto->op_type()));
}

/// Why a node cannot work with 16-bit floats although its schema takes them; empty where it can.
std::string lack_of(const IndexedNode& node) {
  if (is_one_of(node, kMadeInFloat)) return "ONNX Runtime makes no 16-bit floats by it";
  if (node.is("BitCast")) return "it reads the bits of its input";
  if (node.proto->domain() == "ai.onnx.ml") return "its attributes are float32";
  const bool scatters = node.is("ScatterElements") || node.is("ScatterND");
  if (scatters && string_attribute(*node.proto, "reduction", "none") != "none")
    return "ONNX Runtime reduces no 16-bit floats by it";
  return "";
}

std::string display_name(const onnx::NodeProto& node) {
  if (!node.name().empty()) return node.name();
  for (const auto& output : node.output())
    if (!output.empty()) return output;
  return "";
}

class Builder {
 public:
  Builder(const Model& model, const Float16Config& config, const std::set<int>& kept)
      : model_(model), config_(config), kept_(kept), index_(model) {
    plan_.narrowing = narrowing_of(config);
  }

  Float16Plan run();

 private:
  static Narrowing narrowing_of(const Float16Config& config);
  std::size_t at(int number) const { return static_cast<std::size_t>(number); }
  bool is_float(int value) const { return value >= 0 && index_.value(value).is_float(); }
  PlannedValue& planned(int value) { return plan_.values[at(value)]; }

  void infer_types();
  void infer_group(const IndexedNode& node, const TypeGroup& group);
  void size_up();
  void set_boundary();
  bool keeps_type(const std::string& name) const;
  void plan_node(int number);
  void plan_bodies(int number);
  void plan_groups(int number);
  bool plan_special(int number);
  void leave_movers();
  bool is_between_floats(int number) const;
  void settle_homes();
  Form wanted_at_output(int graph, int value) const;
  void count_wants();
  void settle_flexible();
  void list_left();
  std::string reason_of_groups(int number) const;
  ClampedValues clamped_in(std::span<const std::byte> bytes) const;
  void check_weights();

  const Model& model_;
  const Float16Config& config_;
  const std::set<int>& kept_;
  ModelIndex index_;
  Float16Plan plan_;
  std::vector<NodeTypes> types_;
  std::vector<std::string> reasons_;
  std::vector<bool> is_flexible_;  ///< per value: its node makes either type
};

/// The limits of the defaults are float16's own; bfloat16 has float32's range.
Narrowing Builder::narrowing_of(const Float16Config& config) {
  const Float16Config defaults;
  Narrowing out{ElementType::Float16, config.min_positive_val, config.max_finite_val};
  if (config.type != "bfloat16") return out;
  out.type = ElementType::BFloat16;
  if (config.min_positive_val == defaults.min_positive_val) out.min_positive = 0;
  if (config.max_finite_val == defaults.max_finite_val) out.max_finite = 0;
  return out;
}

/// A value that nobody knows has the type of its group.
void Builder::infer_group(const IndexedNode& node, const TypeGroup& group) {
  std::vector<int> members;
  for (const int slot : group.inputs) members.push_back(node.inputs[at(slot)]);
  for (const int slot : group.outputs) members.push_back(node.outputs[at(slot)]);
  std::erase(members, -1);
  const bool is_float_group =
      std::ranges::any_of(members, [&](int value) { return is_float(value); });
  if (!is_float_group) return;
  for (const int value : members)
    if (index_.value(value).kind == IndexedValue::Kind::Unknown)
      index_.set_type(value, ElementType::Float);
}

void Builder::infer_types() {
  for (const IndexedNode& node : index_.nodes()) {
    types_.push_back(types_of_node(*node.proto, model_, plan_.narrowing.type));
    if (has_linked_bodies(node)) continue;
    for (const TypeGroup& group : types_.back().groups) infer_group(node, group);
  }
}

void Builder::size_up() {
  plan_.values.resize(index_.values().size());
  is_flexible_.resize(index_.values().size());
  for (std::size_t i = 0; i < plan_.values.size(); ++i) {
    const IndexedValue& value = index_.values()[i];
    plan_.values[i].name = value.name;
    plan_.values[i].is_constant = value.is_float() && value.is_constant && !value.is_input;
    if (plan_.values[i].is_constant) is_flexible_[i] = true;
  }
  for (const IndexedNode& node : index_.nodes()) {
    PlannedNode& planned = plan_.nodes.emplace_back();
    planned.inputs.assign(node.inputs.size(), Form::Untouched);
    planned.outputs.assign(node.outputs.size(), Form::Untouched);
  }
  for (const IndexedGraph& graph : index_.graphs())
    plan_.graph_outputs.emplace_back(graph.outputs.size(), Form::Untouched);
}

bool Builder::keeps_type(const std::string& name) const {
  const KeptIoTypes& kept = config_.keep_io_types;
  return kept.all || std::ranges::find(kept.names, name) != kept.names.end();
}

/// The inputs and outputs of the model.
void Builder::set_boundary() {
  const IndexedGraph& graph = index_.graphs().front();
  for (const int value : graph.inputs) {
    if (is_float(value))
      planned(value).home = keeps_type(index_.value(value).name) ? Form::Float : Form::Short;
  }
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const int value = graph.outputs[i];
    if (!is_float(value)) continue;
    Form& form = plan_.graph_outputs.front()[i];
    form = keeps_type(index_.value(value).name) ? Form::Float : Form::Short;
    // One name cannot have two types.
    if (index_.value(value).is_input && index_.value(value).graph == 0) form = planned(value).home;
  }
}

/// Nodes whose types follow from an attribute or from who reads them. True where that is all.
bool Builder::plan_special(int number) {
  const IndexedNode& node = index_.node(number);
  PlannedNode& planned_node = plan_.nodes[at(number)];
  const bool is_blocked = !reasons_[at(number)].empty();
  if (node.is("Constant") || node.is("ConstantOfShape")) {
    if (!node.outputs.empty() && is_float(node.outputs[0])) {
      planned_node.outputs[0] = Form::Float;
      is_flexible_[at(node.outputs[0])] = !is_blocked;
    }
    return true;
  }
  if (node.is("Shape") || node.is("Size")) {
    if (is_float(node.inputs[0])) planned_node.inputs[0] = Form::Either;
    return true;
  }
  if (!node.is("Cast")) return false;
  const int from = node.inputs[0], to = node.outputs[0];
  if (is_float(from) && is_float(to)) return false;
  if (is_float(from)) planned_node.inputs[0] = is_blocked ? Form::Float : Form::Either;
  if (!is_float(to)) return true;
  planned_node.outputs[0] = Form::Float;
  is_flexible_[at(to)] = !is_blocked;
  const IndexedValue& source = index_.value(from);
  planned(to).is_widened_short = source.kind == IndexedValue::Kind::Tensor &&
                                 source.type == plan_.narrowing.type && !index_.value(to).is_output;
  return true;
}

/// Values that go into a body and come out of it have one type on both sides.
void Builder::plan_bodies(int number) {
  const IndexedNode& node = index_.node(number);
  const Form form = reasons_[at(number)].empty() ? Form::Short : Form::Float;
  for (const BodyLink& link : body_links(index_, node)) {
    const auto place_value = [&](const BodyLink::Place& place, bool is_input) {
      const IndexedGraph& graph = index_.graphs()[at(place.graph)];
      const auto& list = is_input ? graph.inputs : graph.outputs;
      return at(place.index) < list.size() ? list[at(place.index)] : -1;
    };
    const auto set_form = [&](Form& slot, int value) {
      if (is_float(value)) slot = form;
    };
    if (link.input >= 0 && at(link.input) < node.inputs.size())
      set_form(plan_.nodes[at(number)].inputs[at(link.input)], node.inputs[at(link.input)]);
    if (link.output >= 0)
      set_form(plan_.nodes[at(number)].outputs[at(link.output)], node.outputs[at(link.output)]);
    for (const auto& place : link.body_inputs) {
      const int value = place_value(place, true);
      if (value >= 0) set_form(planned(value).home, value);
    }
    for (const auto& place : link.body_outputs) {
      const int value = place_value(place, false);
      if (value >= 0) set_form(plan_.graph_outputs[at(place.graph)][at(place.index)], value);
    }
  }
}

void Builder::plan_groups(int number) {
  const IndexedNode& node = index_.node(number);
  PlannedNode& planned_node = plan_.nodes[at(number)];
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (is_float(node.inputs[i])) planned_node.inputs[i] = Form::Float;
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    if (is_float(node.outputs[i])) planned_node.outputs[i] = Form::Float;
  if (!reasons_[at(number)].empty() || !lack_of(node).empty()) return;
  for (const TypeGroup& group : types_[at(number)].groups) {
    if (!group.takes_target) continue;
    for (const int slot : group.inputs)
      if (is_float(node.inputs[at(slot)])) planned_node.inputs[at(slot)] = Form::Short;
    for (const int slot : group.outputs)
      if (is_float(node.outputs[at(slot)])) planned_node.outputs[at(slot)] = Form::Short;
  }
}

void Builder::plan_node(int number) {
  const IndexedNode& node = index_.node(number);
  if (has_linked_bodies(node)) return plan_bodies(number);
  // What is made inside such a body is as it was; so is what goes in and out.
  for (const int body : node.bodies) {
    const IndexedGraph& graph = index_.graphs()[at(body)];
    for (const int value : graph.inputs)
      if (is_float(value)) planned(value).home = Form::Float;
    for (std::size_t i = 0; i < graph.outputs.size(); ++i)
      if (is_float(graph.outputs[i])) plan_.graph_outputs[at(body)][i] = Form::Float;
  }
  if (!plan_special(number)) plan_groups(number);
}

Form Builder::wanted_at_output(int graph, int value) const {
  const auto& outputs = index_.graphs()[at(graph)].outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i] == value) return plan_.graph_outputs[at(graph)][i];
  return Form::Untouched;
}

/// Whether a node that only moves values does so from float32 to float32.
bool Builder::is_between_floats(int number) const {
  const IndexedNode& node = index_.node(number);
  bool any = false;
  for (const int input : node.inputs) {
    if (!is_float(input) || is_flexible_[at(input)]) continue;
    if (plan_.values[at(input)].home != Form::Float) return false;
    any = true;
  }
  if (!any) return false;
  for (const int output : node.outputs) {
    if (!is_float(output)) continue;
    for (const auto& use : index_.value(output).uses) {
      const Form form = plan_.nodes[at(use.node)].inputs[at(use.slot)];
      if (form == Form::Short) return false;
    }
    if (wanted_at_output(index_.value(output).graph, output) == Form::Short) return false;
  }
  return true;
}

/// The largest set of such nodes: all are supposed to be in it until one is found not to be.
void Builder::leave_movers() {
  std::vector<int> movers;
  const auto set_forms = [&](int number, Form form) {
    const IndexedNode& node = index_.node(number);
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (is_float(node.inputs[i])) plan_.nodes[at(number)].inputs[i] = form;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (!is_float(node.outputs[i])) continue;
      plan_.nodes[at(number)].outputs[i] = form;
      planned(node.outputs[i]).home = form;
    }
  };
  for (int i = 0; i < static_cast<int>(index_.nodes().size()); ++i) {
    const auto& outputs = plan_.nodes[at(i)].outputs;
    if (!is_one_of(index_.node(i), kMovers) || outputs.empty() || outputs[0] != Form::Short)
      continue;
    movers.push_back(i);
    set_forms(i, Form::Float);
  }
  const auto is_dropped = [&](int number) {
    if (is_between_floats(number)) return false;
    set_forms(number, Form::Short);
    return true;
  };
  // Forth and back: what is no longer there was known to be between nodes on both sides.
  for (std::size_t before = movers.size() + 1; before != movers.size();) {
    before = movers.size();
    std::erase_if(movers, is_dropped);
    std::ranges::reverse(movers);
    std::erase_if(movers, is_dropped);
    std::ranges::reverse(movers);
  }
  for (const int number : movers) reasons_[at(number)] = "it stands between nodes in float32";
}

void Builder::settle_homes() {
  for (std::size_t i = 0; i < plan_.nodes.size(); ++i) {
    const auto& outputs = index_.nodes()[i].outputs;
    for (std::size_t j = 0; j < outputs.size(); ++j)
      if (is_float(outputs[j])) planned(outputs[j]).home = plan_.nodes[i].outputs[j];
  }
}

void Builder::count_wants() {
  const auto want = [&](int value, Form form) {
    if (value < 0) return;
    planned(value).wants_float |= form == Form::Float;
    planned(value).wants_short |= form == Form::Short;
  };
  for (std::size_t i = 0; i < plan_.nodes.size(); ++i) {
    const auto& inputs = index_.nodes()[i].inputs;
    for (std::size_t j = 0; j < inputs.size(); ++j) want(inputs[j], plan_.nodes[i].inputs[j]);
  }
  for (std::size_t i = 0; i < plan_.graph_outputs.size(); ++i) {
    const auto& outputs = index_.graphs()[i].outputs;
    for (std::size_t j = 0; j < outputs.size(); ++j) want(outputs[j], plan_.graph_outputs[i][j]);
  }
}

/// What can be made in either type is made in the one that is wanted; in float32 where both are.
void Builder::settle_flexible() {
  for (std::size_t i = 0; i < plan_.values.size(); ++i) {
    PlannedValue& value = plan_.values[i];
    if (!is_flexible_[i]) continue;
    value.home = value.wants_short && !value.wants_float ? Form::Short : Form::Float;
    const int producer = index_.values()[i].producer;
    if (producer < 0) continue;
    const auto& outputs = index_.node(producer).outputs;
    for (std::size_t j = 0; j < outputs.size(); ++j)
      if (outputs[j] == static_cast<int>(i)) plan_.nodes[at(producer)].outputs[j] = value.home;
  }
}

std::string Builder::reason_of_groups(int number) const {
  const IndexedNode& node = index_.node(number);
  if (std::string lack = lack_of(node); !lack.empty()) return lack;
  if (!types_[at(number)].is_known) return "the operator is not known";
  const std::int64_t opset = model_.opset();
  return fmt::format("the operator takes no {} in opset {}",
                     element_type_name(plan_.narrowing.type), opset);
}

void Builder::list_left() {
  for (int i = 0; i < static_cast<int>(plan_.nodes.size()); ++i) {
    const PlannedNode& planned_node = plan_.nodes[at(i)];
    const auto has = [&](Form form) {
      return std::ranges::find(planned_node.inputs, form) != planned_node.inputs.end() ||
             std::ranges::find(planned_node.outputs, form) != planned_node.outputs.end();
    };
    if (index_.node(i).is("Constant")) continue;
    if (has(Form::Short)) {
      ++plan_.short_nodes;
    } else if (has(Form::Float)) {
      const onnx::NodeProto& node = *index_.node(i).proto;
      std::string reason = reasons_[at(i)];
      if (reason.empty() && (index_.node(i).is("Cast") || index_.node(i).is("ConstantOfShape")))
        reason = "its readers take float32";
      plan_.left.push_back({display_name(node), node.op_type(),
                            reason.empty() ? reason_of_groups(i) : std::move(reason)});
    }
  }
  for (const PlannedValue& value : plan_.values) {
    if (value.home == Form::Untouched || value.is_constant || value.is_widened_short) continue;
    plan_.casts_added += value.home == Form::Short ? value.wants_float : value.wants_short;
  }
}

/// The float32 numbers that a node says in an attribute and that are no value's `constant`.
std::vector<float> numbers_of(const onnx::NodeProto& node) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == "value_float") return {attribute.f()};
    if (attribute.name() == "value_floats")
      return {attribute.floats().begin(), attribute.floats().end()};
  }
  return {};
}

/// Counts piece by piece, so that little of a mapped file is in memory at a time.
ClampedValues Builder::clamped_in(std::span<const std::byte> bytes) const {
  ClampedValues sum;
  while (!bytes.empty()) {
    throw_if_interrupted();
    const auto piece = bytes.first(std::min(bytes.size(), kResidentBytes));
    bytes = bytes.subspan(piece.size());
    const ClampedValues found = clamped_values(piece, plan_.narrowing);
    sum.above += found.above;
    sum.below += found.below;
    sum.largest = std::max(sum.largest, found.largest);
    if (piece.size() < kResidentBytes) break;
    for (const auto& data : model_.data_files()) data.file->release_pages();
  }
  return sum;
}

/// Looks for values that the short type does not have.
void Builder::check_weights() {
  std::size_t resident = 0;
  for (std::size_t i = 0; i < plan_.values.size(); ++i) {
    const IndexedValue& value = index_.values()[i];
    const bool is_short = plan_.values[i].home == Form::Short || plan_.values[i].wants_short;
    if (!value.is_float() || !is_short || !value.is_constant) continue;
    std::vector<float> numbers;
    if (value.producer >= 0) numbers = numbers_of(*index_.node(value.producer).proto);
    const auto bytes = value.constant != nullptr ? model_.tensor_bytes(*value.constant)
                                                 : std::as_bytes(std::span(numbers));
    const ClampedValues found = clamped_in(bytes);
    if (found.above + found.below > 0) plan_.clamped.push_back({value.name, found});
    resident += bytes.size();
    if (resident < kResidentBytes) continue;
    resident = 0;
    for (const auto& data : model_.data_files()) data.file->release_pages();
  }
}

Float16Plan Builder::run() {
  infer_types();
  size_up();
  reasons_ = block_reasons(index_, config_, kept_);
  set_boundary();
  for (int i = 0; i < static_cast<int>(index_.nodes().size()); ++i) plan_node(i);
  settle_homes();
  leave_movers();
  count_wants();
  settle_flexible();
  list_left();
  check_weights();
  return std::move(plan_);
}

}  // namespace

std::vector<std::string> default_op_block_list() { return {"CumSum", "RoiAlign"}; }

Float16Plan plan_float16(const Model& model, const Float16Config& config,
                         const std::set<int>& kept) {
  return Builder(model, config, kept).run();
}

std::vector<int> convertible_nodes(const ModelIndex& index, const Float16Plan& plan) {
  std::vector<int> found;
  for (int i = 0; i < static_cast<int>(index.nodes().size()); ++i) {
    const PlannedNode& node = plan.nodes[static_cast<std::size_t>(i)];
    const bool is_short = std::ranges::find(node.inputs, Form::Short) != node.inputs.end() ||
                          std::ranges::find(node.outputs, Form::Short) != node.outputs.end();
    if (is_short && index.node(i).bodies.empty() && !index.node(i).is("Constant"))
      found.push_back(i);
  }
  return found;
}

}  // namespace qtool
