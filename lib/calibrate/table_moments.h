#pragma once

#include <cstdint>
#include <string>

#include "calibrate/second_moments.h"
#include "calibrate/statistics.h"

namespace qtool {

class SecondMomentsProto;

void encode_moments(const SecondMoments& moments, SecondMomentsProto& out);

/// What is known of moments before they are read.
struct MomentsForm {
  std::uint64_t length = 0;  ///< of a row
  std::uint64_t matrix_count = 1;
  bool is_ragged = false;
  bool has_windows = false;  ///< rows share values with each other, so that there may be more
};

/// The moments that the message holds of a tensor with these statistics. `Input` error, which
/// begins with `where`, for what could not have been recorded.
SecondMoments decode_moments(const SecondMomentsProto& message, const MomentsForm& form,
                             const TensorStatistics& statistics, const std::string& where);

}  // namespace qtool
