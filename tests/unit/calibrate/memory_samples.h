#pragma once

#include <string>
#include <utility>
#include <vector>

#include "samples/samples.h"
#include "tensor_builder.h"

namespace qtool {

/// Samples of `x` in memory.
class MemorySamples : public SampleFolder {
 public:
  explicit MemorySamples(std::vector<Tensor> tensors) : tensors_(std::move(tensors)) {}
  std::size_t size() const override { return tensors_.size(); }
  const std::string& name(std::size_t) const override { return name_; }
  Sample read(std::size_t index) const override {
    return {.name = "s_" + std::to_string(index),
            .inputs = {{"x", tensors_[index]}},
            .expected_outputs = {}};
  }
  std::string sha256() const override { return {}; }
  std::string sha256_of(std::size_t) const override { return {}; }
  std::uint64_t bytes(std::size_t) const override { return 0; }

 private:
  std::vector<Tensor> tensors_;
  std::string name_;
};

inline Tensor row(const std::vector<float>& values) {
  return testing::float_tensor({static_cast<std::int64_t>(values.size())}, values);
}

}  // namespace qtool
