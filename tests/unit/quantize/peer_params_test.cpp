#include <cmath>
#include <cstring>
#include <span>

#include "../calibrate/peer_values.h"
#include "catch.h"
#include "model/float_values.h"
#include "peer_params_expected.h"
#include "quantize/bias.h"
#include "quantize/constants.h"
#include "tensor_builder.h"

using namespace qtool;

namespace {

std::uint64_t hash_of(std::span<const std::byte> bytes) {
  std::uint64_t out = 0xcbf29ce484222325U;
  for (const std::byte byte : bytes)
    out = (out ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3U;
  return out;
}

Tensor tensor_of(const PeerConstant& row) {
  std::size_t count = 1;
  for (const std::int64_t dim : row.shape) count *= static_cast<std::size_t>(dim);
  std::vector<float> values = peer_values(row.kind, row.seed, count);
  for (float& value : values) value = std::ldexp(value, row.exponent);
  return {row.value_type, row.shape, encode_floats(row.value_type, std::span<const float>(values))};
}

QuantScheme scheme_of(const PeerConstant& row) {
  return {.type = row.type,
          .is_symmetric = row.is_symmetric,
          .is_reduced = row.is_reduced,
          .minimum_real_range = row.minimum_real_range,
          .value_type = row.value_type};
}

std::vector<double> list_of(const std::optional<double>& value) {
  return value ? std::vector<double>{*value} : std::vector<double>{};
}

std::vector<std::byte> stored_scales(const QuantParams& params) {
  return encode_floats(params.scale_type, std::span<const float>(params.scales));
}

QuantParams weight_of(const PeerBias& row) {
  QuantParams weight;
  weight.type = ElementType::Int8;
  weight.scales = row.weight_scales;
  weight.zero_points.assign(weight.scales.size(), 0);
  weight.scale_type = row.value_type;
  return weight;
}

}  // namespace

TEST_CASE("constants get the scales, zero points and integers that ONNX Runtime gives them",
          "[quantize]") {
  for (const PeerConstant& row : kPeerConstants) {
    CAPTURE(row.kind, row.seed);
    const Tensor values = tensor_of(row);
    ScaleSharing sharing{.axis = {}, .block_size = row.block_size};
    if (row.axis >= 0) sharing.axis = row.axis;
    const auto found = constant_params(values, sharing, scheme_of(row),
                                       {.rmin = list_of(row.rmin), .rmax = list_of(row.rmax)});
    REQUIRE(found);
    const QuantParams& params = found->params;
    CHECK(params.scale_type == row.value_type);
    CHECK(params.scales.front() == row.first_scale);
    CHECK(hash_of(stored_scales(params)) == row.scales);
    CHECK(hash_of(std::as_bytes(std::span(params.zero_points))) == row.zero_points);
    CHECK(hash_of(quantize_constant(values, params)) == row.data);
  }
}

TEST_CASE("ranges get the scale and zero point that ONNX Runtime gives them", "[quantize]") {
  for (const PeerRange& row : kPeerRanges) {
    CAPTURE(row.min, row.max, element_type_name(row.type), element_type_name(row.value_type));
    const ScaleAndZero found =
        scale_and_zero({row.min, row.max}, {.type = row.type,
                                            .is_symmetric = row.is_symmetric,
                                            .minimum_real_range = row.minimum_real_range,
                                            .is_restricted = row.is_restricted,
                                            .value_type = row.value_type});
    CHECK(found.scale == row.scale);
    CHECK(found.zero_point == row.zero_point);
  }
}

TEST_CASE("biases get the scales and integers that ONNX Runtime gives them", "[quantize]") {
  for (const PeerBias& row : kPeerBiases) {
    CAPTURE(row.values, row.input_scale, row.weight_scales, row.beta);
    const Tensor bias{row.value_type,
                      {static_cast<std::int64_t>(row.values.size())},
                      encode_floats(row.value_type, std::span<const float>(row.values))};
    const Tensor stored = *stored_bias(bias, row.weight_scales.size(), 1);
    const QuantParams params =
        product_bias_params(stored, weight_of(row), {row.input_scale, row.beta, row.value_type});
    CHECK((params.scale_type == row.value_type) == row.has_scales_of_its_type);
    CHECK(params.scales == row.scales);
    CHECK(hash_of(quantize_bias(stored, params)) == row.data);
  }
}

TEST_CASE("weights get the scales that ONNX Runtime raises for their biases", "[quantize]") {
  for (const PeerBias& row : kPeerBiases) {
    CAPTURE(row.values, row.input_scale, row.weight_scales);
    const std::size_t count = row.weight_scales.size();
    const Tensor bias =
        testing::float_tensor({static_cast<std::int64_t>(row.values.size())}, row.values);
    const std::vector<double> largest = largest_per_scale(bias, count);
    for (std::size_t i = 0; i < count; ++i) {
      CHECK(adjusted_weight_scale(double{row.input_scale}, double{row.weight_scales[i]}, largest[i],
                                  row.value_type, count > 1) == row.adjusted_weight_scales[i]);
    }
  }
}
