#include "verify/distance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "kernels/error_norms.h"

namespace qtool {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_discrete(ElementType type) {
  switch (type) {
    case ElementType::Bool:
    case ElementType::UInt4:
    case ElementType::Int4:
    case ElementType::UInt8:
    case ElementType::Int8:
    case ElementType::UInt16:
    case ElementType::Int16:
    case ElementType::UInt32:
    case ElementType::Int32:
    case ElementType::UInt64:
    case ElementType::Int64:
      return true;
    default:
      return false;
  }
}

/// Squares of larger values do not fit a float64 sum: they count as infinite.
bool is_measurable(double value) { return std::abs(value) <= 1e150; }

bool is_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

double cosine_of(const kernels::ErrorNorms& norms) {
  if (norms.error_squares == 0) return 1;
  if (norms.reference_squares == 0 || norms.other_squares == 0) return 0;
  const double lengths = std::sqrt(norms.reference_squares) * std::sqrt(norms.other_squares);
  return std::clamp(norms.dot / lengths, -1.0, 1.0);
}

void fill(SampleDistance& out, const kernels::ErrorNorms& norms) {
  out.cosine = cosine_of(norms);
  out.reference_squares = norms.reference_squares;
  out.error_squares = norms.error_squares;
  out.error_sum = norms.error_sum;
  out.max_error = norms.max_error;
}

/// For tensors with values that no sum can hold: pairs of them that are the same are left out,
/// others make the error infinite.
void fill_from_measurable(SampleDistance& out, std::span<const double> reference,
                          std::span<const double> other) {
  std::vector<double> a, b;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    if (is_measurable(reference[i]) && is_measurable(other[i])) {
      a.push_back(reference[i]);
      b.push_back(other[i]);
    } else if (!is_same(reference[i], other[i])) {
      ++out.nonfinite;
    }
  }
  fill(out, kernels::error_norms(a, b));
  if (out.nonfinite == 0) return;
  out.cosine = 0;
  out.error_squares = out.error_sum = out.max_error = kInfinity;
}

bool is_finite(const kernels::ErrorNorms& norms) {
  return std::isfinite(norms.reference_squares) && std::isfinite(norms.other_squares) &&
         std::isfinite(norms.error_squares) && std::isfinite(norms.dot);
}

double decibels(double signal, double error) {
  if (error == 0) return kInfinity;
  return 10 * std::log10(signal / error);
}

}  // namespace

bool is_number(ElementType type) {
  return type != ElementType::Undefined && type != ElementType::String &&
         type != ElementType::Complex64 && type != ElementType::Complex128;
}

SampleDistance measure_distance(const Tensor& reference, const Tensor& other) {
  SampleDistance out;
  if (reference.shape != other.shape || !is_number(reference.type) || !is_number(other.type)) {
    return out;
  }
  out.comparable = true;
  out.is_discrete = is_discrete(reference.type);
  out.value_count = reference.element_count();
  if (reference.type == ElementType::Float && other.type == ElementType::Float) {
    const auto norms = kernels::error_norms(reference.floats(), other.floats());
    if (is_finite(norms)) {
      fill(out, norms);
      return out;
    }
  }
  const std::vector<double> a = to_float64(reference), b = to_float64(other);
  if (out.is_discrete) {
    for (std::size_t i = 0; i < a.size(); ++i) out.equal_count += a[i] == b[i] ? 1 : 0;
  }
  const auto norms = kernels::error_norms(std::span(a), std::span(b));
  if (is_finite(norms)) {
    fill(out, norms);
  } else {
    fill_from_measurable(out, a, b);
  }
  return out;
}

DistanceTally::DistanceTally(std::string output_name) { sum_.name = std::move(output_name); }

void DistanceTally::add(const std::string& sample_name, const SampleDistance& distance) {
  if (!distance.comparable) {
    ++sum_.skipped;
    return;
  }
  ++sum_.sample_count;
  is_discrete_ = distance.is_discrete;
  if (distance.value_count == 0) return;
  if (distance.cosine < sum_.cosine_min) {
    sum_.cosine_min = distance.cosine;
    sum_.worst_sample = sample_name;
  }
  ++cosine_count_;
  cosine_sum_ += distance.cosine;
  sum_.value_count += distance.value_count;
  sum_.nonfinite += distance.nonfinite;
  sum_.max_abs_error = std::max(sum_.max_abs_error, distance.max_error);
  reference_squares_ += distance.reference_squares;
  error_squares_ += distance.error_squares;
  error_sum_ += distance.error_sum;
  equal_count_ += distance.equal_count;
}

TensorDistance DistanceTally::result() const {
  TensorDistance out = sum_;
  if (cosine_count_ > 0) out.cosine_mean = cosine_sum_ / static_cast<double>(cosine_count_);
  out.sqnr_db = decibels(reference_squares_, error_squares_);
  if (out.value_count > 0) {
    const auto count = static_cast<double>(out.value_count);
    out.mean_abs_error = error_sum_ / count;
    if (is_discrete_) out.equal_share = static_cast<double>(equal_count_) / count;
  }
  return out;
}

}  // namespace qtool
