#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "model/tensor.h"
#include "verify/comparison.h"

namespace qtool {

/// Distance between two tensors of one sample.
struct SampleDistance {
  bool comparable = false;   ///< same shape, both numbers; nothing else counts otherwise
  bool is_discrete = false;  ///< the reference is integer or bool
  std::uint64_t value_count = 0;
  std::uint64_t equal_count = 0;  ///< only where `is_discrete`
  std::uint64_t nonfinite = 0;
  double cosine = 1;
  double reference_squares = 0;
  double error_squares = 0;  ///< infinite where `nonfinite` is not 0; so are the next two
  double error_sum = 0;
  double max_error = 0;
};

/// Whether tensors of `type` can be compared: strings and complex numbers cannot.
bool is_number(ElementType type);

SampleDistance measure_distance(const Tensor& reference, const Tensor& other);

/// Adds up one output's distances, sample by sample.
class DistanceTally {
 public:
  explicit DistanceTally(std::string output_name);
  void add(const std::string& sample_name, const SampleDistance& distance);
  TensorDistance result() const;

 private:
  TensorDistance sum_;
  std::size_t cosine_count_ = 0;
  double cosine_sum_ = 0;
  double reference_squares_ = 0;
  double error_squares_ = 0;
  double error_sum_ = 0;
  std::uint64_t equal_count_ = 0;
  bool is_discrete_ = false;
};

}  // namespace qtool
