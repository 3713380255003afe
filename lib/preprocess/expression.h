#pragma once

#include <array>
#include <optional>
#include <string>

#include "preprocess/graph_editor.h"

namespace qtool {

/// The value of a constant beside input `slot` of a node with two inputs: one number that gives the
/// result no other shape than that input has.
std::optional<double> number_beside(const GraphEditor& graph, int index, int slot);

/// `value` as another one times a number; with factor 1 where nothing multiplies it.
struct Scaled {
  std::string value;
  double factor = 1;
};
Scaled scaled(const GraphEditor& graph, const std::string& value);

/// Coefficients of 1, x, x^2 and x^3.
using Polynomial = std::array<double, 4>;

/// `value` as a polynomial of `x`, by Add, Sub, Mul, Div and Pow with numbers.
std::optional<Polynomial> polynomial_of(const GraphEditor& graph, const std::string& value,
                                        const std::string& x);

/// Whether two numbers differ by no more than float32 and short decimals in a model's source do.
bool is_close(double a, double b);

/// Whether `value` is of a type that ONNX Runtime has all kernels for: float32 or float16.
bool is_single_or_half(const GraphEditor& graph, const std::string& value);

/// Gives a node that came to stand for several a name, where it has none.
void ensure_name(GraphEditor& graph, int index);

}  // namespace qtool
