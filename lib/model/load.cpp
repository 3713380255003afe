#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "model/check.h"
#include "model/external_data.h"
#include "model/messages.h"
#include "model/model.h"
#include "model/normalize.h"
#include "model/parse.h"
#include "model/repair.h"
#include "model/tensor_walk.h"
#include "model/types.h"

namespace qtool {
namespace {

/// Brings an external tensor to the form that a Model has it in.
void take_external(onnx::TensorProto& tensor, const TensorPlace& place, DataFiles& files,
                   const std::string& where) {
  const TensorSize size = checked_external_size(tensor, place, where);
  const Reference reference = files.resolve(tensor, place, size.bytes);
  // The ONNX checker looks into sparse tensors, so their values stay at hand.
  if (reference.length >= Model::kReferenceBytes && !place.is_sparse)
    return set_reference(tensor, reference);
  const auto bytes = files.file(reference.file).bytes().subspan(reference.offset, reference.length);
  tensor.clear_external_data();
  tensor.clear_data_location();
  tensor.set_raw_data(bytes.data(), bytes.size());
}

}  // namespace

Model load_model(const std::filesystem::path& path) {
  const std::string where = printable(path.string());
  MappedFile file(path);
  Model model;
  model.path_ = path;
  model.proto_ = parse_model(file.bytes(), where);
  DataFiles files(path, std::move(file));
  TensorWalk::model(model.proto_, [&](onnx::TensorProto& tensor, const TensorPlace& place) {
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL)
      return take_external(tensor, place, files, where);
    normalize_tensor(tensor, place, where);
  });
  model.data_files_ = files.take();
  repair_model(model.proto_, where);
  check_sound(model.proto_, where);
  check_types(model.proto_, where);
  return model;
}

}  // namespace qtool
