#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace qtool {

/// How a value is to be taken; HTML shows it by colour.
enum class Tone { Plain, Good, Bad };

/// A value as text. Built from words of ours and from names in models and files, which may hold
/// anything: the renderers make them safe.
struct Cell {
  Cell(std::string words, Tone how = Tone::Plain) : text(std::move(words)), tone(how) {}
  Cell(const char* words) : text(words) {}

  std::string text;
  Tone tone = Tone::Plain;
  std::optional<double> bar;  ///< a share of 1 that HTML draws behind the value
};

struct Column {
  std::string title;
  bool is_numeric = false;  ///< aligned to the right
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  ///< each as long as `columns`
};

/// Names and values, one pair a line.
using Facts = std::vector<std::pair<std::string, Cell>>;

/// Sentences, one a line.
using Lines = std::vector<Cell>;

struct Section {
  std::string title;  ///< may be empty
  std::variant<Facts, Table, Lines> content;
  bool is_detail = false;  ///< too long for a terminal: HTML only, folded up
};

/// A report before it has a form: text and HTML are two renderings of it.
struct Document {
  std::string title;
  std::vector<Section> sections;
};

/// Plain text for a terminal or a log, without the title.
std::string to_text(const Document& document);

/// One self-contained page: no script, nothing from elsewhere.
std::string to_html(const Document& document);

}  // namespace qtool
