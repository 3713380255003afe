#include "pipeline/preprocess_check.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <random>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "model/float_values.h"
#include "pipeline/made_up_sample.h"
#include "runtime/session.h"
#include "samples/samples.h"
#include "verify/distance.h"

namespace qtool {
namespace {

constexpr std::uint64_t kCheckedBytes = 500'000'000;
/// What rounding leaves of an output in its own type; of integers, where two numbers are as good.
double tolerance(ElementType type) {
  if (!is_encodable(type)) return 0.01;
  return type == ElementType::Float || type == ElementType::Double ? 1e-3 : 3e-2;
}

/// What an output is judged by: its distance as a part of its length, of integers the share that
/// differs; infinite where shapes differ or values are no numbers.
double relative_error(const Tensor& reference, const Tensor& other) {
  if (reference.type == other.type && reference.shape == other.shape &&
      reference.bytes == other.bytes)
    return 0;
  const SampleDistance distance = measure_distance(reference, other);
  if (!distance.comparable || distance.nonfinite > 0)
    return std::numeric_limits<double>::infinity();
  if (distance.is_discrete) {
    const auto count = static_cast<double>(std::max<std::uint64_t>(distance.value_count, 1));
    return 1 - static_cast<double>(distance.equal_count) / count;
  }
  return std::sqrt(distance.error_squares) / std::max(std::sqrt(distance.reference_squares), 1e-12);
}

/// The inputs, each number of floating point some rounding errors away.
std::vector<NamedTensor> disturbed(std::span<const NamedTensor> inputs) {
  std::vector<NamedTensor> out(inputs.begin(), inputs.end());
  std::mt19937 random(2);
  for (NamedTensor& input : out) {
    if (!is_encodable(input.tensor.type)) continue;
    auto values = to_float64(input.tensor);
    for (double& value : values) value *= 1 + (random() % 2 == 0 ? 1e-6 : -1e-6);
    input.tensor.bytes = encode_floats(input.tensor.type, values);
  }
  return out;
}

/// The largest error of an output; an `Input` error where one is no rounding. A model may make much
/// of little: an error is none of ours where rounding of its inputs moves the original as far.
double compare(const Session& original, std::span<const NamedTensor> inputs,
               std::span<const NamedTensor> expected, std::span<const NamedTensor> found,
               const std::string& where) {
  double worst = 0;
  std::vector<NamedTensor> moved;
  for (std::size_t i = 0; i < expected.size() && i < found.size(); ++i) {
    const Tensor& reference = expected[i].tensor;
    const double error = relative_error(reference, found[i].tensor);
    const double limit = tolerance(reference.type);
    worst = std::max(worst, error);
    if (error <= limit) continue;
    if (moved.empty()) moved = original.run(disturbed(inputs));
    constexpr double kMargin = 10;
    if (std::isfinite(error) && error <= kMargin * relative_error(reference, moved[i].tensor))
      continue;
    throw Error(
        ErrorKind::Input,
        fmt::format("{}: output '{}' of the preprocessed model differs from the model's: {}", where,
                    printable(expected[i].name),
                    std::isfinite(error)
                        ? fmt::format("relative error {:.3g}, expected at most {:g}", error, limit)
                        : std::string("another shape, or values that are no numbers")),
        "--check 0 writes it nevertheless; preprocess.simplify=false leaves more as it is");
  }
  return worst;
}

PreprocessCheck check_on_made_up(const Session& original, const Session& result,
                                 const std::string& where, std::size_t count) {
  PreprocessCheck out;
  out.made_up = true;
  std::mt19937 random(1);
  for (std::size_t i = 0; i < count; ++i) {
    std::string reason;
    const MadeUpSample sample = run_made_up(original, result.inputs(), random, reason);
    if (sample.outputs.empty()) {
      out.note = "the model does not run on made-up samples: " + reason;
      return out;
    }
    out.error = std::max(out.error, compare(original, sample.inputs, sample.outputs,
                                            result.run(sample.inputs), where));
    ++out.sample_count;
  }
  return out;
}

PreprocessCheck check_on_data(const Session& original, const Session& result,
                              const std::string& where, const Config& config, std::size_t count) {
  PreprocessCheck out;
  SampleOptions options;
  options.max_samples = static_cast<std::int64_t>(count);
  options.allow_nonfinite = config.calibration.allow_nonfinite;
  const auto samples = open_samples(*config.verify.data, original.inputs(), options);
  for (std::size_t i = 0; i < samples->size(); ++i) {
    const Sample sample = samples->read(i);
    const double error =
        compare(original, sample.inputs, original.run(sample.inputs), result.run(sample.inputs),
                where + ": sample '" + printable(sample.name) + "'");
    out.error = std::max(out.error, error);
    ++out.sample_count;
  }
  return out;
}

}  // namespace

std::size_t default_check_samples(std::uint64_t model_bytes) {
  return model_bytes < kCheckedBytes ? 1 : 0;
}

PreprocessCheck check_preprocessed(const std::filesystem::path& original, const Model& result,
                                   const Config& config, std::size_t sample_count) {
  PreprocessCheck out;
  if (sample_count == 0) return out;
  SessionConfig plain;
  plain.optimization = SessionConfig::Optimization::None;
  plain.intra_op_threads = config.threads > 0 ? config.threads : 1;
  const std::string where = printable(original.string());
  std::optional<Session> before, after;
  try {
    before.emplace(original, plain);
    after.emplace(result, plain);
  } catch (const Error& error) {
    // Whether the result has to load is for the load check to say.
    if (error.kind() != ErrorKind::Input) throw;
    out.note = error.what();
    return out;
  }
  return config.verify.data ? check_on_data(*before, *after, where, config, sample_count)
                            : check_on_made_up(*before, *after, where, sample_count);
}

}  // namespace qtool
