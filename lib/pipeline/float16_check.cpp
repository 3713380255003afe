#include "pipeline/float16_check.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <random>

#include "base/error.h"
#include "base/text.h"
#include "pipeline/made_up_sample.h"
#include "runtime/session.h"
#include "samples/samples.h"
#include "verify/distance.h"
#include "verify/feed.h"

namespace qtool {
namespace {

/// Two loaded models that take the same samples, and the distances of their outputs.
class SideBySide {
 public:
  SideBySide(const Session& original, const Session& converted, const std::string& name)
      : original_(original),
        converted_(converted),
        feed_(original.inputs(), converted.inputs(), name) {
    for (std::size_t i = 0; i < original.outputs().size(); ++i) {
      const TensorInfo& output = original.outputs()[i];
      if (!is_number(output.type)) continue;
      indices_.push_back(i);
      tallies_.emplace_back(output.name);
    }
  }

  std::vector<NamedTensor> run_original(std::span<const NamedTensor> inputs) const {
    return original_.run(inputs, indices_);
  }

  void add(const std::string& name, std::span<const NamedTensor> inputs,
           std::span<const NamedTensor> expected) {
    const auto found = converted_.run(feed_(inputs), indices_);
    for (std::size_t i = 0; i < found.size(); ++i)
      tallies_[i].add(name, measure_distance(expected[i].tensor, found[i].tensor));
  }

  std::vector<TensorDistance> results() const {
    std::vector<TensorDistance> out;
    for (const DistanceTally& tally : tallies_) out.push_back(tally.result());
    return out;
  }

 private:
  const Session& original_;
  const Session& converted_;
  Feed feed_;
  std::vector<std::size_t> indices_;
  std::vector<DistanceTally> tallies_;
};

void check_on_made_up(SideBySide& both, const Session& original, std::size_t count,
                      Float16Check& out) {
  out.made_up = true;
  std::mt19937 random(1);
  for (; out.sample_count < count; ++out.sample_count) {
    std::string reason;
    const MadeUpSample sample = run_made_up(original, original.inputs(), random, reason);
    if (sample.outputs.empty()) {
      out.note = "the model does not run on made-up samples: " + reason;
      return;
    }
    both.add("made up", sample.inputs, both.run_original(sample.inputs));
  }
}

void check_on_data(SideBySide& both, const Session& original, const Config& config,
                   std::size_t count, Float16Check& out) {
  SampleOptions options;
  options.max_samples = static_cast<std::int64_t>(count);
  options.allow_nonfinite = config.calibration.allow_nonfinite;
  const auto samples = open_samples(*config.verify.data, original.inputs(), options);
  for (; out.sample_count < samples->size(); ++out.sample_count) {
    const Sample sample = samples->read(out.sample_count);
    both.add(sample.name, sample.inputs, both.run_original(sample.inputs));
  }
}

}  // namespace

Float16Check check_float16_model(const std::filesystem::path& original,
                                 const std::filesystem::path& converted, const Config& config,
                                 std::size_t sample_count) {
  Float16Check out;
  if (sample_count == 0) return out;
  std::optional<Session> before, after;
  try {
    // One thread: the figures stand in the manifest, which no number of threads may change.
    before.emplace(original, SessionConfig{});
    after.emplace(converted, SessionConfig{});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Input) throw;
    out.note = error.what();
    return out;
  }
  SideBySide both(*before, *after, printable(config.model.output->string()));
  if (config.verify.data)
    check_on_data(both, *before, config, sample_count, out);
  else
    check_on_made_up(both, *before, sample_count, out);
  if (out.sample_count > 0) out.outputs = both.results();
  return out;
}

}  // namespace qtool
