#pragma once

#include <span>
#include <vector>

#include "model/tensor.h"

namespace qtool {

/// The values of a tensor as float32: its own where it has such, else widened once and kept here.
/// The tensor outlives this.
class WideValues {
 public:
  explicit WideValues(const Tensor& tensor) : tensor_(tensor) {
    if (tensor.type != ElementType::Float) widened_ = to_float32(tensor);
  }
  std::span<const float> get() const {
    return tensor_.type == ElementType::Float ? tensor_.floats() : std::span<const float>(widened_);
  }

 private:
  const Tensor& tensor_;
  std::vector<float> widened_;
};

}  // namespace qtool
