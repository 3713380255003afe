#include "report/kernels.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <utility>

#include "base/text.h"
#include "report/figures.h"

namespace qtool {
namespace {

using Counts = std::vector<std::pair<std::string, std::size_t>>;

Counts most_frequent_first(const std::map<std::string, std::size_t>& kernels) {
  Counts out(kernels.begin(), kernels.end());
  std::ranges::stable_sort(out, std::greater(), &Counts::value_type::second);
  return out;
}

struct FloatGroup {
  std::string op_type, reason;
  std::vector<std::string> names;
};

std::vector<FloatGroup> float_groups(const KernelForecast& forecast) {
  std::map<std::pair<std::string, std::string>, FloatGroup> groups;
  for (const NodeKernel& node : forecast.nodes) {
    if (!node.kernel.empty()) continue;
    FloatGroup& group = groups[{node.op_type, node.reason}];
    group.op_type = node.op_type;
    group.reason = node.reason;
    group.names.push_back(node.node_name);
  }
  std::vector<FloatGroup> out;
  for (auto& [key, group] : groups) out.push_back(std::move(group));
  std::ranges::stable_sort(out, std::greater(),
                           [](const FloatGroup& group) { return group.names.size(); });
  return out;
}

JsonValue group_json(const FloatGroup& group) {
  return JsonObject()
      .add("op_type", group.op_type)
      .add("reason", group.reason)
      .add("names", group.names)
      .take();
}

JsonValue node_json(const NodeKernel& node) {
  JsonObject object;
  object.add("name", node.node_name).add("op_type", node.op_type);
  return node.kernel.empty() ? object.add("reason", node.reason).take()
                             : object.add("kernel", node.kernel).take();
}

}  // namespace

std::string kernels_text(const KernelForecast& forecast) {
  if (forecast.nodes.empty()) return "";
  std::vector<std::string> words;
  for (const auto& [kernel, count] : most_frequent_first(forecast.integer_kernels))
    words.push_back(fmt::format("{} {}", count, kernel));
  const std::string integers = words.empty() ? "none" : join(words);
  return forecast.float_nodes == 0
             ? integers
             : fmt::format("{}; {} in float", integers, count_text(forecast.float_nodes, "node"));
}

std::vector<Section> kernel_sections(const KernelForecast& forecast, std::size_t limit) {
  const auto groups = float_groups(forecast);
  if (groups.empty()) return {};
  Table table{{{"nodes", true}, {"operator"}, {"why"}}, {}};
  std::size_t rest = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i < limit) {
      table.rows.push_back(
          {std::to_string(groups[i].names.size()), groups[i].op_type, groups[i].reason});
    } else {
      rest += groups[i].names.size();
    }
  }
  if (rest > 0) table.rows.push_back({std::to_string(rest), "", "for other reasons"});
  return {{"float kernels in ONNX Runtime", std::move(table)}};
}

JsonValue to_json(const KernelForecast& forecast) {
  JsonObject integers;
  for (const auto& [kernel, count] : forecast.integer_kernels) integers.add(kernel, count);
  return JsonObject()
      .add("integer", integers.take())
      .add("float_nodes", forecast.float_nodes)
      .add("float", json_list(float_groups(forecast), group_json))
      .take();
}

JsonValue kernel_nodes_json(const KernelForecast& forecast) {
  return json_list(forecast.nodes, node_json);
}

}  // namespace qtool
