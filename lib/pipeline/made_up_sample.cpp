#include "pipeline/made_up_sample.h"

#include <array>
#include <utility>

#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "model/float_values.h"
#include "verify/distance.h"

namespace qtool {
namespace {

/// A made-up input of more elements is none.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 26;
/// Sizes for free axes, tried in turn: a model may need some least size, or all alike.
constexpr std::array<std::int64_t, 4> kFreeSizes{32, 8, 1, 128};

/// Values by the input's type, the same in every run: numbers around zero, indices 0 and 1.
Tensor made_up(const TensorInfo& info, std::vector<std::int64_t> shape, std::mt19937& random) {
  Tensor tensor{.type = info.type, .shape = std::move(shape), .bytes = {}};
  const std::size_t count = tensor.element_count();
  if (is_encodable(info.type)) {
    std::vector<double> values(count);
    for (double& value : values) value = static_cast<double>(random() % 4001) / 1000.0 - 2.0;
    tensor.bytes = encode_floats(info.type, values);
    return tensor;
  }
  tensor.bytes.resize(packed_bytes(info.type, count));
  const std::size_t size = count > 0 ? tensor.bytes.size() / count : 0;
  // The lowest byte of each: numbers are little-endian.
  for (std::size_t i = 0; size > 0 && i < count; ++i)
    tensor.bytes[i * size] = static_cast<std::byte>(random() % 2);
  return tensor;
}

/// An input of unknown rank is given one number.
std::vector<NamedTensor> made_up_inputs(std::span<const TensorInfo> inputs, std::int64_t free_size,
                                        std::mt19937& random) {
  std::vector<NamedTensor> out;
  for (const TensorInfo& info : inputs) {
    std::vector<std::int64_t> shape = info.shape;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] < 0) shape[axis] = axis == 0 && shape.size() > 1 ? 1 : free_size;
    }
    const auto count = checked_element_count(shape);
    if (!is_number(info.type) || !count || static_cast<std::int64_t>(*count) > kMaxElements) {
      throw Error(ErrorKind::Input, "input '" + printable(info.name) + "' is " + describe(info));
    }
    out.push_back({info.name, made_up(info, std::move(shape), random)});
  }
  return out;
}

}  // namespace

MadeUpSample run_made_up(const Session& original, std::span<const TensorInfo> inputs,
                         std::mt19937& random, std::string& reason) {
  for (const std::int64_t size : kFreeSizes) {
    try {
      MadeUpSample out;
      out.inputs = made_up_inputs(inputs, size, random);
      out.outputs = original.run(out.inputs);
      return out;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Input) throw;
      reason = error.what();
    }
  }
  return {};
}

}  // namespace qtool
