#include "preprocess/preprocess.h"
#include "preprocess/shape_inference.h"

namespace qtool {

void infer_shapes(Model& model, std::vector<std::string>& notes) {
  ShapeInference(model, notes).run();
}

}  // namespace qtool
