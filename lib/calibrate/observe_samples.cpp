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
        order_(largest_first(observation.samples, folder)) {}

  void run();
  std::vector<std::size_t> done();

 private:
  void run_all();
  void run_sample(std::size_t sample, SampleObserver& observer);
  void report_done(std::size_t sample);

  const Observation& observation_;
  Session session_;
  const SampleFolder& folder_;
  const Progress& progress_;
  const std::function<SampleObserver&()>& add_observer_;
  std::vector<std::size_t> order_;
  std::mutex done_mutex_;
  std::vector<std::size_t> done_;
};

void Run::run_sample(std::size_t sample, SampleObserver& observer) {
  throw_if_interrupted();
  const Sample values = folder_.read(sample);
  observer.begin(sample);
  try {
    session_.run_observed(values.inputs, observer);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Input) throw;
    throw Error(error.kind(), "sample '" + printable(values.name) + "': " + error.what(),
                error.hint());
  }
  report_done(sample);
}

void Run::report_done(std::size_t sample) {
  const std::lock_guard lock(done_mutex_);
  done_.push_back(sample);
  if (progress_) progress_(done_.size(), order_.size());
}

/// The first sample runs alone and shows how much memory another one beside it takes.
void Run::run_all() {
  std::vector<SampleObserver*> observers = {&add_observer_()};
  const std::uint64_t before = resident_bytes();
  run_sample(order_.front(), *observers.front());
  const std::uint64_t after = resident_bytes();
  const int workers =
      worker_count(observation_.threads, after > before ? after - before : 0, memory_limit());
  while (observers.size() < static_cast<std::size_t>(workers))
    observers.push_back(&add_observer_());
  parallel_for(order_.size() - 1, workers, [&](std::size_t index, int worker) {
    run_sample(order_[index + 1], *observers[static_cast<std::size_t>(worker)]);
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

std::vector<std::size_t> Run::done() {
  std::ranges::sort(done_);
  return std::move(done_);
}

}  // namespace

std::vector<std::size_t> observe_samples(const Model& model, const Observation& observation,
                                         const SampleFolder& folder, const Progress& progress,
                                         const std::function<SampleObserver&()>& add_observer) {
  Run run(model, observation, folder, progress, add_observer);
  run.run();
  return run.done();
}

}  // namespace qtool
