#include <utility>

#include "base/error.h"
#include "model/check.h"
#include "model/model.h"
#include "model/normalize.h"
#include "model/tensor_walk.h"

namespace qtool {

Model load_model(const std::filesystem::path& path) {
  const std::string where = path.string();
  const MappedFile file(path);
  onnx::ModelProto proto;
  if (file.bytes().empty() || file.bytes().size() > std::size_t{0x7fffffff} ||
      !proto.ParseFromArray(file.bytes().data(), static_cast<int>(file.bytes().size()))) {
    throw Error(ErrorKind::Input, where + ": is not an ONNX model");
  }
  TensorWalk::model(proto, [&](onnx::TensorProto& tensor, const TensorPlace& place) {
    normalize_tensor(tensor, place, where);
  });
  check_structure(proto, where);
  Model model;
  model.proto_ = std::move(proto);
  model.path_ = path;
  return model;
}

}  // namespace qtool
