#include "report/left_in_float.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <utility>

#include "report/figures.h"
#include "report/json_object.h"

namespace qtool {
namespace {

using Groups = std::map<std::pair<std::string, std::string>, LeftGroup>;

void add(Groups& groups, const Skipped& skipped, std::string name) {
  LeftGroup& group = groups[{skipped.op_type, skipped.reason}];
  group.op_type = skipped.op_type;
  group.reason = skipped.reason;
  group.names.push_back(std::move(name));
}

std::vector<LeftGroup> largest_first(Groups groups) {
  std::vector<LeftGroup> out;
  for (auto& [key, group] : groups) out.push_back(std::move(group));
  std::ranges::stable_sort(out, std::greater(),
                           [](const LeftGroup& group) { return group.names.size(); });
  return out;
}

void add_section(std::vector<Section>& out, const std::string& noun,
                 std::span<const LeftGroup> groups, std::size_t limit) {
  if (groups.empty()) return;
  Table table{{{noun + "s", true}, {"operator"}, {"why"}}, {}};
  for (const LeftGroup& group : groups.first(std::min(limit, groups.size()))) {
    table.rows.push_back({std::to_string(group.names.size()), group.op_type, group.reason});
  }
  std::size_t rest = 0;
  for (std::size_t i = limit; i < groups.size(); ++i) rest += groups[i].names.size();
  if (rest > 0) table.rows.push_back({std::to_string(rest), "", "for other reasons, see --report"});
  out.push_back({noun + "s left in float", std::move(table)});
}

void add_detail(std::vector<Section>& out, const std::string& noun,
                std::span<const LeftGroup> groups) {
  if (groups.empty()) return;
  Table table{{{noun}, {"operator"}, {"why"}}, {}};
  for (const LeftGroup& group : groups) {
    for (const std::string& name : group.names) {
      table.rows.push_back({name, group.op_type, group.reason});
    }
  }
  out.push_back({"every " + noun + " left in float", std::move(table), true});
}

JsonValue group_json(const LeftGroup& group) {
  return JsonObject()
      .add("op_type", group.op_type)
      .add("reason", group.reason)
      .add("names", group.names)
      .take();
}

}  // namespace

LeftInFloat group_left(std::span<const Skipped> skipped) {
  Groups nodes, tensors;
  for (const Skipped& each : skipped) {
    if (!each.tensor.empty()) {
      add(tensors, each, each.tensor);
    } else {
      add(nodes, each, each.node_name.empty() ? fmt::format("#{}", each.node) : each.node_name);
    }
  }
  return {largest_first(std::move(nodes)), largest_first(std::move(tensors))};
}

std::vector<Section> left_sections(const LeftInFloat& left, std::size_t limit) {
  std::vector<Section> out;
  add_section(out, "node", left.nodes, limit);
  add_section(out, "tensor", left.tensors, limit);
  return out;
}

std::vector<Section> left_details(const LeftInFloat& left) {
  std::vector<Section> out;
  add_detail(out, "node", left.nodes);
  add_detail(out, "tensor", left.tensors);
  return out;
}

JsonValue to_json(const LeftInFloat& left) {
  return JsonObject()
      .add("nodes", json_list(left.nodes, group_json))
      .add("tensors", json_list(left.tensors, group_json))
      .take();
}

JsonValue node_counts_json(const PlanOutcome& outcome) {
  return JsonObject()
      .add("quantized", outcome.quantized_nodes)
      .add("folded", outcome.folded_nodes)
      .add("float", outcome.float_nodes)
      .take();
}

}  // namespace qtool
