#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "config/config.h"

namespace qtool {

/// What running the source model and a quantized one side by side on made-up samples gave.
struct OutputCheck {
  std::size_t sample_count = 0;  ///< 0: nothing was run, `note` says why
  std::optional<double> cosine;  ///< the least of an output; nothing where none has numbers
  std::string note;
};

/// How many samples are run where nobody says: one for models below 300 MB.
std::size_t default_output_checks(std::uint64_t input_bytes);

/// Runs `input` and then `output`, one in memory at a time. Where the source model cannot be run on
/// such samples there is no check; an `Internal` error where only the other cannot.
OutputCheck check_output(const std::filesystem::path& input, const std::filesystem::path& output,
                         const Config& config, std::size_t sample_count);

}  // namespace qtool
