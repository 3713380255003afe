#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "model/tensor.h"

namespace qtool {

/// Brings samples that were read for one model to the names and floating-point types that another
/// one takes.
class Feed {
 public:
  /// `Input` error where `model_inputs` has one that the samples cannot fill; it begins with
  /// `model_name`.
  Feed(std::span<const TensorInfo> sample_inputs, std::span<const TensorInfo> model_inputs,
       const std::string& model_name);
  std::vector<NamedTensor> operator()(std::span<const NamedTensor> sample) const;

 private:
  struct Source {
    std::size_t index;  ///< of the sample's input
    TensorInfo input;
  };
  std::vector<Source> sources_;
};

/// The values of a floating-point tensor in another floating-point type, rounded to nearest even.
Tensor cast_floating(const Tensor& tensor, ElementType type);

}  // namespace qtool
