#include "calibrate/window_rows.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include "calibrate/second_moments.h"
#include "catch.h"
#include "runtime/session.h"
#include "tensor_builder.h"
#include "text_model.h"

namespace qtool {
namespace {

using Ints = std::vector<std::int64_t>;
using Doubles = std::vector<double>;

/// A tensor and what a Conv sees of it.
struct Case {
  Ints shape;
  ConvWindow window;
  std::vector<float> values;
};

std::int64_t product(const Ints& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{1}, std::multiplies<>());
}

/// The coordinates of a position of a tensor with these sizes.
Ints coordinates(std::int64_t position, const Ints& sizes) {
  Ints out(sizes.size());
  for (std::size_t i = sizes.size(); i-- > 0; position /= sizes[i]) out[i] = position % sizes[i];
  return out;
}

/// ONNX's definition of pads in front, and of the output's size, along an axis.
std::pair<std::int64_t, std::int64_t> pad_and_output(const Case& c, std::size_t axis) {
  const ConvWindow& w = c.window;
  const std::int64_t size = c.shape[axis + 2], stride = w.strides[axis];
  const std::int64_t reach = (w.kernel[axis] - 1) * w.dilations[axis] + 1;
  if (w.auto_pad == AutoPad::None) {
    const std::int64_t padded = size + w.pads[axis] + w.pads[axis + w.kernel.size()];
    return {w.pads[axis], padded < reach ? 0 : (padded - reach) / stride + 1};
  }
  const std::int64_t output = (size + stride - 1) / stride;
  const std::int64_t total = std::max<std::int64_t>(0, (output - 1) * stride + reach - size);
  return {w.auto_pad == AutoPad::SameLower ? total - total / 2 : total / 2, output};
}

/// The rows of a group by their definition, one behind the other.
Doubles rows_by_definition(const Case& c, std::int64_t group) {
  const ConvWindow& w = c.window;
  const std::size_t axes = w.kernel.size();
  Ints outputs, sizes(c.shape.begin() + 2, c.shape.end()), pads;
  for (std::size_t i = 0; i < axes; ++i) {
    const auto [pad, output] = pad_and_output(c, i);
    pads.push_back(pad);
    outputs.push_back(output);
  }
  const std::int64_t channels = c.shape[1] / w.group, plane = product(sizes);
  Doubles out;
  for (std::int64_t row = 0; row < c.shape[0] * product(outputs); ++row) {
    const Ints at = coordinates(row % product(outputs), outputs);
    for (std::int64_t k = 0; k < channels * product(w.kernel); ++k) {
      const Ints tap = coordinates(k % product(w.kernel), w.kernel);
      std::int64_t offset = 0;
      bool is_inside = true;
      for (std::size_t i = 0; i < axes; ++i) {
        const std::int64_t x = at[i] * w.strides[i] - pads[i] + tap[i] * w.dilations[i];
        is_inside = is_inside && x >= 0 && x < sizes[i];
        offset = offset * sizes[i] + x;
      }
      const std::int64_t image = row / product(outputs);
      const std::int64_t channel = image * c.shape[1] + group * channels + k / product(w.kernel);
      out.push_back(is_inside ? static_cast<double>(
                                    c.values[static_cast<std::size_t>(channel * plane + offset)])
                              : 0.0);
    }
  }
  return out;
}

Doubles upper_triangles(const Case& c) {
  Doubles out;
  for (std::int64_t group = 0; group < c.window.group; ++group) {
    const Doubles rows = rows_by_definition(c, group);
    const auto length =
        static_cast<std::size_t>(c.shape[1] / c.window.group * product(c.window.kernel));
    for (std::size_t i = 0; i < length; ++i) {
      for (std::size_t j = i; j < length; ++j) {
        double sum = 0;
        for (std::size_t r = 0; r < rows.size(); r += length) sum += rows[r + i] * rows[r + j];
        out.push_back(sum);
      }
    }
  }
  return out;
}

/// Numbers from `least` to `most`.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::int64_t operator()(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(engine_);
  }
  std::vector<float> values(std::int64_t count) {
    std::normal_distribution<float> normal;
    std::vector<float> out(static_cast<std::size_t>(count));
    for (float& value : out) value = normal(engine_);
    return out;
  }

 private:
  std::mt19937 engine_;
};

