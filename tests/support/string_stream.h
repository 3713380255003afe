#pragma once

#include <algorithm>
#include <cstring>
#include <string>

#include "samples/byte_stream.h"

namespace qtool::testing {

/// A ByteStream over a string, that may claim another size than it has.
class StringStream final : public ByteStream {
 public:
  explicit StringStream(std::string content) : StringStream(content, content.size()) {}
  StringStream(std::string content, std::uint64_t claimed_size)
      : ByteStream("f", claimed_size), content_(std::move(content)) {}

 private:
  std::size_t fetch(std::span<std::byte> out) override {
    const std::size_t count = std::min(out.size(), content_.size() - at_);
    if (count > 0) std::memcpy(out.data(), content_.data() + at_, count);
    at_ += count;
    return count;
  }

  std::string content_;
  std::size_t at_ = 0;
};

}  // namespace qtool::testing
