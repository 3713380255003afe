#include "samples/tensor_proto.h"

#include <limits>
#include <utility>

#include <onnx/onnx_pb.h>

#include "base/error.h"
#include "model/model.h"
#include "model/normalize.h"
#include "samples/fit.h"

namespace qtool {
namespace {

onnx::TensorProto parse(ByteStream& stream) {
  // Protobuf counts in int.
  if (stream.remaining() > std::numeric_limits<int>::max()) {
    throw Error(ErrorKind::Input, stream.where() + ": has " + std::to_string(stream.remaining()) +
                                      " bytes, expected at most 2 GB");
  }
  std::string bytes(stream.remaining(), '\0');
  stream.read(std::as_writable_bytes(std::span(bytes)));
  onnx::TensorProto tensor;
  if (!tensor.ParseFromString(bytes)) {
    throw Error(ErrorKind::Input, stream.where() + ": is not a TensorProto, or cut short");
  }
  return tensor;
}

}  // namespace

NamedTensor read_tensor_proto(ByteStream& stream, const TensorInfo& input) {
  onnx::TensorProto tensor = parse(stream);
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL || tensor.external_data_size() > 0) {
    throw Error(ErrorKind::Input,
                stream.where() + ": refers to external data, expected the values inside");
  }
  checked_size(tensor, {}, stream.where());
  NamedTensor out{tensor.name(),
                  {element_type(tensor), {tensor.dims().begin(), tensor.dims().end()}, {}}};
  require_fit(out.tensor.type, out.tensor.shape, input, stream.where());
  normalize_tensor(tensor, {}, stream.where());
  const auto raw = std::as_bytes(std::span(tensor.raw_data()));
  out.tensor.bytes.assign(raw.begin(), raw.end());
  return out;
}

}  // namespace qtool
