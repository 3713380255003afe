#include "config/json.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <map>

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace qtool {
namespace {

constexpr std::size_t kMaxDepth = 64;

/// How far the parser has read: it reports no position of its own to the receiver of its events.
struct Cursor {
  const char* at = nullptr;
  int line = 1;
};

/// Walks over the text and counts lines in a cursor that all copies share.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, Cursor* cursor) : at_(at), cursor_(cursor) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    if (*at_ == '\n') ++cursor_->line;
    cursor_->at = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  Cursor* cursor_;
};

/// The text that one parse reads, and the errors that name places in it.
struct Source {
  std::string_view text;
  const std::string& name;
  ErrorKind kind;

  Error error(int line, const std::string& what, const std::string& hint = {}) const {
    return Error(kind, fmt::format("{}:{}: {}", name, line, what), hint);
  }
  int line_of(std::size_t offset) const {
    return 1 + static_cast<int>(std::count(
                   text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
  }
};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-' ||
         c == '+';
}

/// The word around the character before `end`, which may be only as far as the parser came.
std::string word_around(std::string_view text, std::size_t end) {
  std::size_t begin = end - 1;
  if (!is_word(text[begin])) return std::string(text.substr(begin, 1));
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  while (end < text.size() && is_word(text[end])) ++end;
  return std::string(text.substr(begin, end - begin));
}

/// Receives the parser's events and builds the tree.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(const Source& source, const Cursor& cursor) : source_(source), cursor_(cursor) {}

  JsonValue take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value, number_line()); }
  bool number_unsigned(number_unsigned_t value) override {
    if (std::in_range<std::int64_t>(value))
      return add(static_cast<std::int64_t>(value), number_line());
    return add(static_cast<double>(value), number_line());
  }
  bool number_float(number_float_t value, const string_t&) override {
    return add(value, number_line());
  }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(JsonValue::Object{}); }
  bool start_array(std::size_t) override { return open(JsonValue::List{}); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    Frame& frame = frames_.back();
    const auto [before, is_new] = frame.lines.emplace(name, cursor_.line);
    frame.name = name;
    frame.name_line = cursor_.line;
    if (!is_new) {
      throw source_.error(cursor_.line,
                          fmt::format("{}: given twice, first on line {}", path(), before->second),
                          "remove one of the two");
    }
    return true;
  }

  bool parse_error(std::size_t, const std::string& token,
                   const nlohmann::detail::exception& error) override {
    const std::string_view what = error.what();
    const auto says = [&](std::string_view words) {
      return what.find(words) != std::string_view::npos;
    };
    if (error.id == 406) throw source_.error(number_line(), "not JSON: the number is too large");
    if (says("UTF-8")) throw source_.error(cursor_.line, "not JSON: a string is not UTF-8");
    if (says("unexpected end of input") || says("missing closing")) {
      throw source_.error(cursor_.line, "not JSON: unexpected end of the text",
                          "is a bracket, quote or comment not closed?");
    }
    if (says("control character"))
      throw source_.error(number_line(), "not JSON: a string holds a control character");
    const auto read = static_cast<std::size_t>(cursor_.at - source_.text.data());
    // Of a string or number the parser hands over all that there is; it may have read on.
    const bool is_whole = says("unexpected string literal") || says("unexpected number literal");
    const std::string word = is_whole ? token : word_around(source_.text, read);
    throw source_.error(number_line(),
                        fmt::format("not JSON: unexpected '{}'", printable(word, 100)),
                        hint_for(word, read));
  }

 private:
  struct Frame {
    JsonValue value;
    std::string name;  // member that is being read
    int name_line = 0;
    std::map<std::string, int> lines;
  };

  std::string hint_for(const std::string& word, std::size_t read) const {
    if (word == "NaN" || word == "Infinity" || word == "-Infinity")
      return "JSON has only finite numbers";
    if (word == "True" || word == "False" || word == "None") return "write true, false or null";
    if (word == "'") return "write strings in double quotes";
    if (word != "}" && word != "]") return {};
    const std::size_t before = source_.text.substr(0, read - 1).find_last_not_of(" \t\r\n");
    const bool is_trailing_comma = before != std::string_view::npos && source_.text[before] == ',';
    return is_trailing_comma ? "the comma before it does not belong there" : "";
  }

  /// The lexer reads one character past a number to find its end.
  int number_line() const {
    const bool past_newline = cursor_.at > source_.text.data() && cursor_.at[-1] == '\n';
    return past_newline ? cursor_.line - 1 : cursor_.line;
  }

  std::string path() const {
    std::string out;
    for (const Frame& frame : frames_) {
      if (!frame.name.empty()) out += (out.empty() ? "" : ".") + frame.name;
    }
    return out;
  }

  bool add(JsonValue::Data data) { return add(std::move(data), cursor_.line); }
  bool add(JsonValue::Data data, int line) { return add(JsonValue(std::move(data), line)); }
  bool add(JsonValue value) {
    if (frames_.empty()) {
      root_ = std::move(value);
      return true;
    }
    Frame& parent = frames_.back();
    if (auto* list = std::get_if<JsonValue::List>(&parent.value.data)) {
      list->push_back(std::move(value));
    } else {
      std::get<JsonValue::Object>(parent.value.data)
          .push_back({parent.name, std::move(value), parent.name_line});
    }
    return true;
  }

  bool open(JsonValue::Data data) {
    if (frames_.size() == kMaxDepth)
      throw source_.error(cursor_.line, fmt::format("nested more than {} deep", kMaxDepth));
    frames_.push_back({JsonValue(std::move(data), cursor_.line), {}, 0, {}});
    return true;
  }

  bool close() {
    JsonValue value = std::move(frames_.back().value);
    frames_.pop_back();
    return add(std::move(value));
  }

  const Source& source_;
  const Cursor& cursor_;
  std::vector<Frame> frames_;
  JsonValue root_;
};

