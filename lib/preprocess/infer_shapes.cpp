#include "preprocess/preprocess.h"
#include "preprocess/runtime_types.h"
#include "preprocess/shape_inference.h"

namespace qtool {

void infer_shapes(Model& model, std::vector<std::string>& notes) {
  ShapeInference(model, notes).run();
  std::vector<std::string> said_before;
  if (add_runtime_types(model, notes)) ShapeInference(model, said_before).run();
}

}  // namespace qtool