/// Any Conv of one to three axes; with automatic pads none that ONNX Runtime refuses or that skips
/// values at the ends, which it does in its own way.
Case random_case(unsigned seed) {
  Random random(seed);
  Case out;
  ConvWindow& w = out.window;
  w.group = random(1, 3);
  out.shape = {random(1, 2), w.group * random(1, 3)};
  w.auto_pad = static_cast<AutoPad>(random(0, 2));
  const bool is_automatic = w.auto_pad != AutoPad::None;
  const auto axes = static_cast<std::size_t>(random(1, 3));
  for (std::size_t i = 0; i < axes; ++i) {
    w.kernel.push_back(random(1, 3));
    w.strides.push_back(is_automatic ? random(1, w.kernel[i]) : random(1, 3));
    w.dilations.push_back(is_automatic ? 1 : random(1, 2));
    out.shape.push_back(random((w.kernel[i] - 1) * w.dilations[i] + 1, 7));
  }
  if (!is_automatic) {
    for (std::size_t i = 0; i < 2 * axes; ++i) w.pads.push_back(random(0, w.kernel[i % axes] - 1));
  }
  out.values = random.values(product(out.shape));
  return out;
}

Doubles rows_of(const WindowRows& rows, const Case& c, std::size_t group, std::size_t piece) {
  Doubles out(rows.count() * rows.length());
  for (std::size_t first = 0; first < rows.count(); first += piece) {
    const std::size_t count = std::min(piece, rows.count() - first);
    rows.copy(c.values, group, first, count, out.data() + first * rows.length(), rows.length());
  }
  return out;
}

/// What ONNX Runtime's Conv gives, one filter for each group.
std::vector<float> output_of(const Case& c, const std::vector<float>& filters) {
  const ConvWindow& w = c.window;
  Ints shape = {w.group, c.shape[1] / w.group};
  shape.insert(shape.end(), w.kernel.begin(), w.kernel.end());
  std::string sizes = "A,B";
  for (std::size_t i = 0; i < w.kernel.size(); ++i) sizes += fmt::format(",S{}", i);
  const std::string pads = w.auto_pad == AutoPad::None
                               ? fmt::format("pads = [{}]", fmt::join(w.pads, ","))
                               : fmt::format("auto_pad = \"{}\"", auto_pad_name(w.auto_pad));
  const Model model = testing::text_model(fmt::format(
      "g (float[{}] x, float[{}] w) => (float[{}] y) {{ y = Conv <group = {}, strides = [{}], "
      "dilations = [{}], {}> (x, w) }}",
      fmt::join(c.shape, ","), fmt::join(shape, ","), sizes, w.group, fmt::join(w.strides, ","),
      fmt::join(w.dilations, ","), pads));
  const Session session(model, {});
  const std::vector<NamedTensor> inputs = {{"x", testing::float_tensor(c.shape, c.values)},
                                           {"w", testing::float_tensor(shape, filters)}};
  const auto outputs = session.run(inputs);
  return {outputs[0].tensor.floats().begin(), outputs[0].tensor.floats().end()};
}

}  // namespace

TEST_CASE("window rows: those of their definition, in pieces of any size", "[calibrate]") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const Case c = random_case(seed);
    CAPTURE(seed, c.shape, c.window.kernel, c.window.strides, c.window.pads);
    const auto rows = WindowRows::of(c.window, c.shape);
    REQUIRE(rows);
    for (std::size_t group = 0; group < rows->groups(); ++group) {
      const Doubles wanted = rows_by_definition(c, static_cast<std::int64_t>(group));
      REQUIRE(rows_of(*rows, c, group, 1 + seed % 9) == wanted);
    }
  }
}

