#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "samples/samples.h"

namespace qtool {

/// How many samples one run takes, joined along the first axis of every input.
struct Batch {
  std::int64_t size = 1;
  bool is_exact = false;  ///< the model takes just so many rows
};

/// Samples joined to one, and their indices into the folder, ascending.
struct SampleBatch {
  Sample values;
  std::vector<std::size_t> samples;
};

/// Joins at most `batch.size` samples, those that can be: of equal types and, but for the first,
/// equal dimensions, with one number of rows in all inputs. The others stay alone. `Input` error
/// where rows are missing to an exact batch.
std::vector<SampleBatch> join_samples(std::vector<SampleBatch> singles, const Batch& batch);

}  // namespace qtool
