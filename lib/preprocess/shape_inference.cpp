#include "preprocess/shape_inference.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "base/text.h"
#include "model/graph_view.h"
#include "preprocess/contrib_types.h"
#include "preprocess/value_type.h"

namespace qtool {
namespace {

constexpr int kMaxNotes = 20;

const onnx::ShapeInferenceOptions kOptions(false, 0, true);
const std::unordered_map<std::string, const onnx::SparseTensorProto*> kNoSparseTensors;

/// Hands subgraphs to our walk instead of ONNX's, which knows no operators but its own.
class SubgraphInferencer : public onnx::GraphInferencer {
 public:
  SubgraphInferencer(ShapeInference& inference, onnx::GraphProto& graph)
      : inference_(inference), graph_(graph) {}

  std::vector<const onnx::TypeProto*> doInferencing(
      const std::vector<const onnx::TypeProto*>& input_types,
      const std::vector<const onnx::TensorProto*>&) override {
    return inference_.infer_subgraph(graph_, input_types);
  }

 private:
  ShapeInference& inference_;
  onnx::GraphProto& graph_;
};

class NodeContext : public onnx::shape_inference::InferenceContextImpl {
 public:
  template <typename... Args>
  explicit NodeContext(ShapeInference& inference, onnx::NodeProto& node, Args&&... args)
      : InferenceContextImpl(node, std::forward<Args>(args)...), inference_(inference) {}

  onnx::GraphInferencer* getGraphAttributeInferencer(const std::string& name) override {
    const auto graph = graphProtoAttributesByName_.find(name);
    if (graph == graphProtoAttributesByName_.end())
      fail_type_inference("attribute ", name, " holds no graph");
    auto& inferencer = inferencers_[name];
    if (!inferencer) inferencer = std::make_unique<SubgraphInferencer>(inference_, *graph->second);
    return inferencer.get();
  }

