#pragma once

#include <string_view>

namespace qtool {

/// What is known of the element types of one operator that ONNX has no schema for. A letter per
/// slot, the last one holding for all that follow: T and S become the target type, each letter one
/// type for all its slots; f stays float32; - holds no float32.
struct ContribTypes {
  std::string_view op_type;
  std::string_view inputs, outputs;
  bool takes_bfloat16 = false;
};

/// Null where nothing is known.
const ContribTypes* find_contrib_types(std::string_view domain, std::string_view op_type);

}  // namespace qtool
