#include "model/wire.h"

#include <string_view>

#include "catch.h"

using namespace qtool;
using namespace std::string_view_literals;

namespace {

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

bool is_broken(std::string_view text) {
  WireReader reader(bytes(text));
  while (reader.next()) {
  }
  return reader.is_broken();
}

}  // namespace

TEST_CASE("wire: fields of all kinds are read in turn", "[model]") {
  WireReader reader(
      bytes("\x08\x96\x01\x12\x02hi\x1D"
            "abcd\x21"
            "abcdefgh"sv));
  const auto number = reader.next();
  REQUIRE(number);
  CHECK(number->number == 1);
  CHECK(number->value == 150);
  const auto text = reader.next();
  REQUIRE(text);
  CHECK(text->number == 2);
  CHECK(text->payload.size() == 2);
  CHECK(text->whole.size() == 4);
  CHECK(reader.next()->type == WireField::Type::Fixed32);
  CHECK(reader.next()->type == WireField::Type::Fixed64);
  CHECK_FALSE(reader.next());
  CHECK_FALSE(reader.is_broken());
}

TEST_CASE("wire: nothing is read past the end", "[model]") {
  CHECK(is_broken("\x08"sv));
  CHECK(is_broken("\x08\x96"sv));
  CHECK(is_broken("\x12\x05hi"sv));
  CHECK(is_broken("\x12\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01hi"sv));
  CHECK(
      is_broken("\x1D"
                "abc"sv));
  CHECK(
      is_broken("\x21"
                "abcdefg"sv));
}

TEST_CASE("wire: what protobuf never writes is broken", "[model]") {
  CHECK(is_broken("\x00\x01"sv));                                      // field number 0
  CHECK(is_broken("\x0B\x0C"sv));                                      // a group
  CHECK(is_broken("\x0E\x01"sv));                                      // wire type 6
  CHECK(is_broken("\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F"sv));  // more than 64 bits
  CHECK_FALSE(is_broken("\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"sv));
}

TEST_CASE("wire: the rest after a broken field starts with it", "[model]") {
  WireReader reader(bytes("\x08\x01\x12\x05hi"sv));
  CHECK(reader.next());
  CHECK_FALSE(reader.next());
  CHECK(reader.rest().size() == 4);
}

TEST_CASE("wire: numbers are written as they are read", "[model]") {
  for (const std::uint64_t value : {0ull, 1ull, 127ull, 128ull, 300ull, 1ull << 35, ~0ull}) {
    std::string out = "\x08";
    append_varint(out, value);
    CHECK(out.size() == 1 + varint_bytes(value));
    CHECK(WireReader(bytes(out)).next()->value == value);
  }
  std::string head;
  append_bytes_head(head, 16, 3);
  CHECK(head == "\x82\x01\x03");
}