 private:
  ShapeInference& inference_;
  std::unordered_map<std::string, std::unique_ptr<SubgraphInferencer>> inferencers_;
};

/// The first line of a library's message, without its tag.
std::string first_line(std::string_view message) {
  if (message.starts_with('['))
    message.remove_prefix(std::min(message.find(']') + 1, message.size()));
  message = message.substr(0, message.find('\n'));
  while (message.starts_with(' ')) message.remove_prefix(1);
  return printable(message, 300);
}

/// Sizes that rules make of broken attributes are no sizes.
void drop_negative_sizes(onnx::TypeProto& type) {
  if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return;
  for (auto& dim : *type.mutable_tensor_type()->mutable_shape()->mutable_dim()) {
    if (dim.has_dim_value() && dim.dim_value() < 0) dim.Clear();
  }
}

}  // namespace

ShapeInference::ShapeInference(Model& model, std::vector<std::string>& notes, Values values)
    : model_(model), notes_(notes), values_wanted_(values) {
  for (const auto& import : model.proto().opset_import()) {
    opsets_[import.domain()] = static_cast<int>(import.version());
  }
}

void ShapeInference::run() {
  for_each_graph(std::as_const(model_).graph(),
                 [&](const onnx::GraphProto& graph) { symbols_.addFromGraph(graph); });
  visit(model_.graph());
  if (note_count_ > kMaxNotes) {
    notes_.push_back("shapes: " + std::to_string(note_count_ - kMaxNotes) +
                     " more notes of this kind");
  }
}

std::vector<const onnx::TypeProto*> ShapeInference::infer_subgraph(
    onnx::GraphProto& graph, const std::vector<const onnx::TypeProto*>& input_types) {
  const int count = std::min(graph.input_size(), static_cast<int>(input_types.size()));
  for (int i = 0; i < count; ++i) {
    if (input_types[i]) give_type(*graph.mutable_input(i), *input_types[i]);
  }
  visit(graph);
  std::vector<const onnx::TypeProto*> output_types;
  for (const auto& output : graph.output()) output_types.push_back(&output.type());
  return output_types;
}

void ShapeInference::give_type(onnx::ValueInfoProto& input, const onnx::TypeProto& type) {
  if (!is_typed(type)) return;
  correct(input.name(), type, *input.mutable_type(), nullptr);
  onnx::shape_inference::MaterializeSymbolicShape(input.mutable_type(), symbols_);
}

void ShapeInference::visit(onnx::GraphProto& graph) {
  const auto types = types_.mark();
  const auto untyped = untyped_.mark();
  const auto constants = constants_.mark();
  const auto values = values_.mark();
  add_declared(graph);
  add_initializers(graph);
  for (auto& node : *graph.mutable_node()) visit(node, graph);
  values_.roll_back(values);
  constants_.roll_back(constants);
  untyped_.roll_back(untyped);
  types_.roll_back(types);
}

void ShapeInference::add_declared(onnx::GraphProto& graph) {
  const auto add = [&](onnx::ValueInfoProto& value) {
    if (is_typed(value.type())) {
      types_.set(value.name(), value.mutable_type());
    } else {
      untyped_.set(value.name(), &value);
    }
  };
  std::ranges::for_each(*graph.mutable_value_info(), add);
  std::ranges::for_each(*graph.mutable_input(), add);
  std::ranges::for_each(*graph.mutable_output(), add);
}

void ShapeInference::add_initializers(const onnx::GraphProto& graph) {
  std::unordered_set<std::string_view> inputs;
  for (const auto& input : graph.input()) inputs.insert(input.name());
  for (const auto& tensor : graph.initializer()) {
    // The caller may give another value, even of another shape, for an initializer that is an input
    // too.
    if (inputs.contains(tensor.name())) continue;
    auto& type = *own_types_.emplace_back(std::make_unique<onnx::TypeProto>());
    type.mutable_tensor_type()->set_elem_type(tensor.data_type());
    auto& shape = *type.mutable_tensor_type()->mutable_shape();
    for (const std::int64_t size : tensor.dims()) shape.add_dim()->set_dim_value(size);
    types_.set(tensor.name(), &type);
    if (tensor.has_raw_data()) constants_.set(tensor.name(), &tensor);
  }
}

void ShapeInference::visit(onnx::NodeProto& node, onnx::GraphProto& graph) {
  try {
    infer(node, graph);
  } catch (const std::exception& error) {
    // Behind a value of unknown type a rule fails for no reason of its own.
    const auto is_known = [&](const std::string& input) {
      return input.empty() || types_.find(input);
    };
    if (std::ranges::all_of(node.input(), is_known)) {
      note(describe(node) + ": " + first_line(error.what()));
    }
  }
}

void ShapeInference::infer(onnx::NodeProto& node, onnx::GraphProto& graph) {
  const auto opset = opsets_.find(node.domain());
  const onnx::OpSchema* schema =
      opset == opsets_.end()
          ? nullptr
          : onnx::OpSchemaRegistry::Schema(node.op_type(), opset->second, node.domain());
  NodeContext context(*this, node, types_.entries(), constants_.entries(), kNoSparseTensors,
                      kOptions, &values_.entries());
  if (!schema) {
    if (!infer_contrib_types(node.op_type(), context)) {
      if (!guesses_) return;
      guess(context);
    }
  } else if (infer_bodies(node, *schema, context)) {
    // It told all.
  } else if (schema->has_type_and_shape_inference_function()) {
    schema->GetTypeAndShapeInferenceFunction()(context);
  } else if (schema->HasFunction()) {
    onnx::shape_inference::InferShapeForFunctionNode(*schema->GetFunction(),
                                                     onnx::OpSchemaRegistry::Instance(), context,
                                                     kOptions, {}, &symbols_);
  }
  for (int i = 0; i < node.output_size(); ++i) {
    if (!node.output(i).empty()) define(node.output(i), *context.getOutputType(i), graph);
  }
  if (values_wanted_ == Values::Follow && schema && schema->has_data_propagation_function()) {
    propagate_values(*schema, node);
  }
}

void ShapeInference::guess(onnx::InferenceContext& context) {
  if (context.getNumInputs() == 0 || context.getNumOutputs() == 0 || !context.getInputType(0))
    return;
  if (!onnx::hasInputShape(context, 0)) return;
  onnx::propagateElemTypeFromInputToOutput(context, 0, 0);
  onnx::TensorShapeProto shape;
  const int rank = context.getInputType(0)->tensor_type().shape().dim_size();
  for (int axis = 0; axis < rank; ++axis) shape.add_dim();
  onnx::updateOutputShape(context, 0, shape);
}

void ShapeInference::propagate_values(const onnx::OpSchema& schema, onnx::NodeProto& node) {
  for (const auto& output : node.output()) values_.remember(output);
  onnx::shape_inference::DataPropagationContextImpl context(
      node, types_.entries(), constants_.entries(), values_.entries());
  schema.GetDataPropagationFunction()(context);
}

void ShapeInference::define(const std::string& value, onnx::TypeProto& type,
                            onnx::GraphProto& graph) {
  if (!is_typed(type)) return;
  drop_negative_sizes(type);
  onnx::shape_inference::MaterializeSymbolicShape(&type, symbols_);
  if (const auto* declared = types_.find(value)) return correct(value, type, **declared, &graph);
  auto* untyped = untyped_.find(value);
  auto& place = untyped ? **untyped : *graph.add_value_info();
  place.set_name(value);
  *place.mutable_type() = type;
  types_.set(value, place.mutable_type());
}

/// Completes a declared type. Where the two contradict each other the inferred one is right; but
/// what the main graph says of its outputs is said to users, and stays.
void ShapeInference::correct(const std::string& value, const onnx::TypeProto& type,
                             onnx::TypeProto& declared, const onnx::GraphProto* graph) {
  try {
    onnx::shape_inference::mergeShapesAndTypes(type, &declared);
    return;
  } catch (const std::exception& error) {
    note("value '" + printable(value, 200) + "': " + first_line(error.what()));
  }
  const auto is_declared = [&](const onnx::ValueInfoProto& output) {
    return &output.type() == &declared;
  };
  if (graph == &model_.graph() && std::ranges::any_of(graph->output(), is_declared)) {
    types_.set(value, own_types_.emplace_back(std::make_unique<onnx::TypeProto>(type)).get());
  } else {
    declared = type;
  }
}

void ShapeInference::note(const std::string& text) {
  if (is_trial_) return;
  if (++note_count_ <= kMaxNotes) notes_.push_back("shapes: " + text);
}

}  // namespace qtool
