#include <string>

#include "catch.h"
#include "report/document.h"

namespace qtool {
namespace {

Document page(Section section) { return {"title", {std::move(section)}}; }

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("html: names from strangers show as text, never as markup", "[report]") {
  const std::string html =
      to_html({"<title>", {{"a & b", Table{{{"\"x\""}}, {{"<script>alert('1')</script>"}}}}}});
  CHECK(holds(html, "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"));
  CHECK(holds(html, "<h1>&lt;title&gt;</h1>"));
  CHECK(holds(html, "<h2>a &amp; b</h2>"));
  CHECK(holds(html, "<th>&quot;x&quot;</th>"));
  CHECK_FALSE(holds(html, "<script"));
}

TEST_CASE("html: control characters and broken UTF-8 are written out", "[report]") {
  const std::string html = to_html(page({"", Lines{std::string("a\x1b[2J\xff\0b", 8)}}));
  CHECK(holds(html, "<p>a\\x1b[2J\\xff\\x00b</p>"));
}

TEST_CASE("html: a page needs nothing from elsewhere and runs nothing", "[report]") {
  const std::string html = to_html(page({"", Facts{{"a", "b"}}}));
  for (const std::string part :
       {"http://", "https://", "<script", "<link", "<img", "url(", "@import"}) {
    CHECK_FALSE(holds(html, part));
  }
  CHECK(holds(html, "content=\"default-src 'none'; style-src 'unsafe-inline'\""));
  CHECK(html.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
  CHECK(html.ends_with("</body>\n</html>\n"));
}

TEST_CASE("html: numbers stand to the right, verdicts and bars are marked", "[report]") {
  Cell bar("28 %");
  bar.bar = 0.28;
  const std::string html =
      to_html(page({"gates", Table{{{"name"}, {"value", true}, {""}},
                                   {{"size", bar, Cell("met", Tone::Good)}}}}));
  CHECK(holds(html, "<th>name</th><th class=\"n\">value</th>"));
  CHECK(holds(html,
              "<td class=\"n\">28 %<span class=\"bar\"><i style=\"width:28.0%\"></i></span></td>"));
  CHECK(holds(html, "<td class=\"good\">met</td>"));
}

TEST_CASE("html: a detail is folded up", "[report]") {
  const std::string html = to_html(page({"nodes", Lines{"n1"}, true}));
  CHECK(holds(html, "<details>\n<summary>nodes</summary>\n<p>n1</p>\n</details>\n"));
}

}  // namespace
}  // namespace qtool
