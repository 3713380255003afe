#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "model/made_values.h"
#include "model/model.h"

namespace qtool {

/// Where large tensors of a written model go.
struct ExternalDataOptions {
  enum class Mode {
    Auto,
    Always,
    Never
  } mode = Mode::Auto;  ///< Auto: all beyond 2 GB, else those that lay beside the input
  std::optional<std::string> file_name;  ///< default: `<output file name>.data`
  std::uint64_t threshold_bytes = 1024;
};

/// A file of a written model.
struct WrittenFile {
  std::filesystem::path path;  ///< where it is after `commit`
  std::uint64_t bytes = 0;
  std::string sha256;
};

/// A model on its way to its place: the content is complete at `path()`, the names appear by
/// `commit()`.
class PendingModel {
 public:
  /// Writes `model` beside `target`, tensor by tensor, never holding the whole file in memory;
  /// deterministic bytes. `Usage` error where it needs external data and may not have any, or would
  /// take the place of a file that it is made from. `make` gives the values that are made only now.
  PendingModel(const Model& model, const std::filesystem::path& target,
               const ExternalDataOptions& options, const ValueMaker& make = {});
  /// The complete model under a temporary name, to be loaded before it counts. With external data
  /// it is a file of its own that refers to the data by their temporary name.
  const std::filesystem::path& path() const {
    return (preview_file_ ? *preview_file_ : model_file_).temporary_path();
  }
  /// The model file, then its external data where it has some.
  const std::vector<WrittenFile>& files() const { return files_; }
  /// Bytes of all files.
  std::uint64_t bytes() const;
  /// SHA-256 of the model file as it will be after `commit`.
  const std::string& sha256() const { return files_.front().sha256; }
  void commit();

 private:
  void write_external(const Model& model, const ExternalDataOptions& options,
                      const ValueMaker& make, bool only_inherited);

  AtomicFile model_file_;
  std::optional<AtomicFile> preview_file_;
  std::optional<AtomicFile> data_file_;
  std::vector<WrittenFile> files_;
};

/// Runs the ONNX checker over `model`; an `Input` error naming `what` where it objects. Large
/// tensors are not copied for it.
void check_model(const Model& model, const std::string& what);

/// `model` as bytes in which references stay references: what ONNX Runtime is given together with
/// data_files().
std::string serialize_with_references(const Model& model);

}  // namespace qtool
