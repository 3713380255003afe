#include "model/repair.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <onnx/defs/schema.h>

#include "base/error.h"
#include "model/graph_view.h"
#include "model/messages.h"
#include "model/model.h"
#include "model/node_walk.h"
#include "model/order.h"
#include "model/retired_forms.h"

namespace qtool {
namespace {

/// The first IR version in which initializers need not be graph inputs.
constexpr std::int64_t kFreeInitializersIr = 4;

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::Input, where + ": " + what);
}

template <typename Message, typename IsUnwanted>
void remove_if(google::protobuf::RepeatedPtrField<Message>& list, const IsUnwanted& is_unwanted) {
  list.erase(std::remove_if(list.begin(), list.end(), is_unwanted), list.end());
}

using Imports = google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>;

void unite_imports(Imports& imports, const std::string& where) {
  std::map<std::string, std::int64_t> versions;
  for (auto& import : imports) {
    if (import.domain() == "ai.onnx") import.set_domain("");
    const auto [at, is_new] = versions.emplace(import.domain(), import.version());
    if (!is_new && at->second != import.version()) {
      refuse(where, "opset_import of domain " + in_quotes(import.domain()) +
                        " is there twice, with versions " + std::to_string(at->second) + " and " +
                        std::to_string(import.version()));
    }
  }
  std::set<std::string> seen;
  remove_if(imports, [&](const auto& import) { return !seen.insert(import.domain()).second; });
}

/// Versions of the domains that this build of ONNX knows: oldest and newest.
const auto& known_versions() {
  return onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
}

void check_imports(const Imports& imports, const std::string& where) {
  for (const auto& import : imports) {
    const auto known = known_versions().find(import.domain());
    if (known == known_versions().end()) continue;
    const auto [oldest, newest] = known->second;
    if (import.version() >= oldest && import.version() <= newest) continue;
    const std::string domain =
        import.domain().empty() ? "" : " of domain " + in_quotes(import.domain());
    refuse(where, "opset version " + std::to_string(import.version()) + domain +
                      " is unknown, expected " + std::to_string(oldest) + " to " +
                      std::to_string(newest));
  }
}

void import_runtime_domains(onnx::ModelProto& model) {
  std::set<std::string> missing;
  for_each_graph(std::as_const(model).graph(), [&](const onnx::GraphProto& graph) {
    for (const auto& node : graph.node()) {
      if (node.domain() == "com.microsoft" || node.domain() == "ai.onnx.ml")
        missing.insert(node.domain());
    }
  });
  for (const auto& import : model.opset_import()) missing.erase(import.domain());
  for (const std::string& domain : missing) {
    auto& import = *model.add_opset_import();
    import.set_domain(domain);
    const auto known = known_versions().find(domain);
    import.set_version(known == known_versions().end() ? 1 : known->second.second);
  }
}

void unite_domains(onnx::ModelProto& model, const std::string& where) {
  for_each_node(model, [](onnx::NodeProto& node) {
    if (node.domain() == "ai.onnx") node.clear_domain();
  });
  unite_imports(*model.mutable_opset_import(), where);
  for (auto& function : *model.mutable_functions()) {
    unite_imports(*function.mutable_opset_import(), where);
  }
}

void check_ir_version(const onnx::ModelProto& model, const std::string& where) {
  constexpr auto kNewest = static_cast<std::int64_t>(onnx::Version::IR_VERSION);
  if (model.ir_version() < 1 || model.ir_version() > kNewest) {
    refuse(where, (model.has_ir_version() ? "ir_version " + std::to_string(model.ir_version())
                                          : "no ir_version") +
                      ", expected 1 to " + std::to_string(kNewest));
  }
}

void check_opsets(const onnx::ModelProto& model, const std::string& where) {
  if (model.opset_import().empty() && model.ir_version() >= 3)
    refuse(where, "has no opset_import, expected at least one");
  check_imports(model.opset_import(), where);
  for (const auto& function : model.functions()) {
    check_imports(function.opset_import(), where + ": function " + in_quotes(function.name()));
  }
}

void free_initializers(onnx::GraphProto& graph) {
  std::unordered_set<std::string_view> initializers;
  for (const auto& tensor : graph.initializer()) initializers.insert(tensor.name());
  remove_if(*graph.mutable_input(),
            [&](const auto& input) { return initializers.contains(input.name()); });
}

void raise_ir_version(onnx::ModelProto& model) {
  if (model.ir_version() >= kFreeInitializersIr) return;
  if (model.opset_import().empty()) model.add_opset_import()->set_version(1);
  for_each_graph(*model.mutable_graph(), free_initializers);
  model.set_ir_version(kFreeInitializersIr);
}

/// Of nodes with one name, the later get another.
void name_nodes_apart(onnx::GraphProto& graph) {
  std::unordered_set<std::string> seen;
  std::optional<NameAllocator> names;
  for (auto& node : *graph.mutable_node()) {
    if (node.name().empty() || seen.insert(node.name()).second) continue;
    if (!names) names.emplace(graph);
    node.set_name(names->unique(node.name()));
  }
}

/// ONNX Runtime refuses value_info of a type that is none; nobody needs it.
void remove_senseless_info(onnx::GraphProto& graph) {
  remove_if(*graph.mutable_value_info(), [](const onnx::ValueInfoProto& value) {
    return value.type().has_tensor_type() &&
           !is_known(static_cast<ElementType>(value.type().tensor_type().elem_type()));
  });
}

void unite_metadata(onnx::ModelProto& model) {
  auto& entries = *model.mutable_metadata_props();
  std::set<std::string> seen;
  std::reverse(entries.pointer_begin(), entries.pointer_end());
  remove_if(entries, [&](const auto& entry) { return !seen.insert(entry.key()).second; });
  std::reverse(entries.pointer_begin(), entries.pointer_end());
}

}  // namespace

void repair_model(onnx::ModelProto& model, const std::string& where) {
  check_ir_version(model, where);
  unite_domains(model, where);
  check_opsets(model, where);
  order_nodes(model, where);
  raise_ir_version(model);
  replace_retired_forms(model);
  import_runtime_domains(model);
  unite_metadata(model);
  for_each_graph(*model.mutable_graph(), [](onnx::GraphProto& graph) {
    if (graph.name().empty()) graph.set_name("graph");
    name_nodes_apart(graph);
    remove_senseless_info(graph);
  });
}

}  // namespace qtool
