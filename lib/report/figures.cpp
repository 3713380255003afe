#include "report/figures.h"

#include <cmath>
#include <fmt/format.h>

namespace qtool {

std::string share_text(double share) { return fmt::format("{:.2f} %", 100 * share); }

std::string decibel_text(double decibels) {
  if (std::isinf(decibels)) return decibels > 0 ? "exact" : "-inf dB";
  return fmt::format("{:.1f} dB", decibels);
}

std::string cosine_text(double cosine) { return fmt::format("{:.6f}", cosine); }

std::string figure_text(double figure) { return fmt::format("{:.4g}", figure); }

std::string count_text(std::size_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace qtool
