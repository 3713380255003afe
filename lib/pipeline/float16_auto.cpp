#include "pipeline/float16_auto.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/parallel.h"
#include "base/text.h"
#include "float16/lowering.h"
#include "float16/model_index.h"
#include "float16/planner.h"
#include "model/narrowed_tensor.h"
#include "runtime/session.h"
#include "samples/samples.h"
#include "verify/distance.h"
#include "verify/feed.h"

namespace qtool {
namespace {

/// What is not decided after so many models stays in float32.
constexpr std::size_t kMaxTrials = 200;

const std::filesystem::path& data_of(const Config& config) {
  return config.verify.data ? *config.verify.data : *config.calibration.data;
}

bool is_near(double expected, double found, const Float16Auto& tolerance) {
  if (std::isnan(expected) || std::isnan(found)) return std::isnan(expected) == std::isnan(found);
  if (std::isinf(expected) || std::isinf(found)) return expected == found;
  return std::fabs(expected - found) <= tolerance.atol + tolerance.rtol * std::fabs(expected);
}

bool is_near(const Tensor& expected, const Tensor& found, const Float16Auto& tolerance) {
  if (expected.shape != found.shape) return false;
  const auto a = to_float64(expected), b = to_float64(found);
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!is_near(a[i], b[i], tolerance)) return false;
  return true;
}

class Search {
 public:
  Search(const Model& model, const Config& config,
         const std::function<void(const std::string&)>& log)
      : model_(model), config_(config), log_(log) {
    session_config_.intra_op_threads = config.threads > 0 ? config.threads : available_cores();
  }

  Float16Search run();

 private:
  struct Segment {
    std::size_t first = 0, size = 0;
  };

  void record_reference();
  bool holds(const std::set<int>& kept);
  std::set<int> all_but(const std::vector<Segment>& good, const Segment& tried) const;
  Segment take_largest();

  const Model& model_;
  const Config& config_;
  const std::function<void(const std::string&)>& log_;
  SessionConfig session_config_;
  std::vector<TensorInfo> inputs_;
  std::vector<std::size_t> outputs_;  ///< indices of those that are numbers
  std::vector<std::vector<NamedTensor>> samples_, expected_;
  std::vector<int> candidates_;
  std::vector<Segment> undecided_;
  Float16Search result_;
};

void Search::record_reference() {
  const Session session(model_, session_config_);
  inputs_.assign(session.inputs().begin(), session.inputs().end());
  for (std::size_t i = 0; i < session.outputs().size(); ++i)
    if (is_number(session.outputs()[i].type)) outputs_.push_back(i);
  SampleOptions options;
  options.max_samples = config_.calibration.max_samples;
  options.allow_nonfinite = config_.calibration.allow_nonfinite;
  const auto samples = open_samples(data_of(config_), session.inputs(), options);
  for (std::size_t i = 0; i < samples->size(); ++i) {
    throw_if_interrupted();
    samples_.push_back(samples->read(i).inputs);
    expected_.push_back(session.run(samples_.back(), outputs_));
  }
  result_.sample_count = samples_.size();
}

/// Whether the model with `kept` in float32 gives outputs within the tolerances.
bool Search::holds(const std::set<int>& kept) {
  throw_if_interrupted();
  ++result_.trial_count;
  const Float16Plan plan = plan_float16(model_, config_.float16, kept);
  Model converted = lower_float16(model_.clone(), plan);
  finish_narrowing(converted);
  const Session session(converted, session_config_);
  const Feed feed(inputs_, session.inputs(), printable(config_.model.input->string()));
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    const auto found = session.run(feed(samples_[i]), outputs_);
    for (std::size_t j = 0; j < found.size(); ++j)
      if (!is_near(expected_[i][j].tensor, found[j].tensor, *config_.float16.auto_search))
        return false;
  }
  return true;
}

std::set<int> Search::all_but(const std::vector<Segment>& good, const Segment& tried) const {
  std::set<int> kept(candidates_.begin(), candidates_.end());
  const auto remove = [&](const Segment& segment) {
    for (std::size_t i = 0; i < segment.size; ++i) kept.erase(candidates_[segment.first + i]);
  };
  for (const Segment& segment : good) remove(segment);
  remove(tried);
  return kept;
}

Search::Segment Search::take_largest() {
  const auto largest = std::ranges::max_element(undecided_, {}, &Segment::size);
  const Segment out = *largest;
  undecided_.erase(largest);
  return out;
}

Float16Search Search::run() {
  record_reference();
  const ModelIndex index(model_);
  candidates_ = convertible_nodes(index, plan_float16(model_, config_.float16));
  if (!candidates_.empty()) undecided_.push_back({0, candidates_.size()});
  std::vector<Segment> good;
  while (!undecided_.empty() && result_.trial_count < kMaxTrials) {
    const Segment segment = take_largest();
    std::set<int> kept = all_but(good, segment);
    const bool is_good = holds(kept);
    log_(fmt::format("float16.auto: trial {}: {} of {} nodes in float16: {}", result_.trial_count,
                     candidates_.size() - kept.size(), candidates_.size(),
                     is_good ? "within the tolerances" : "too far off"));
    if (is_good) {
      good.push_back(segment);
    } else if (segment.size > 1) {
      undecided_.push_back({segment.first, segment.size / 2});
      undecided_.push_back({segment.first + segment.size / 2, segment.size - segment.size / 2});
    }
  }
  result_.was_cut_short = !undecided_.empty();
  result_.kept = all_but(good, {});
  return std::move(result_);
}

}  // namespace

Float16Search search_float16(const Model& model, const Config& config,
                             const std::function<void(const std::string&)>& log) {
  return Search(model, config, log).run();
}

void require_search_data(const Config& config) {
  if (!config.float16.auto_search || config.verify.data || config.calibration.data) return;
  throw Error(ErrorKind::Usage,
              "verify.data: is not set, expected a folder of samples for float16.auto",
              "--data DIR");
}

}  // namespace qtool
