#include "samples/npy_header.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "base/error.h"
#include "base/text.h"

namespace qtool {
namespace {

// NumPy writes a few hundred bytes; only structures, which no model takes, need more than version 1
// can hold.
constexpr std::size_t kHeaderLimit = 65535;
constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::string_view kSpace = " \t\r\n";

/// Reads the few Python literals that a header is made of.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  NpyHeader parse() {
    expect('{');
    while (!accept('}')) {
      parse_entry();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (skip_space() != text_.size() || seen_.size() != 3) refuse();
    return header_;
  }

 private:
  [[noreturn]] void refuse() const {
    throw Error(ErrorKind::Input,
                where_ + ": broken .npy header '" + printable(text_, 200) +
                    "', expected a dictionary of 'descr', 'fortran_order' and 'shape'");
  }

  std::size_t skip_space() {
    while (at_ < text_.size() && kSpace.find(text_[at_]) != std::string_view::npos) ++at_;
    return at_;
  }

  bool accept(char c) {
    if (skip_space() == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) refuse();
  }

  bool accept_word(std::string_view word) {
    if (!text_.substr(skip_space()).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  std::string parse_string() {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') expect('\'');
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) refuse();
    std::string out(text_.substr(at_, end - at_));
    at_ = end + 1;
    return out;
  }

  void parse_entry() {
    const std::string key = parse_string();
    expect(':');
    if (seen_.find(key.substr(0, 1)) != std::string::npos) refuse();
    if (key == "descr") {
      parse_dtype();
    } else if (key == "fortran_order") {
      header_.is_fortran_order = accept_word("True");
      if (!header_.is_fortran_order && !accept_word("False")) refuse();
    } else if (key == "shape") {
      parse_shape();
    } else {
      refuse();
    }
    seen_ += key[0];
  }

  void parse_shape() {
    expect('(');
    while (!accept(')')) {
      header_.shape.push_back(parse_dim());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
  }

  std::int64_t parse_dim() {
    skip_space();
    std::int64_t dim = 0;
    const char* const first = text_.data() + at_;
    const auto [end, failure] = std::from_chars(first, text_.data() + text_.size(), dim);
    if (failure == std::errc::invalid_argument) refuse();
    const std::string_view digits(first, static_cast<std::size_t>(end - first));
    if (failure != std::errc() || dim < 0) {
      throw Error(ErrorKind::Input, where_ + ": impossible size " + std::string(digits) +
                                        " in the shape of the .npy header");
    }
    at_ += digits.size();
    accept('L');  // Python 2 wrote its long integers so
    return dim;
  }

  void parse_dtype() {
    if (accept('[')) refuse_dtype("a structure");
    header_.dtype = parse_string();
    std::string_view rest = header_.dtype;
    if (rest.find_first_of("<>|=") == 0) {
      header_.is_big_endian = rest[0] == '>';
      rest.remove_prefix(1);
    }
    if (rest.empty()) refuse_dtype("nothing");
    header_.kind = rest[0];
    rest.remove_prefix(1);
    const char* const last = rest.data() + rest.size();
    const auto [end, failure] = std::from_chars(rest.data(), last, header_.element_bytes);
    const bool is_number = failure == std::errc() && end == last;
    if (header_.kind == 'O') refuse_dtype("Python objects");
    if (!is_number || !is_supported()) refuse_dtype({});
  }

  bool is_supported() const {
    const std::size_t bytes = header_.element_bytes;
    switch (header_.kind) {
      case 'b':
        return bytes == 1;
      case 'i':
      case 'u':
        return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
      case 'f':
        return bytes == 2 || bytes == 4 || bytes == 8;
      case 'c':
        return bytes == 8 || bytes == 16;
      case 'V':
        return bytes == 1 || bytes == 2;
      default:
        return false;
    }
  }

  [[noreturn]] void refuse_dtype(std::string_view meaning) const {
    std::string found = meaning.empty() ? "'" + header_.dtype + "'" : std::string(meaning);
    throw Error(ErrorKind::Input,
                where_ + ": dtype is " + printable(found, 200) + ", expected numbers or bool");
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t at_ = 0;
  NpyHeader header_;
  std::string seen_;  // first letters of the keys
};

std::uint32_t little_endian(std::span<const std::byte> bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) {
    value = value << 8 | std::to_integer<std::uint32_t>(bytes[i - 1]);
  }
  return value;
}

/// The length field behind magic and version: 2 bytes in version 1, 4 since.
std::size_t read_header_length(ByteStream& stream) {
  std::array<std::byte, 8> start{};
  if (stream.remaining() < 10) {
    throw Error(ErrorKind::Input, stream.where() + ": is not an .npy file: has " +
                                      std::to_string(stream.remaining()) + " bytes");
  }
  stream.read(start);
  if (std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0) {
    throw Error(ErrorKind::Input,
                stream.where() + ": is not an .npy file, expected it to start with \\x93NUMPY");
  }
  const auto version = std::to_integer<int>(start[6]);
  if (version < 1 || version > 3 || start[7] != std::byte{0}) {
    throw Error(ErrorKind::Input, stream.where() + ": is .npy version " + std::to_string(version) +
                                      "." + std::to_string(std::to_integer<int>(start[7])) +
                                      ", expected 1.0, 2.0 or 3.0");
  }
  std::array<std::byte, 4> length{};
  const auto field = std::span(length).first(version == 1 ? 2 : 4);
  stream.read(field);
  return little_endian(field);
}

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const std::string& where) {
  return HeaderParser(text, where).parse();
}

NpyHeader read_npy_header(ByteStream& stream) {
  const std::size_t length = read_header_length(stream);
  if (length > kHeaderLimit || length > stream.remaining()) {
    throw Error(ErrorKind::Input,
                stream.where() + ": .npy header of " + std::to_string(length) +
                    " bytes, expected at most " +
                    std::to_string(std::min<std::uint64_t>(kHeaderLimit, stream.remaining())));
  }
  std::string text(length, '\0');
  stream.read(std::as_writable_bytes(std::span(text)));
  return parse_npy_header(text, stream.where());
}

}  // namespace qtool
