#include "config/node_selector.h"

#include "catch.h"

namespace qtool {
namespace {

const std::vector<std::string> kNodes = {"conv1", "conv2", "/block/conv", "/block/", "head", ""};

NodeSelector select(const std::vector<std::string>& entries) { return {entries, kNodes}; }

TEST_CASE("node selector: a name means one node", "[config]") {
  const NodeSelector selector = select({"conv1", "head"});
  CHECK(selector.contains("conv1"));
  CHECK(selector.contains("head"));
  CHECK_FALSE(selector.contains("conv2"));
  CHECK_FALSE(selector.contains(""));
  CHECK(selector.unmatched().empty());
}

TEST_CASE("node selector: an expression means every node in whose name it is found", "[config]") {
  const NodeSelector selector = select({"/^conv[0-9]$/"});
  CHECK(selector.contains("conv1"));
  CHECK(selector.contains("conv2"));
  CHECK_FALSE(selector.contains("/block/conv"));
  CHECK(select({"/conv/"}).contains("/block/conv"));
}

TEST_CASE("node selector: an exact name wins over an expression", "[config]") {
  const NodeSelector selector = select({"/block/"});
  CHECK(selector.contains("/block/"));
  CHECK_FALSE(selector.contains("/block/conv"));
}

TEST_CASE("node selector: entries that mean no node are told in their order", "[config]") {
  CHECK(select({"zzz", "conv1", "/^x/", "aaa"}).unmatched() ==
        std::vector<std::string>{"zzz", "/^x/", "aaa"});
}

TEST_CASE("node selector: slashes alone are a name", "[config]") {
  CHECK(select({"//"}).unmatched() == std::vector<std::string>{"//"});
  CHECK(node_pattern_fault("//").empty());
}

TEST_CASE("node selector: an expression that would backtrack ends at once", "[config]") {
  const std::vector<std::string> names = {std::string(5000, 'a') + "!"};
  const std::vector<std::string> entries = {"/(a+)+$/", "/(a|aa)+$/", "/(a*)*b/"};
  CHECK(NodeSelector(entries, names).unmatched() == entries);
}

TEST_CASE("node selector: a fault in an expression is told, in a name there is none", "[config]") {
  CHECK(node_pattern_fault("/mm[/") == "missing ]: [");
  CHECK(node_pattern_fault("/(mm/") == "missing ): (mm");
  CHECK(node_pattern_fault("/*mm/") == "no argument for repetition operator: *");
  CHECK(node_pattern_fault("/mm{3,1}/") == "invalid repetition size: {3,1}");
  CHECK(node_pattern_fault("/mm\\/") == "trailing \\");
  CHECK(node_pattern_fault("/((a{100}){100}){10}/") == "invalid repetition size: {100}");
  CHECK(node_pattern_fault("/a.*b/").empty());
  CHECK(node_pattern_fault("mm[").empty());
}

}  // namespace
}  // namespace qtool
