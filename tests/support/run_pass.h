#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "catch.h"
#include "graph_text.h"
#include "model/save.h"
#include "preprocess/passes.h"
#include "preprocess/shape_inference.h"
#include "run_model.h"
#include "text_model.h"

namespace qtool::testing {

/// What a pass makes of a model, nodes that died removed. Its outputs are checked against those
/// before, the result by the ONNX checker, and that a second run changes nothing.
inline Model after_pass(const Model& before, const std::function<bool(Model&)>& pass,
                        double tolerance = 2e-6) {
  Model model = before.clone();
  std::vector<std::string> notes;
  ShapeInference(model, notes).run();
  pass(model);
  remove_dead_nodes(model);
  CHECK_NOTHROW(check_model(model, "result"));
  CHECK(difference(before, model) <= tolerance);
  const std::string once = model.proto().SerializeAsString();
  pass(model);
  remove_dead_nodes(model);
  CHECK(model.proto().SerializeAsString() == once);
  return model;
}

/// Operators that are left of a graph given as text.
inline std::string left_by(std::string_view text, const std::function<bool(Model&)>& pass,
                           double tolerance = 2e-6) {
  return op_types(after_pass(text_model(text), pass, tolerance).graph());
}

}  // namespace qtool::testing
