#include "verify/compare.h"

#include <fmt/format.h>
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

using Outputs = std::vector<const Tensor*>;                    // one per pair, or null
using Distances = std::vector<std::optional<SampleDistance>>;  // likewise

/// What one sample gives: so little that it is kept until all samples are added up in their order.
struct SampleFigures {
  Distances outputs;
  Distances reference_expected;
  Distances expected;
  Top1Counts top1;
};

/// Which outputs are compared, by their indices in either model.
struct OutputPairs {
  std::vector<std::string> names;
  std::vector<std::size_t> reference, other;
  std::vector<UncomparedOutput> left_out;
};

OutputPairs pair_outputs(std::span<const TensorInfo> reference, std::span<const TensorInfo> other,
                         const CompareOptions& options) {
  OutputPairs out;
  const auto matches = match_names(names_of(reference), names_of(other));
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const std::string& name = reference[i].name;
    if (!matches[i]) {
      out.left_out.push_back({name, options.other_name + " does not have it"});
    } else if (!is_number(reference[i].type) || !is_number(other[*matches[i]].type)) {
      out.left_out.push_back({name, "it holds no tensor of numbers"});
    } else {
      out.names.push_back(name);
      out.reference.push_back(i);
      out.other.push_back(*matches[i]);
    }
  }
  if (!out.names.empty()) return out;
  throw Error(ErrorKind::Input,
              fmt::format("{}: has no output to compare with {}, expected numbers in {}",
                          options.other_name, options.reference_name,
                          printable(join(names_of(reference)))));
}

Outputs pointers(std::span<const NamedTensor> tensors) {
  Outputs out;
  for (const NamedTensor& each : tensors) out.push_back(&each.tensor);
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
  SideBySide(const Session& reference, const Session& other, const CompareOptions& options)
      : reference_(reference),
        other_(other),
        feed_(reference.inputs(), other.inputs(), options.other_name),
        all_names_(names_of(reference.outputs())),
        pairs_(pair_outputs(reference.outputs(), other.outputs(), options)) {}

  const OutputPairs& pairs() const { return pairs_; }

  SampleFigures run(const Sample& sample, std::optional<std::int64_t> label) const {
    const auto reference_tensors = reference_.run(sample.inputs, pairs_.reference);
    const auto other_tensors = other_.run(feed_(sample.inputs), pairs_.other);
    const Outputs reference = pointers(reference_tensors), other = pointers(other_tensors);
    SampleFigures figures;
    figures.outputs = measure(reference, other);
    if (!sample.expected_outputs.empty()) {
      const Outputs expected = expected_outputs(sample);
      figures.reference_expected = measure(expected, reference);
      figures.expected = measure(expected, other);
    }
    figures.top1 = count_top1(*reference.front(), *other.front(), label);
    return figures;
  }

 private:
  Outputs expected_outputs(const Sample& sample) const {
    std::vector<std::string> given;
    for (const NamedTensor& each : sample.expected_outputs) given.push_back(each.name);
    const auto matches = match_names(all_names_, given);
    Outputs out;
    for (const std::size_t index : pairs_.reference) {
      const auto& match = matches[index];
      out.push_back(match ? &sample.expected_outputs[*match].tensor : nullptr);
    }
    return out;
  }

  const Session& reference_;
  const Session& other_;
  Feed feed_;
  std::vector<std::string> all_names_;
  OutputPairs pairs_;
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

}  // namespace

Comparison compare_models(const Session& reference, const Session& other,
                          const SampleFolder& samples, const CompareOptions& options) {
  const SideBySide models(reference, other, options);
  const auto& names = models.pairs().names;
  const auto figures = run_all(models, samples, options);
  Comparison out;
  out.sample_count = samples.size();
  out.uncompared = models.pairs().left_out;
  out.outputs = add_up(figures, &SampleFigures::outputs, names, samples);
  out.reference_expected = add_up(figures, &SampleFigures::reference_expected, names, samples);
  out.expected = add_up(figures, &SampleFigures::expected, names, samples);
  out.top1 = add_up_top1(figures, !options.labels.empty());
  return out;
}

}  // namespace qtool
