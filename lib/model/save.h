#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/file.h"
#include "model/model.h"

namespace qtool {

/// Where large tensors of a written model go.
struct ExternalDataOptions {
  enum class Mode {
    Auto,
    Always,
    Never
  } mode = Mode::Auto;  ///< Auto: beyond 2 GB, or where the input had external data
  std::optional<std::string> file_name;  ///< default: `<output file name>.data`
  std::uint64_t threshold_bytes = 1024;
};

/// A model on its way to its place: the content is complete at `path()`, the names appear by
/// `commit()`.
class PendingModel {
 public:
  /// Writes `model` beside `target`, tensor by tensor, never holding the whole file in memory;
  /// deterministic bytes.
  PendingModel(const Model& model, const std::filesystem::path& target,
               const ExternalDataOptions& options);
  /// The complete model file under its temporary name (it refers to its external data, if any, by a
  /// temporary name too).
  const std::filesystem::path& path() const { return model_file_.temporary_path(); }
  std::uint64_t bytes() const { return bytes_; }
  /// SHA-256 of the model file as it will be after `commit`.
  const std::string& sha256() const { return sha256_; }
  void commit();

 private:
  AtomicFile model_file_;
  std::optional<AtomicFile> data_file_;
  std::uint64_t bytes_ = 0;
  std::string sha256_;
};

/// Runs the ONNX checker over `model`; an `Input` error naming `what` where it objects. Large
/// tensors are not copied for it.
void check_model(const Model& model, const std::string& what);

/// `model` as bytes in which references stay references: what ONNX Runtime is given together with
/// data_files().
std::string serialize_with_references(const Model& model);

}  // namespace qtool
