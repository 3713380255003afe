#include "samples/fit.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "base/error.h"
#include "samples/cast.h"
#include "samples/finite.h"

namespace qtool {
namespace {

bool dims_fit(std::span<const std::int64_t> shape, std::span<const std::int64_t> known) {
  return std::ranges::equal(shape, known, [](std::int64_t dim, std::int64_t wanted) {
    return wanted < 0 || dim == wanted;
  });
}

/// The shape that a value of `shape` takes as `input`: its own, or with a batch axis of 1 in front
/// where just that is missing. Nothing where it does not fit what the model says.
std::optional<std::vector<std::int64_t>> fitted_shape(std::span<const std::int64_t> shape,
                                                      const TensorInfo& input) {
  std::vector<std::int64_t> out(shape.begin(), shape.end());
  if (!input.has_shape || dims_fit(out, input.shape)) return out;
  out.insert(out.begin(), 1);
  if (dims_fit(out, input.shape)) return out;
  return std::nullopt;
}

/// Bytes other than 0 and 1 are true for NumPy, and nothing at all for a kernel.
void make_zero_or_one(Tensor& tensor) {
  for (std::byte& byte : tensor.bytes) byte = byte == std::byte{0} ? byte : std::byte{1};
}

void require_finite(const Tensor& tensor, const TensorInfo& input, const std::string& where) {
  const auto index = find_nonfinite(tensor);
  if (!index) return;
  std::string found = "not finite";
  if (tensor.type != ElementType::Complex64 && tensor.type != ElementType::Complex128) {
    found = fmt::format("{}", to_float64(tensor)[*index]);
  }
  throw Error(ErrorKind::Input,
              fmt::format("{}: value {} of input '{}' is {}, expected finite values", where, *index,
                          input.name, found),
              "--allow-nonfinite takes samples as they are");
}

/// Finite values that became infinite as float32.
void require_no_overflow(const Tensor& before, const Tensor& after, const TensorInfo& input,
                         const std::string& where) {
  const auto index = find_nonfinite(after);
  if (!index) return;
  throw Error(
      ErrorKind::Input,
      fmt::format("{}: value {} of input '{}' is {:g}, beyond the range of {}", where, *index,
                  input.name, to_float64(before)[*index], element_type_name(after.type)));
}

}  // namespace

void require_fit(ElementType type, std::span<const std::int64_t> shape, const TensorInfo& input,
                 const std::string& where) {
  if (input.type == ElementType::String) {
    throw Error(ErrorKind::Input,
                where + ": input '" + input.name + "' takes strings, which samples cannot hold");
  }
  const bool type_fits = input.type == ElementType::Undefined || is_accepted(type, input.type);
  if (type_fits && fitted_shape(shape, input)) return;
  throw Error(ErrorKind::Input,
              where + ": input '" + input.name + "': found " + element_type_name(type) +
                  " of shape " + describe_shape(shape) + ", expected " + describe(input),
              type_fits ? "" : "only casts without loss are made, and float64 to float32");
}

Tensor fit(Tensor tensor, const TensorInfo& input, bool allow_nonfinite, const std::string& where) {
  if (tensor.type == ElementType::Bool) make_zero_or_one(tensor);
  if (!allow_nonfinite) require_finite(tensor, input, where);
  if (auto shape = fitted_shape(tensor.shape, input)) tensor.shape = std::move(*shape);
  if (tensor.type == input.type || input.type == ElementType::Undefined) return tensor;
  Tensor out = cast(tensor, input.type);
  if (!allow_nonfinite && tensor.type == ElementType::Double)
    require_no_overflow(tensor, out, input, where);
  return out;
}

}  // namespace qtool
