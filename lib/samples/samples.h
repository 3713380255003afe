#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/tensor.h"

namespace qtool {

/// One run's inputs, in the order of the model's inputs, and the values expected of it where the
/// folder has them.
struct Sample {
  std::string name;  ///< file or folder name without extension, as labels refer to it
  std::vector<NamedTensor> inputs;
  std::vector<NamedTensor> expected_outputs;  ///< `output_*.pb`; empty names: by position
};

struct SampleOptions {
  std::optional<std::int64_t> max_samples = std::nullopt;
  bool allow_nonfinite = false;
  bool read_expected_outputs = false;
  /// Called with a warning for the user, already worded; each distinct one once.
  std::function<void(const std::string&)> warn = nullptr;
};

/// A folder of samples in one of the layouts of the contract. Opening it lists files and checks
/// names; values are read one sample at a time. `read` may be called from several threads.
class SampleFolder {
 public:
  virtual ~SampleFolder() = default;
  virtual std::size_t size() const = 0;
  virtual const std::string& name(std::size_t index) const = 0;
  /// Whether `max_samples` left some of the folder out.
  virtual bool is_cut() const { return false; }
  /// Reads, checks and converts a sample: dtype lossless or float64 to float32, a missing batch
  /// axis of 1 added, shape within the model's known dimensions, values finite. `Input` error
  /// naming the file otherwise.
  virtual Sample read(std::size_t index) const = 0;
  /// SHA-256 over the names and contents of all samples' files, in order: that of what `sha256sum`
  /// prints for them, run inside the folder. Files that `read` has been through are not read again.
  virtual std::string sha256() const = 0;
  /// The same of one sample's files.
  virtual std::string sha256_of(std::size_t index) const = 0;
  /// Size of the sample's files, 0 where that is not known.
  virtual std::uint64_t bytes(std::size_t index) const = 0;
};

/// Opens `path` for a model with these inputs; `Io` or `Input` errors name the folder or file.
std::unique_ptr<SampleFolder> open_samples(const std::filesystem::path& path,
                                           std::span<const TensorInfo> model_inputs,
                                           const SampleOptions& options);

/// The class of each sample of `folder`, from a labels file (`.json` or `.csv`, both forms of the
/// contract).
std::vector<std::int64_t> read_labels(const std::filesystem::path& path,
                                      const SampleFolder& folder);

/// `labels.json` or `labels.csv` inside a sample folder, where there is one.
std::optional<std::filesystem::path> find_labels(const std::filesystem::path& folder);

}  // namespace qtool
