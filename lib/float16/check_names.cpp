#include "float16/check_names.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "config/node_selector.h"
#include "float16/block_reasons.h"
#include "float16/model_index.h"

namespace qtool {
namespace {

std::vector<std::string> boundary_names(const onnx::GraphProto& graph) {
  std::vector<std::string> names;
  for (const auto* list : {&graph.input(), &graph.output()})
    for (const auto& value : *list) names.push_back(value.name());
  return names;
}

void refuse_unknown(const char* key, const std::string& entry, const std::string& what,
                    const std::vector<std::string>& known) {
  const std::string near = nearest_name(entry, known);
  throw Error(ErrorKind::Usage, fmt::format("float16.{}: '{}' is {}", key, entry, what),
              near.empty() ? "" : "did you mean '" + near + "'?");
}

}  // namespace

void check_float16_names(const Model& model, const Float16Config& config) {
  const std::vector<std::string> boundary = boundary_names(model.graph());
  for (const std::string& name : config.keep_io_types.names) {
    if (std::ranges::find(boundary, name) == boundary.end())
      refuse_unknown("keep_io_types", name, "no input or output of the model", boundary);
  }
  const std::vector<std::string> names = names_of_nodes(ModelIndex(model));
  const NodeSelector selector(config.node_block_list, names);
  for (const std::string& entry : selector.unmatched())
    refuse_unknown("node_block_list", entry, "no node of the model", names);
}

}  // namespace qtool
