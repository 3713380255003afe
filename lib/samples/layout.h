#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/tensor.h"
#include "samples/file_set.h"

namespace qtool {

/// How a folder holds its samples; the contract's table of layouts.
enum class Layout {
  Npy,      ///< `DIR/*.npy`: each file the only input of a run
  Npz,      ///< `DIR/*.npz`: each archive a run
  Folders,  ///< `DIR/SAMPLE/…`: each folder a run, a file per input
};

/// The samples of a folder by name, in natural order. A few bytes each: there may be many.
struct SampleList {
  struct Entry {
    std::string name;  ///< without extension
    std::uint32_t file_set = 0;
  };

  Layout layout = Layout::Npy;
  std::vector<Entry> samples;
  /// The files of a sample, by its `file_set`. Most samples have the same files, and share a set.
  std::vector<std::vector<ValueFile>> file_sets;
  bool is_cut = false;  ///< more than `max_samples` were there
};

/// Finds out the layout of `folder` and lists its samples for a model with `inputs`; checks all
/// names, opens no file.
SampleList list_samples(const std::string& folder, std::span<const TensorInfo> inputs,
                        bool with_outputs, std::optional<std::int64_t> max_samples);

}  // namespace qtool
