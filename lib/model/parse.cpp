#include "model/parse.h"

#include <limits>
#include <string_view>

#include <google/protobuf/stubs/common.h>
#include <onnx/onnx_pb.h>

#include "base/error.h"
#include "model/model.h"
#include "model/reduce.h"

#if GOOGLE_PROTOBUF_VERSION < 4022000
#include <google/protobuf/stubs/logging.h>
#endif

namespace qtool {
namespace {

#if GOOGLE_PROTOBUF_VERSION < 4022000
using ProtobufSilencer = google::protobuf::LogSilencer;
#else
struct ProtobufSilencer {};
#endif

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void refuse_other_files(std::span<const std::byte> file, const std::string& where) {
  if (file.empty()) throw Error(ErrorKind::Input, where + ": is empty, expected an ONNX model");
  if (as_text(file).starts_with("version https://git-lfs")) {
    throw Error(ErrorKind::Input, where + ": is a Git LFS pointer, expected an ONNX model",
                "'git lfs pull' fetches the model itself");
  }
}

}  // namespace

onnx::ModelProto parse_model(std::span<const std::byte> file, const std::string& where) {
  refuse_other_files(file, where);
  const std::string reduced = reduce_message(
      file, {.location = kInModelFile, .least_bytes = Model::kReferenceBytes}, where);
  if (reduced.size() > std::size_t{std::numeric_limits<int>::max()}) {
    throw Error(ErrorKind::Input, where + ": has more than 2 GB beside its tensors");
  }
  const ProtobufSilencer silence;
  onnx::ModelProto model;
  if (!model.ParseFromArray(reduced.data(), static_cast<int>(reduced.size()))) {
    throw Error(ErrorKind::Input, where + ": is not an ONNX model, or damaged");
  }
  if (!model.has_graph())
    throw Error(ErrorKind::Input, where + ": is not an ONNX model: has no graph");
  return model;
}

}  // namespace qtool
