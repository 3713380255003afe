#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "preprocess/graph_editor.h"

namespace qtool {

/// Makes the nodes and constants that attentions written as operators need beside them. What all
/// attentions of a graph may share is made once.
class AttentionNodes {
 public:
  using Integers = std::vector<std::int64_t>;

  explicit AttentionNodes(GraphEditor& graph) : graph_(graph) {}

  /// A node right before node `before`; its output.
  std::string add(int before, const std::string& op_type, const std::vector<std::string>& inputs,
                  const std::string& wanted) {
    return graph_.node(graph_.add_node(before, op_type, inputs, wanted)).output(0);
  }
  /// The same, or the one that was made of these inputs earlier.
  std::string add_once(int before, const std::string& op_type,
                       const std::vector<std::string>& inputs, const std::string& wanted);
  std::string integers(const Integers& values);
  std::string number(double value, ElementType type);
  /// What was made earlier by the name of `key`; empty, and to be set, where nothing was.
  std::string& made(const std::string& key) { return made_[key]; }

 private:
  GraphEditor& graph_;
  std::map<std::string, std::string> made_;
  std::map<Integers, std::string> integers_;
};

}  // namespace qtool
