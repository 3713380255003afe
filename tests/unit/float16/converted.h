#pragma once

#include <string>

#include "config/config.h"
#include "float16/lowering.h"
#include "float16/planner.h"
#include "model/graph_view.h"
#include "model/save.h"
#include "preprocess/passes.h"
#include "preprocess/preprocess.h"
#include "run_model.h"
#include "text_model.h"

namespace qtool::testing {

inline Model typed_model(const std::string& text) {
  Model model = text_model(text);
  std::vector<std::string> notes;
  infer_shapes(model, notes);
  return model;
}

/// `text` in the type of the config, found sound by the checker and by its types.
inline Model converted(const std::string& text, const Float16Config& config = {}) {
  Model model = typed_model(text);
  const Float16Plan plan = plan_float16(model, config);
  Model out = lower_float16(std::move(model), plan);
  check_model(out, "the converted model");
  return Model(out.proto());
}

inline std::size_t count_of(const Model& model, const std::string& op_type) {
  std::size_t count = 0;
  for_each_graph(model.graph(), [&](const onnx::GraphProto& graph) {
    for (const auto& node : graph.node()) count += node.op_type() == op_type;
  });
  return count;
}

/// What float16 loses on the small models of these tests.
constexpr double kNear = 4e-3;

}  // namespace qtool::testing
