#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/tensor.h"

namespace qtool {

/// A file in a sample's folder that holds one value.
struct ValueFile {
  std::string name;
  bool is_output = false;  ///< an expected output
  std::size_t index = 0;   ///< position among the model's inputs, or outputs
};

/// Whether `name` is that of a file with one value: `.npy` or `.pb`.
bool is_value_file(std::string_view name);

/// What the files of a sample's folder mean for a model with `inputs`: one for each input, then,
/// where wanted, the expected outputs `output_0.pb` …. `names` are value files in natural order.
/// `Input` errors name folder or file: missing, unknown, twice.
std::vector<ValueFile> resolve_files(std::span<const std::string> names,
                                     std::span<const TensorInfo> inputs, bool with_outputs,
                                     const std::string& folder);

}  // namespace qtool
