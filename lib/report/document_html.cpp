#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <variant>

#include "base/text.h"
#include "report/document.h"

namespace qtool {
namespace {

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --ink: #1c2430; --paper: #fff; --soft: #5b6675; --line: #dfe4ea;
  --fill: #e4edf9; --good: #11713d; --bad: #b3261e; --bad-fill: #fde8e6; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e8ef; --paper: #14181e; --soft: #98a3b3;
  --line: #2b323c; --fill: #213247; --good: #5cc98b; --bad: #ff8a80; --bad-fill: #3d1f1d; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 60rem; margin: 2.5rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.45rem; margin: 0 0 1.5rem; overflow-wrap: anywhere; }
h2, summary { font-size: 1.05rem; font-weight: 600; margin: 2rem 0 .5rem; }
summary { cursor: pointer; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .35rem .9rem .35rem 0;
  border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
th { font-weight: 500; color: var(--soft); }
tbody th { width: 14rem; }
.n { text-align: right; white-space: nowrap; }
.good { color: var(--good); }
.bad { color: var(--bad); font-weight: 600; }
p { margin: .25rem 0; overflow-wrap: anywhere; }
.bar { display: block; height: .35rem; margin-top: .2rem; border-radius: .2rem; background: var(--fill); }
.bar i { display: block; height: 100%; border-radius: .2rem; background: currentColor; opacity: .55; }
)css";

/// Text that shows as it is inside an element or a quoted attribute.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string_view tone_class(Tone tone) {
  switch (tone) {
    case Tone::Good:
      return "good";
    case Tone::Bad:
      return "bad";
    case Tone::Plain:
      break;
  }
  return "";
}

std::string element(std::string_view tag, std::string_view classes, std::string_view content) {
  if (classes.empty()) return fmt::format("<{0}>{1}</{0}>", tag, content);
  return fmt::format("<{0} class=\"{1}\">{2}</{0}>", tag, classes, content);
}

std::string table_cell(const Cell& cell, bool is_numeric) {
  std::string classes(is_numeric ? "n" : "");
  if (cell.tone != Tone::Plain) {
    classes += std::string(classes.empty() ? "" : " ") + std::string(tone_class(cell.tone));
  }
  std::string content = escaped(cell.text);
  if (cell.bar) {
    content += fmt::format("<span class=\"bar\"><i style=\"width:{:.1f}%\"></i></span>",
                           100 * std::clamp(*cell.bar, 0.0, 1.0));
  }
  return element("td", classes, content);
}

struct Renderer {
  std::string operator()(const Facts& facts) const {
    std::string rows;
    for (const auto& [name, value] : facts) {
      rows += "<tr>" + element("th", "", escaped(name)) + table_cell(value, false) + "</tr>\n";
    }
    return "<table><tbody>\n" + rows + "</tbody></table>\n";
  }

  std::string operator()(const Table& table) const {
    std::string head, rows;
    for (const Column& column : table.columns) {
      head += element("th", column.is_numeric ? "n" : "", escaped(column.title));
    }
    for (const auto& row : table.rows) {
      rows += "<tr>";
      for (std::size_t i = 0; i < row.size(); ++i) {
        rows += table_cell(row[i], table.columns[i].is_numeric);
      }
      rows += "</tr>\n";
    }
    return "<table>\n<thead><tr>" + head + "</tr></thead>\n<tbody>\n" + rows +
           "</tbody>\n</table>\n";
  }

  std::string operator()(const Lines& lines) const {
    std::string out;
    for (const Cell& line : lines) {
      out += element("p", tone_class(line.tone), escaped(line.text)) + "\n";
    }
    return out;
  }
};

std::string render(const Section& section) {
  const std::string content = std::visit(Renderer{}, section.content);
  if (section.is_detail) {
    return "<details>\n<summary>" + escaped(section.title) + "</summary>\n" + content +
           "</details>\n";
  }
  return (section.title.empty() ? "" : element("h2", "", escaped(section.title)) + "\n") + content;
}

}  // namespace

std::string to_html(const Document& document) {
  std::string body = element("h1", "", escaped(document.title)) + "\n";
  for (const Section& section : document.sections) body += render(section);
  // The policy makes a browser refuse whatever an escape could have missed.
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n"
      "<meta name=\"viewport\" "
      "content=\"width=device-width\">\n<title>{}</title>\n<style>{}</style>\n"
      "</head>\n<body>\n{}</body>\n</html>\n",
      escaped(document.title), kStyle, body);
}

}  // namespace qtool
