#include "quantize/dynamic/weight_store.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/interrupt.h"
#include "model/reference.h"
#include "model/tensor.h"
#include "quantize/constants.h"

namespace qtool {
namespace {

/// So many bytes of the mapped file may be resident before its pages are given back.
constexpr std::size_t kResidentBytes = std::size_t{16} << 20;

std::vector<std::int64_t> shape_of(const onnx::TensorProto& tensor) {
  return {tensor.dims().begin(), tensor.dims().end()};
}

/// A copy of a tensor's values, of which no more than a piece is resident in its file as well.
Tensor read_in_pieces(const Model& model, const onnx::TensorProto& proto) {
  const std::span<const std::byte> bytes = model.tensor_bytes(proto);
  Tensor out{.type = element_type(proto), .shape = shape_of(proto), .bytes = {}};
  out.bytes.reserve(bytes.size());
  const auto reference = reference_of(proto);
  for (std::size_t begin = 0; begin < bytes.size(); begin += kResidentBytes) {
    const auto piece = bytes.subspan(begin, std::min(kResidentBytes, bytes.size() - begin));
    out.bytes.insert(out.bytes.end(), piece.begin(), piece.end());
    if (reference && bytes.size() > kResidentBytes)
      model.data_files()[reference->file].file->release_pages();
  }
  return out;
}

/// The values in the type that their scale has. Integer operators want float32 scales, also for
/// float16 weights.
Tensor values_in(ElementType type, const Model& model, const onnx::TensorProto& proto) {
  Tensor tensor = read_in_pieces(model, proto);
  if (tensor.type == type) return tensor;
  const std::vector<float> values = to_float32(tensor);
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  return {ElementType::Float, std::move(tensor.shape), {bytes, bytes + values.size() * 4}};
}

/// The same values with a row of axes as one axis.
void join_axes(Tensor& tensor, std::int64_t first_axis, std::int64_t count) {
  if (count < 2) return;
  const auto first = tensor.shape.begin() + first_axis;
  for (std::int64_t i = 1; i < count; ++i) *first *= *(first + i);
  tensor.shape.erase(first + 1, first + count);
}

std::vector<std::int64_t> channel_shape(const std::vector<std::int64_t>& shape,
                                        const WeightSpec& spec) {
  const auto first = shape.begin() + spec.first_channel_axis;
  return {first, first + spec.channel_axis_count};
}

/// Matrices of `rows` x `columns` bytes, each transposed, in tiles that fit the cache.
std::vector<std::byte> transposed(std::span<const std::byte> in, std::size_t rows,
                                  std::size_t columns) {
  constexpr std::size_t kTile = 64;
  std::vector<std::byte> out(in.size());
  const std::size_t size = rows * columns;
  for (std::size_t begin = 0; size > 0 && begin < in.size(); begin += size) {
    for (std::size_t row = 0; row < rows; row += kTile) {
      const std::size_t row_end = std::min(rows, row + kTile);
      for (std::size_t column = 0; column < columns; column += kTile) {
        const std::size_t column_end = std::min(columns, column + kTile);
        for (std::size_t j = column; j < column_end; ++j)
          for (std::size_t i = row; i < row_end; ++i)
            out[begin + j * rows + i] = in[begin + i * columns + j];
      }
    }
  }
  return out;
}

/// Channels of zeros take part in the one zero point of the others. False where these differ.
bool unify_zero_points(ConstantParams& found) {
  auto& zero_points = found.params.zero_points;
  std::optional<std::int32_t> common;
  for (std::size_t i = 0; i < zero_points.size(); ++i) {
    if (found.is_zero[i]) continue;
    if (common.value_or(zero_points[i]) != zero_points[i]) return false;
    common = zero_points[i];
  }
  if (common) std::ranges::fill(zero_points, *common);
  return true;
}

/// The integers of `values`, whose channel axes are joined.
std::vector<std::byte> integers_of(Tensor values, const StoredWeight& weight) {
  std::vector<std::byte> out = quantize_constant(values, weight.params);
  values = {};
  if (!weight.swaps_last_axes) return out;
  const auto& shape = weight.shape;
  const auto rows = static_cast<std::size_t>(shape.back());
  return transposed(out, rows, static_cast<std::size_t>(shape[shape.size() - 2]));
}

}  // namespace

int WeightStore::add(const GraphScopes::Constant& constant, const WeightSpec& spec) {
  const std::string& name = constant.tensor->name();
  const Key key{constant.graph,
                name,
                spec.stem,
                spec.swaps_last_axes,
                spec.first_channel_axis,
                spec.channel_axis_count,
                spec.scheme.type,
                spec.scheme.is_symmetric,
                spec.scheme.value_type,
                spec.factor};
  const auto [entry, is_new] = known_.try_emplace(key, -1);
  if (is_new) entry->second = make(constant, spec);
  return entry->second;
}

int WeightStore::make(const GraphScopes::Constant& constant, const WeightSpec& spec) {
  throw_if_interrupted();
  const onnx::TensorProto& proto = *constant.tensor;
  Tensor values = values_in(spec.scheme.value_type, model_, proto);
  join_axes(values, spec.first_channel_axis, spec.channel_axis_count);
  ScaleSharing sharing;
  if (spec.channel_axis_count > 0) sharing.axis = spec.first_channel_axis;
  const std::string& name = spec.override_name.empty() ? proto.name() : spec.override_name;
  auto found =
      constant_params(values, sharing, spec.scheme, given_params(overrides_.channels(name)));
  if (!found) return -1;

  StoredWeight weight;
  weight.has_one_zero_point = spec.has_one_zero_point && unify_zero_points(*found);
  weight.source = proto.name();
  weight.stem = spec.stem.empty() ? proto.name() : spec.stem;
  weight.graph = constant.graph;
  weight.shape = shape_of(proto);
  weight.value_type = element_type(proto);
  weight.params = std::move(found->params);
  weight.params_shape = spec.params_shape.value_or(channel_shape(weight.shape, spec));
  weight.factor = spec.factor;
  weight.joined_axes = spec.channel_axis_count;
  weight.swaps_last_axes = spec.swaps_last_axes;
  if (spec.swaps_last_axes) std::swap(weight.shape.back(), weight.shape[weight.shape.size() - 2]);
  release_pages(values.bytes.size());
  if (reference_of(proto)) {
    weight.reference = proto;
  } else {
    weight.values = integers_of(std::move(values), weight);
  }
  weights_.push_back(std::move(weight));
  return static_cast<int>(weights_.size()) - 1;
}

/// Each weight is read once here: its pages need not stay.
void WeightStore::release_pages(std::size_t bytes) {
  read_bytes_ += bytes;
  if (read_bytes_ < kResidentBytes) return;
  read_bytes_ = 0;
  for (const auto& data : model_.data_files()) data.file->release_pages();
}

std::vector<std::byte> make_integers(const Model& model, const StoredWeight& weight) {
  Tensor values = values_in(weight.params.scale_type, model, weight.reference);
  join_axes(values, weight.params.axis.value_or(0), weight.joined_axes);
  return integers_of(std::move(values), weight);
}

}  // namespace qtool
