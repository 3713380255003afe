#include "verify/compare.h"

#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "verify/distance.h"
#include "verify/feed.h"
#include "verify/matching.h"
#include "verify/top1.h"

namespace qtool {
namespace {

using Matches = std::vector<std::optional<std::size_t>>;
using Outputs = std::vector<const Tensor*>;                    // one per output of the reference
using Distances = std::vector<std::optional<SampleDistance>>;  // likewise

/// What one sample gives: so little that it is kept until all samples are added up in their order.
struct SampleFigures {
  Distances outputs;
  Distances reference_expected;
  Distances expected;
  Top1Counts top1;
};

Outputs select(std::span<const NamedTensor> tensors, const Matches& matches) {
  Outputs out;
  for (const auto& match : matches) out.push_back(match ? &tensors[*match].tensor : nullptr);
  return out;
}

Distances measure(const Outputs& reference, const Outputs& other) {
  Distances out(reference.size());
  for (std::size_t i = 0; i < reference.size(); ++i) {
    if (reference[i] && other[i]) out[i] = measure_distance(*reference[i], *other[i]);
  }
  return out;
}

/// Two models, seen on one sample at a time.
class SideBySide {
 public:
  SideBySide(const Session& reference, const Session& other, const std::string& other_name)
      : reference_(reference),
        other_(other),
        feed_(reference.inputs(), other.inputs(), other_name),
        output_names_(names_of(reference.outputs())),
        self_(match_names(output_names_, output_names_)),
        matches_(match_names(output_names_, names_of(other.outputs()))) {}

  const std::vector<std::string>& output_names() const { return output_names_; }
  bool is_matched(std::size_t output) const { return matches_[output].has_value(); }

  SampleFigures run(const Sample& sample, std::optional<std::int64_t> label) const {
    const auto reference_tensors = reference_.run(sample.inputs);
    const auto other_tensors = other_.run(feed_(sample.inputs));
    const Outputs reference = select(reference_tensors, self_);
    const Outputs other = select(other_tensors, matches_);
    SampleFigures figures;
    figures.outputs = measure(reference, other);
    if (!sample.expected_outputs.empty()) {
      const Outputs expected = expected_outputs(sample);
      figures.reference_expected = measure(expected, reference);
      figures.expected = measure(expected, other);
    }
    if (reference.front() && other.front()) {
      figures.top1 = count_top1(*reference.front(), *other.front(), label);
    }
    return figures;
  }

 private:
  Outputs expected_outputs(const Sample& sample) const {
    std::vector<std::string> names;
    for (const NamedTensor& each : sample.expected_outputs) names.push_back(each.name);
    return select(sample.expected_outputs, match_names(output_names_, names));
  }

  const Session& reference_;
  const Session& other_;
  Feed feed_;
  std::vector<std::string> output_names_;
  Matches self_;
  Matches matches_;
};

/// The distances of all samples in one of the three relations; outputs that no sample has are left
/// out.
std::vector<TensorDistance> add_up(const std::vector<SampleFigures>& figures,
                                   Distances SampleFigures::*relation,
                                   const std::vector<std::string>& output_names,
                                   const SampleFolder& samples) {
  std::vector<TensorDistance> out;
  for (std::size_t output = 0; output < output_names.size(); ++output) {
    DistanceTally tally(output_names[output]);
    bool is_present = false;
    for (std::size_t i = 0; i < figures.size(); ++i) {
      const Distances& distances = figures[i].*relation;
      if (output >= distances.size() || !distances[output]) continue;
      tally.add(samples.name(i), *distances[output]);
      is_present = true;
    }
    if (is_present) out.push_back(tally.result());
  }
  return out;
}

Top1 add_up_top1(const std::vector<SampleFigures>& figures, bool has_labels) {
  Top1Counts sum;
  for (const SampleFigures& each : figures) sum += each.top1;
  return to_top1(sum, has_labels);
}

std::vector<SampleFigures> run_all(const SideBySide& models, const SampleFolder& samples,
                                   const CompareOptions& options) {
  std::vector<SampleFigures> figures(samples.size());
  std::mutex progress_mutex;
  std::size_t done = 0;
  parallel_for(samples.size(), options.threads, [&](std::size_t index, int) {
    std::optional<std::int64_t> label;
    if (!options.labels.empty()) label = options.labels[index];
    figures[index] = models.run(samples.read(index), label);
    const std::lock_guard lock(progress_mutex);
    ++done;
    if (options.progress) options.progress(done, samples.size());
  });
  return figures;
}

std::vector<std::string> unmatched_outputs(const SideBySide& models) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < models.output_names().size(); ++i) {
    if (!models.is_matched(i)) out.push_back(models.output_names()[i]);
  }
  return out;
}

}  // namespace

Comparison compare_models(const Session& reference, const Session& other,
                          const SampleFolder& samples, const CompareOptions& options) {
  const SideBySide models(reference, other, options.other_name);
  const auto& names = models.output_names();
  Comparison out;
  out.unmatched = unmatched_outputs(models);
  if (out.unmatched.size() == names.size()) {
    throw Error(ErrorKind::Input, options.other_name + ": has no output of " +
                                      options.reference_name + ", expected " +
                                      printable(join(names)));
  }
  const auto figures = run_all(models, samples, options);
  out.sample_count = samples.size();
  out.outputs = add_up(figures, &SampleFigures::outputs, names, samples);
  out.reference_expected = add_up(figures, &SampleFigures::reference_expected, names, samples);
  out.expected = add_up(figures, &SampleFigures::expected, names, samples);
  out.top1 = add_up_top1(figures, !options.labels.empty());
  return out;
}

}  // namespace qtool
