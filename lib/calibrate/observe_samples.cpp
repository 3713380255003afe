#include "calibrate/observe_samples.h"

#include <algorithm>
#include <mutex>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/parallel.h"
#include "base/text.h"
#include "calibrate/worker_count.h"

namespace qtool {
namespace {

SessionConfig tapped(const Observation& observation) {
  SessionConfig out;
  out.optimization = observation.optimization;
  out.taps = observation.taps;
  out.providers = observation.providers;
  out.stop_inside_runs = !observation.keep_on_interrupt;
  return out;
}

/// `samples` with the largest first, equal ones in their order.
std::vector<std::size_t> largest_first(std::span<const std::size_t> samples,
                                       const SampleFolder& folder) {
  std::vector<std::pair<std::uint64_t, std::size_t>> sized;
  for (const std::size_t sample : samples) sized.emplace_back(folder.bytes(sample), sample);
  std::ranges::stable_sort(sized, std::greater{}, &std::pair<std::uint64_t, std::size_t>::first);
  std::vector<std::size_t> out;
  out.reserve(sized.size());
  for (const auto& [bytes, sample] : sized) out.push_back(sample);
  return out;
}

class Run {
 public:
  Run(const Model& model, const Observation& observation, const SampleFolder& folder,
      const Progress& progress, const std::function<SampleObserver&()>& add_observer)
      : observation_(observation),
        session_(model, tapped(observation)),
        folder_(folder),
        progress_(progress),
        add_observer_(add_observer),
        order_(largest_first(observation.samples, folder)),
        step_(static_cast<std::size_t>(observation.batch.size)) {}

  void run();
  ObservedSamples done();

 private:
  void run_all();
  std::size_t step_count() const { return (order_.size() - 1) / step_ + 1; }
  void run_step(std::size_t step, SampleObserver& observer);
  std::vector<SampleBatch> read_step(std::size_t step) const;
  void run_batch(const SampleBatch& batch, SampleObserver& observer);
  void report_done(const SampleBatch& batch);

  const Observation& observation_;
  Session session_;
  const SampleFolder& folder_;
  const Progress& progress_;
  const std::function<SampleObserver&()>& add_observer_;
  std::vector<std::size_t> order_;
  std::size_t step_;  ///< so many of them at a time
  std::mutex done_mutex_;
  ObservedSamples done_;
};

std::vector<SampleBatch> Run::read_step(std::size_t step) const {
  const auto rest = std::span(order_).subspan(step * step_);
  std::vector<SampleBatch> out;
  for (const std::size_t sample : rest.first(std::min(step_, rest.size())))
    out.push_back({folder_.read(sample), {sample}});
  return step_ > 1 ? join_samples(std::move(out), observation_.batch) : std::move(out);
}

void Run::run_step(std::size_t step, SampleObserver& observer) {
  throw_if_interrupted();
  for (const SampleBatch& batch : read_step(step)) run_batch(batch, observer);
}

void Run::run_batch(const SampleBatch& batch, SampleObserver& observer) {
  const Sample& values = batch.values;
  observer.begin(batch.samples.front());
  try {
    session_.run_observed(values.inputs, observer);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Input) throw;
    throw Error(error.kind(), "sample '" + printable(values.name) + "': " + error.what(),
                batch.samples.size() > 1 ? "without calibration.batch each sample runs alone"
                                         : error.hint());
  }
  report_done(batch);
}

void Run::report_done(const SampleBatch& batch) {
  const std::lock_guard lock(done_mutex_);
  done_.samples.insert(done_.samples.end(), batch.samples.begin(), batch.samples.end());
  ++done_.run_count;
  if (progress_) progress_(done_.samples.size(), order_.size());
}

/// The first samples run alone and show how much memory others beside them take.
void Run::run_all() {
  std::vector<SampleObserver*> observers = {&add_observer_()};
  const std::uint64_t before = resident_bytes();
  run_step(0, *observers.front());
  const std::uint64_t after = resident_bytes();
  const int workers =
      worker_count(observation_.threads, after > before ? after - before : 0, memory_limit());
  while (observers.size() < static_cast<std::size_t>(workers))
    observers.push_back(&add_observer_());
  parallel_for(step_count() - 1, workers, [&](std::size_t index, int worker) {
    run_step(index + 1, *observers[static_cast<std::size_t>(worker)]);
  });
}

void Run::run() {
  if (order_.empty()) return;
  try {
    run_all();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Interrupted || !observation_.keep_on_interrupt) throw;
  }
}

ObservedSamples Run::done() {
  std::ranges::sort(done_.samples);
  return std::move(done_);
}

}  // namespace

ObservedSamples observe_samples(const Model& model, const Observation& observation,
                                const SampleFolder& folder, const Progress& progress,
                                const std::function<SampleObserver&()>& add_observer) {
  Run run(model, observation, folder, progress, add_observer);
  run.run();
  return run.done();
}

}  // namespace qtool
