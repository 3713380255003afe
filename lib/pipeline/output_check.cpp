#include "pipeline/output_check.h"

#include <algorithm>
#include <fmt/format.h>
#include <random>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "pipeline/made_up_sample.h"
#include "runtime/session.h"
#include "verify/distance.h"

namespace qtool {
namespace {

constexpr std::uint64_t kCheckedBytes = 300'000'000;
/// The figures stand in the manifest, which no number of threads may change.
const SessionConfig kOneThread = {};

std::vector<MadeUpSample> run_source(const std::filesystem::path& input, std::size_t count,
                                     std::string& note) {
  std::vector<MadeUpSample> out;
  try {
    const Session session(input, kOneThread);
    std::mt19937 random(1);
    while (out.size() < count) {
      std::string reason;
      MadeUpSample sample = run_made_up(session, session.inputs(), random, reason);
      if (sample.outputs.empty()) {
        note = "the model does not run on made-up samples: " + reason;
        return {};
      }
      out.push_back(std::move(sample));
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Input) throw;
    note = error.what();
    out.clear();
  }
  return out;
}

std::vector<NamedTensor> run_result(const Session& session, std::span<const NamedTensor> inputs,
                                    const std::string& where) {
  try {
    return session.run(inputs);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Input) throw;
    throw Error(ErrorKind::Internal,
                fmt::format("{}: the quantized model does not run on a made-up sample: {}", where,
                            error.what()),
                "this is a defect in qtool; --check 0 writes the model nevertheless");
  }
}

/// Takes the outputs of one sample into account; other shapes than the source's count as a cosine
/// of 0.
void compare(std::span<const NamedTensor> expected, std::span<const NamedTensor> found,
             OutputCheck& check) {
  for (std::size_t i = 0; i < expected.size() && i < found.size(); ++i) {
    if (!is_number(expected[i].tensor.type) || expected[i].tensor.bytes.empty()) continue;
    const SampleDistance distance = measure_distance(expected[i].tensor, found[i].tensor);
    const double cosine = distance.comparable && distance.nonfinite == 0 ? distance.cosine : 0;
    check.cosine = std::min(check.cosine.value_or(1), cosine);
  }
}

}  // namespace

std::size_t default_output_checks(std::uint64_t input_bytes) {
  return input_bytes < kCheckedBytes ? 1 : 0;
}

OutputCheck check_output(const std::filesystem::path& input, const std::filesystem::path& output,
                         const Config& config, std::size_t sample_count) {
  OutputCheck check;
  if (sample_count == 0) return check;
  const auto samples = run_source(input, sample_count, check.note);
  if (samples.empty()) return check;
  const Session session(output, kOneThread);
  for (const MadeUpSample& sample : samples) {
    const auto found = run_result(session, sample.inputs, printable(config.model.output->string()));
    compare(sample.outputs, found, check);
    ++check.sample_count;
  }
  return check;
}

}  // namespace qtool
