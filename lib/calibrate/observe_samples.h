#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "calibrate/sample_batch.h"
#include "model/model.h"
#include "runtime/session.h"
#include "samples/samples.h"

namespace qtool {

/// Is shown the tensors of one sample after the other; each worker has one of its own.
class SampleObserver : public TensorObserver {
 public:
  /// The values that follow are those of this sample, or of a batch of which it is the first.
  virtual void begin(std::size_t sample) = 0;
};

/// A pass over samples.
struct Observation {
  std::vector<std::string> taps;     ///< values to show, as of SessionConfig
  std::vector<std::size_t> samples;  ///< indices into the folder
  /// How far nodes may be changed between the taps.
  SessionConfig::Optimization optimization = SessionConfig::Optimization::Extended;
  int threads = 1;
  Batch batch = {};
  std::vector<std::string> providers = {};  ///< as of SessionConfig
  /// On an interrupt, samples that run are finished and the pass ends early; otherwise an interrupt
  /// throws at once.
  bool keep_on_interrupt = false;
};

struct ObservedSamples {
  std::vector<std::size_t> samples;  ///< those that were run, ascending
  std::size_t run_count = 0;         ///< fewer where samples were joined
};

/// Runs `model` once over the samples, side by side; memory does not grow with their number. The
/// largest samples run first, so that the most memory is taken at the start. `add_observer` is
/// called before each worker begins, never from two threads at once; what it gives must stay where
/// it is.
ObservedSamples observe_samples(const Model& model, const Observation& observation,
                                const SampleFolder& folder, const Progress& progress,
                                const std::function<SampleObserver&()>& add_observer);

}  // namespace qtool
