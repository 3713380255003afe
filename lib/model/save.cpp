#include "model/save.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "base/sha256.h"
#include "model/reference.h"
#include "model/tensor_walk.h"

namespace qtool {
namespace {

std::string serialize(const onnx::ModelProto& proto) {
  std::string out;
  google::protobuf::io::StringOutputStream stream(&out);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  proto.SerializeToCodedStream(&coded);
  coded.Trim();
  return out;
}

}  // namespace

PendingModel::PendingModel(const Model& model, const std::filesystem::path& target,
                           const ExternalDataOptions&)
    : model_file_(target) {
  Model whole = model.clone();
  TensorWalk::model(whole.proto(), [&](onnx::TensorProto& tensor, const TensorPlace&) {
    if (!reference_of(tensor)) return;
    const auto bytes = model.tensor_bytes(tensor);
    tensor.set_raw_data(bytes.data(), bytes.size());
    tensor.clear_external_data();
    tensor.clear_data_location();
  });
  const std::string text = serialize(whole.proto());
  model_file_.write(text);
  model_file_.flush();
  bytes_ = text.size();
  Sha256 hash;
  hash.update(text);
  sha256_ = hash.hex_digest();
}

void PendingModel::commit() {
  if (data_file_) data_file_->commit();
  model_file_.commit();
}

std::string serialize_with_references(const Model& model) { return serialize(model.proto()); }

}  // namespace qtool