nlohmann::ordered_json to_nlohmann(const JsonValue& value);

struct Converter {
  nlohmann::ordered_json operator()(double number) const {
    // Whole numbers are written as people write them.
    if (number == std::floor(number) && std::abs(number) < 1e15)
      return static_cast<std::int64_t>(number);
    return number;
  }
  nlohmann::ordered_json operator()(const JsonValue::List& list) const {
    auto out = nlohmann::ordered_json::array();
    for (const JsonValue& value : list) out.push_back(to_nlohmann(value));
    return out;
  }
  nlohmann::ordered_json operator()(const JsonValue::Object& object) const {
    auto out = nlohmann::ordered_json::object();
    for (const JsonMember& member : object) out[member.name] = to_nlohmann(member.value);
    return out;
  }
  template <typename T>
  nlohmann::ordered_json operator()(const T& scalar) const {
    return scalar;
  }
};

nlohmann::ordered_json to_nlohmann(const JsonValue& value) {
  return std::visit(Converter{}, value.data);
}

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const {
  const Object* object = as<Object>();
  if (object == nullptr) return nullptr;
  for (const JsonMember& member : *object) {
    if (member.name == name) return &member.value;
  }
  return nullptr;
}

std::string to_json_text(const JsonValue& value) {
  return to_nlohmann(value).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string to_compact_json(const JsonValue& value) {
  return to_nlohmann(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string found_text(const JsonValue& value) {
  if (value.as<JsonValue::List>() != nullptr) return "a list";
  if (value.as<JsonValue::Object>() != nullptr) return "an object";
  if (const std::string* text = value.as<std::string>())
    return fmt::format("'{}'", printable(*text, 200));
  return to_compact_json(value);
}

JsonValue parse_json(std::string_view text, const std::string& name, ErrorKind kind) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const Source source{text, name, kind};
  // The parser takes a NUL for the end of the text and would be content with what came before.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    throw source.error(source.line_of(nul), "not JSON: holds a NUL byte", "save the file as UTF-8");
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw Error(kind, name + ": is empty, expected a JSON object");
  }
  Cursor cursor{text.data(), 1};
  TreeBuilder builder(source, cursor);
  const CountingIterator begin(text.data(), &cursor), end(text.data() + text.size(), &cursor);
  nlohmann::json::sax_parse(begin, end, &builder, nlohmann::json::input_format_t::json,
                            /*strict=*/true, /*ignore_comments=*/true);
  return builder.take();
}

}  // namespace qtool
