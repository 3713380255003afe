#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "calibrate/ranges.h"
#include "config/config.h"
#include "model/graph_view.h"

namespace qtool {

/// Which tensor's range counts for which: a Relu's or Clip's input takes its output's where nobody
/// else reads it, and the output of a Softmax lies in [0, 1].
class RangeSources {
 public:
  /// `takes_part` says of a node whether it is to be quantized. Without `ranges` every tensor
  /// counts as measured.
  RangeSources(const GraphView& graph, const TensorRanges* ranges, const QuantizationConfig& config,
               const std::function<bool(int)>& takes_part);

  /// The tensor whose measured range `tensor` has; nothing where it is [0, 1] by definition.
  std::optional<std::string> measured(const std::string& tensor) const;
  /// The range of `tensor`, or nothing where it was not measured.
  std::optional<Range> range(const std::string& tensor) const;
  bool is_draft() const { return ranges_ == nullptr; }

 private:
  struct Source {
    std::string tensor;  ///< empty: the unit interval
  };
  bool has_range(const std::string& tensor) const;
  Source source(const std::string& tensor) const;

  const TensorRanges* ranges_;
  std::unordered_map<std::string, Source> replaced_;
};

}  // namespace qtool
