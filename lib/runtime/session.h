#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/model.h"
#include "model/tensor.h"

namespace qtool {

/// Is shown tensors of a running graph, right after they were made.
class TensorObserver {
 public:
  virtual ~TensorObserver() = default;
  /// `tap` is the index into SessionConfig::taps; the values, 16-bit ones widened, are valid during
  /// the call. Called from the thread of `run`.
  virtual void observe(std::size_t tap, std::span<const float> values,
                       std::span<const std::int64_t> shape) = 0;
};

struct SessionConfig {
  enum class Optimization { None, Basic, Extended, All };
  Optimization optimization = Optimization::All;
  int intra_op_threads = 1;
  /// Execution providers by ONNX Runtime's names, the preferred first; the CPU takes what they do
  /// not.
  std::vector<std::string> providers = {};
  /// Names of float32, float16 or bfloat16 values, of the main graph or of bodies in it, that `run`
  /// shows to its observer: the latter each time that the body runs. Values by other names may be
  /// fused away.
  std::vector<std::string> taps;
  /// Where ONNX Runtime writes the model as it optimized it; empty: nowhere.
  std::filesystem::path optimized_model = {};
  /// Whether an interrupt ends a run with an observer at the next tap, or lets it finish.
  bool stop_inside_runs = true;
};

/// A model loaded into ONNX Runtime's CPU provider. `run` may be called from several threads at
/// once.
class Session {
 public:
  /// From memory, without copying referenced tensors. `model` must outlive the session. `Input`
  /// error, in one line and naming the model, where ONNX Runtime refuses it.
  Session(const Model& model, const SessionConfig& config);
  /// From a file.
  Session(const std::filesystem::path& path, const SessionConfig& config);
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  std::span<const TensorInfo> inputs() const;
  std::span<const TensorInfo> outputs() const;

  /// All outputs, in the model's order. Inputs are found by name.
  std::vector<NamedTensor> run(std::span<const NamedTensor> inputs) const;
  /// Only the outputs of these indices, in their order; others may be of kinds that no Tensor
  /// holds.
  std::vector<NamedTensor> run(std::span<const NamedTensor> inputs,
                               std::span<const std::size_t> outputs) const;
  /// Runs for the time's sake; nothing is copied out.
  void run_only(std::span<const NamedTensor> inputs) const;
  /// Runs for the observer's sake; the model's outputs are not copied out.
  void run_observed(std::span<const NamedTensor> inputs, TensorObserver& observer) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

std::string onnxruntime_version();

}  // namespace qtool
