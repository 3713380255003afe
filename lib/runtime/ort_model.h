#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "model/model.h"

namespace qtool {

/// A model in the form in which ONNX Runtime is given it, so that no weight is copied on the way.
struct OrtModel {
  /// Serialized. A tensor in a mapped file refers to that file by its path below `folder`, and ONNX
  /// Runtime maps it for as long as it needs it; a large one in memory refers to nothing and stands
  /// in `in_memory`.
  std::string bytes;
  std::filesystem::path folder = "/";
  /// Initializers of the main graph, pointing into the Model.
  std::vector<const onnx::TensorProto*> in_memory;
};

OrtModel make_ort_model(const Model& model);

/// The part of `model` that makes the values named by `taps`, with an observer behind each. Its one
/// output is a constant.
OrtModel make_tapped_ort_model(const Model& model, std::span<const std::string> taps);

}  // namespace qtool
