#pragma once

#include <string>

namespace qtool {

// How figures are written in text and HTML.

/// `98.75 %`
std::string share_text(double share);
/// `24.8 dB`; `exact` where the error is zero.
std::string decibel_text(double decibels);
/// `0.998712`
std::string cosine_text(double cosine);
/// Four significant digits.
std::string figure_text(double figure);
/// `1 sample`, `2 samples`
std::string count_text(std::size_t count, const std::string& noun);

}  // namespace qtool