TEST_CASE("window rows: ONNX Runtime's Conv is their product with the weight", "[calibrate]") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Case c = random_case(seed);
    CAPTURE(seed, c.shape, c.window.kernel, c.window.strides, c.window.pads);
    const WindowRows rows = *WindowRows::of(c.window, c.shape);
    const auto groups = static_cast<std::size_t>(c.window.group);
    const std::vector<float> filters =
        Random(seed + 1000).values(static_cast<std::int64_t>(groups * rows.length()));
    const std::vector<float> output = output_of(c, filters);
    const std::size_t positions = rows.count() / static_cast<std::size_t>(c.shape[0]);
    REQUIRE(output.size() == groups * rows.count());
    for (std::size_t group = 0; group < groups; ++group) {
      const Doubles values = rows_of(rows, c, group, 8);
      for (std::size_t r = 0; r < rows.count(); ++r) {
        double sum = 0;
        for (std::size_t k = 0; k < rows.length(); ++k) {
          sum += values[r * rows.length() + k] *
                 static_cast<double>(filters[group * rows.length() + k]);
        }
        const std::size_t at = (r / positions * groups + group) * positions + r % positions;
        REQUIRE(std::abs(sum - static_cast<double>(output[at])) < 1e-4);
      }
    }
  }
}

TEST_CASE("window rows: second moments are those of the rows, to the bit", "[calibrate]") {
  for (unsigned seed = 0; seed < 150; ++seed) {
    const Case c = random_case(seed);
    CAPTURE(seed, c.shape, c.window.kernel, c.window.strides, c.window.pads);
    const auto sample = sample_moments(c.window, c.values, c.shape);
    REQUIRE(sample);
    REQUIRE(sample->sums == upper_triangles(c));
    REQUIRE(sample->row_count == WindowRows::of(c.window, c.shape)->count());
  }
}

TEST_CASE("window rows: maps of many rows and channels too", "[calibrate]") {
  const Case c{{2, 6, 9, 11},
               {.kernel = {3, 3},
                .strides = {1, 1},
                .dilations = {1, 1},
                .pads = {1, 1, 1, 1},
                .auto_pad = AutoPad::None,
                .group = 2},
               Random(1).values(2 * 6 * 9 * 11)};
  CHECK(sample_moments(c.window, c.values, c.shape)->sums == upper_triangles(c));
}

TEST_CASE("window rows: single positions have the moments of the channels", "[calibrate]") {
  const ConvWindow window{.kernel = {1}, .strides = {1}, .dilations = {1}, .pads = {0, 0}};
  const Ints shape = {2, 3, 5};
  const std::vector<float> values = Random(2).values(30);
  CHECK(sample_moments(window, values, shape)->sums ==
        sample_moments(MomentsKind::Full, values, shape, 1)->sums);
}

TEST_CASE("window rows: a window larger than the tensor gives no rows", "[calibrate]") {
  const ConvWindow window{.kernel = {5}, .strides = {1}, .dilations = {1}, .pads = {0, 0}};
  const auto sample = sample_moments(window, std::vector<float>{1, 2, 3}, Ints{1, 1, 3});
  REQUIRE(sample);
  CHECK(sample->row_count == 0);
  CHECK(sample->sums == Doubles(15));
}

TEST_CASE("window rows: tensors that do not go with the window give none", "[calibrate]") {
  ConvWindow window{.kernel = {2}, .strides = {1}, .dilations = {1}, .pads = {0, 0}};
  CHECK(WindowRows::of(window, Ints{1, 3, 4}));
  CHECK(!WindowRows::of(window, Ints{1, 3, 4, 4}));
  CHECK(!WindowRows::of(window, Ints{1, 0, 4}));
  CHECK(!sample_moments(window, {}, Ints{0, 3, 4}));
  window.group = 2;
  CHECK(!WindowRows::of(window, Ints{1, 3, 4}));
  window.strides = {0};
  CHECK(!WindowRows::of(window, Ints{1, 4, 4}));
}

}  // namespace qtool
