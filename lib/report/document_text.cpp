#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/text.h"
#include "report/document.h"

namespace qtool {
namespace {

constexpr std::size_t kCellBytes = 100;
constexpr std::string_view kIndent = "  ";
constexpr std::string_view kGap = "  ";

/// Characters of valid UTF-8, as far as each takes one place on the screen.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t width, bool to_the_right) {
  const std::string fill(width - std::min(width, width_of(text)), ' ');
  return to_the_right ? fill + text : text + fill;
}

using Grid = std::vector<std::vector<std::string>>;  // rows of one length

std::string aligned(const Grid& grid, const std::vector<bool>& is_numeric) {
  std::vector<std::size_t> widths(is_numeric.size());
  for (const auto& row : grid) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string out;
  for (const auto& row : grid) {
    std::string line(kIndent);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += kGap;
      line += padded(row[i], widths[i], is_numeric[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

struct Renderer {
  std::string operator()(const Facts& facts) const {
    Grid grid;
    for (const auto& [name, value] : facts) grid.push_back({name, printable(value.text)});
    return aligned(grid, {false, false});
  }

  std::string operator()(const Table& table) const {
    Grid grid(1);
    std::vector<bool> is_numeric;
    for (const Column& column : table.columns) {
      grid[0].push_back(column.title);
      is_numeric.push_back(column.is_numeric);
    }
    for (const auto& row : table.rows) {
      grid.emplace_back();
      for (const Cell& cell : row) grid.back().push_back(printable(cell.text, kCellBytes));
    }
    return aligned(grid, is_numeric);
  }

  std::string operator()(const Lines& lines) const {
    std::string out;
    for (const Cell& line : lines) out += std::string(kIndent) + printable(line.text) + "\n";
    return out;
  }
};

}  // namespace

std::string to_text(const Document& document) {
  std::string out;
  for (const Section& section : document.sections) {
    if (section.is_detail) continue;
    if (!out.empty()) out += "\n";
    if (!section.title.empty()) out += section.title + "\n";
    out += std::visit(Renderer{}, section.content);
  }
  return out;
}

}  // namespace qtool
