#include "model/ir_version.h"

#include <algorithm>

#include "model/graph_view.h"
#include "model/tensor_walk.h"

namespace qtool {

std::int64_t ir_version_of(std::int64_t opset) {
  struct Release {
    std::int64_t first_opset, ir_version;
  };
  constexpr Release kReleases[] = {{25, 13}, {24, 12}, {23, 11}, {21, 10}, {19, 9},
                                   {15, 8},  {12, 7},  {11, 6},  {10, 5},  {9, 4}};
  for (const auto& release : kReleases) {
    if (opset >= release.first_opset) return release.ir_version;
  }
  return 3;
}

std::int64_t ir_version_of(ElementType type) {
  switch (type) {
    case ElementType::BFloat16:
      return 4;
    case ElementType::Float8E4M3FN:
    case ElementType::Float8E4M3FNUZ:
    case ElementType::Float8E5M2:
    case ElementType::Float8E5M2FNUZ:
      return 9;
    case ElementType::UInt4:
    case ElementType::Int4:
      return 10;
    case ElementType::Float4E2M1:
      return 11;
    case ElementType::Float8E8M0:
      return 12;
    case ElementType::UInt2:
    case ElementType::Int2:
      return 13;
    case ElementType::Float6E2M3:
    case ElementType::Float6E3M2:
      return 14;
    default:
      return 3;
  }
}

void raise_ir_version(Model& model) {
  std::int64_t needed = model.proto().ir_version();
  TensorWalk::model(model.proto(), [&](const onnx::TensorProto& tensor, const TensorPlace&) {
    needed = std::max(needed, ir_version_of(element_type(tensor)));
  });
  model.proto().set_ir_version(needed);
}

}  // namespace qtool
