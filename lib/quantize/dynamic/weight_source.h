#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quantize/dynamic/scopes.h"

namespace qtool {

/// A constant and what stands between it and its reader: casts and transpositions of its last two
/// axes, which the stored integers can take over.
struct WeightSource {
  GraphScopes::Constant constant;
  bool is_transposed = false;
  ElementType type = ElementType::Undefined;  ///< in which the reader sees it
  /// The values between, by graph and name, which this reader does not need.
  std::vector<GraphValue> bypassed = {};

  /// As the reader sees it.
  std::vector<std::int64_t> shape() const;
};

/// What a node reads as `name`; nothing where that is computed.
std::optional<WeightSource> weight_source(const GraphScopes& scopes, std::string_view name);

}  // namespace qtool
