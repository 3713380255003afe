#include <string>

#include "catch.h"
#include "report/document.h"

namespace qtool {
namespace {

TEST_CASE("text: facts, tables and lines are aligned under their titles", "[report]") {
  const Document document = {"not shown",
                             {{"", Facts{{"a", "1"}, {"longer", "2"}}},
                              {"table", Table{{{"name"}, {"count", true}, {"why"}},
                                              {{"conv", "12", "because"}, {"été", "3", ""}}}},
                              {"lines", Lines{"one", "two"}}}};
  CHECK(to_text(document) ==
        "  a       1\n"
        "  longer  2\n"
        "\n"
        "table\n"
        "  name  count  why\n"
        "  conv     12  because\n"
        "  été       3\n"
        "\n"
        "lines\n"
        "  one\n"
        "  two\n");
}

TEST_CASE("text: what is a detail stays out", "[report]") {
  CHECK(to_text({"", {{"nodes", Lines{"n1"}, true}, {"", Lines{"kept"}}}}) == "  kept\n");
}

TEST_CASE("text: control characters of names do not reach the terminal", "[report]") {
  CHECK(to_text({"", {{"", Facts{{"name", "\x1b[2Jghost"}}}}}) == "  name  \\x1b[2Jghost\n");
}

TEST_CASE("text: long names in tables are cut in the middle", "[report]") {
  const std::string name = std::string(80, 'a') + std::string(80, 'b');
  const std::string text = to_text({"", {{"", Table{{{"name"}}, {{name}}}}}});
  CHECK(text == "  name\n  " + std::string(50, 'a') + "…" + std::string(50, 'b') + "\n");
}

}  // namespace
}  // namespace qtool
