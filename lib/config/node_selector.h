#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qtool {

/// The nodes of a graph that a list of names and /regular expressions/ means.
class NodeSelector {
 public:
  /// An entry that is the exact name of a node means that node only, even where it is written /like
  /// this/; any other entry written so means every node in whose name the expression is found.
  NodeSelector(std::span<const std::string> entries, std::span<const std::string> node_names);

  bool contains(std::string_view node_name) const { return selected_.contains(node_name); }
  /// Entries that mean no node of the graph, in their order.
  const std::vector<std::string>& unmatched() const { return unmatched_; }

 private:
  std::set<std::string, std::less<>> selected_;
  std::vector<std::string> unmatched_;
};

/// What is wrong with the regular expression in `entry`; empty where it is sound or a plain name.
std::string node_pattern_fault(std::string_view entry);

}  // namespace qtool
