#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace qtool {

/// What must be known of all values before ONNX Runtime's histogram of them can be counted.
struct PeerExtremes {
  float min = 0;
  float max = 0;
  float min_magnitude = 0;
  float max_magnitude = 0;
};

/// The histogram of onnxruntime.quantization 1.32 with numpy 2, every edge and count the same
/// (docs/numerics.md, "Histograms of preset onnxruntime"). Values come in any number of batches;
/// only their extremes must be known beforehand.
class PeerHistogram {
 public:
  enum class Of {
    Values,      ///< over (-t, t), t the largest magnitude
    Magnitudes,  ///< over the least to the largest magnitude
  };

  /// Needs a bin, and the extremes of the finite values.
  PeerHistogram(const PeerExtremes& extremes, Of of, std::size_t bins);

  /// Values that are NaN or beyond the extremes count for nothing.
  void observe(std::span<const float> values);
  /// Adds the counts of a histogram over the same bins.
  void merge(const PeerHistogram& other);

  const PeerExtremes& extremes() const { return extremes_; }
  std::span<const float> edges() const { return edges_; }  ///< one more than counts
  std::span<const std::int64_t> counts() const { return counts_; }

 private:
  void count(float value);

  PeerExtremes extremes_;
  Of of_;
  float low_ = 0;
  float high_ = 0;
  float factor_ = 1;  ///< keeps high - low from overflowing; 1 in all but the largest ranges
  std::vector<float> edges_;
  std::vector<std::int64_t> counts_;
};

}  // namespace qtool
