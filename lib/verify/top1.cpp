#include "verify/top1.h"

#include <cmath>
#include <span>

namespace qtool {
namespace {

bool is_integer(ElementType type) {
  switch (type) {
    case ElementType::UInt8:
    case ElementType::Int8:
    case ElementType::UInt16:
    case ElementType::Int16:
    case ElementType::UInt32:
    case ElementType::Int32:
    case ElementType::UInt64:
    case ElementType::Int64:
      return true;
    default:
      return false;
  }
}

bool has_scores(ElementType type) {
  return is_integer(type) || type == ElementType::Float || type == ElementType::Double ||
         type == ElementType::Float16 || type == ElementType::BFloat16;
}

std::optional<std::int64_t> first_largest(std::span<const double> scores) {
  std::optional<std::int64_t> best;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i])) continue;
    if (!best || scores[i] > scores[static_cast<std::size_t>(*best)]) {
      best = static_cast<std::int64_t>(i);
    }
  }
  return best;
}

}  // namespace

Top1Counts& Top1Counts::operator+=(const Top1Counts& other) {
  rows += other.rows;
  agreeing += other.agreeing;
  reference_right += other.reference_right;
  right += other.right;
  return *this;
}

std::optional<Classes> classes_of(const Tensor& output) {
  std::vector<std::int64_t> shape = output.shape;
  while (shape.size() > 2 && shape.back() == 1) shape.pop_back();
  if (shape.size() > 2 || !has_scores(output.type)) return std::nullopt;
  const std::vector<double> values = to_float64(output);
  Classes classes;
  if (is_integer(output.type) && (shape.size() < 2 || shape[1] == 1)) {
    for (const double value : values) classes.emplace_back(static_cast<std::int64_t>(value));
    return classes;
  }
  if (shape.empty() || shape.back() < 2) return std::nullopt;
  const auto class_count = static_cast<std::size_t>(shape.back());
  for (std::size_t at = 0; at < values.size(); at += class_count) {
    classes.push_back(first_largest(std::span(values).subspan(at, class_count)));
  }
  return classes;
}

Top1Counts count_top1(const Tensor& reference, const Tensor& other,
                      std::optional<std::int64_t> label) {
  const auto expected = classes_of(reference), found = classes_of(other);
  if (!expected || !found || expected->size() != found->size()) return {};
  Top1Counts counts;
  counts.rows = expected->size();
  for (std::size_t i = 0; i < counts.rows; ++i) {
    const auto a = (*expected)[i], b = (*found)[i];
    counts.agreeing += a && a == b ? 1 : 0;
    counts.reference_right += label && a == label ? 1 : 0;
    counts.right += label && b == label ? 1 : 0;
  }
  return counts;
}

Top1 to_top1(const Top1Counts& counts, bool has_labels) {
  Top1 out;
  out.row_count = counts.rows;
  if (counts.rows == 0) return out;
  const auto rows = static_cast<double>(counts.rows);
  const auto agreeing = static_cast<double>(counts.agreeing);
  out.agreement = agreeing / rows;
  // One division of whole numbers: 1 - 0.99 would exceed a limit of 0.01.
  out.drop = (rows - agreeing) / rows;
  if (has_labels) {
    const auto before = static_cast<double>(counts.reference_right);
    const auto after = static_cast<double>(counts.right);
    out.reference_accuracy = before / rows;
    out.accuracy = after / rows;
    out.drop = (before - after) / rows;
  }
  return out;
}

}  // namespace qtool
