#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <onnx/onnx_pb.h>

#include "base/file.h"
#include "model/tensor.h"

namespace qtool {

/// An ONNX model in memory. Every tensor in it (initializers of all graphs, tensor attributes)
/// holds its values in one of three forms, whatever form the file had:
///   - raw_data: little-endian bytes, for tensors below `kReferenceBytes` and for those that qtool
///   made
///   - a reference: external_data whose location names one of `data_files()`, with offset and
///   length; the bytes stay in the
///     mapped file that they came from until the model is written, and may start at any address
///   - string_data: strings
/// so that a model larger than memory can be rewritten, and code never sees float_data and its
/// like. Nodes stand in an order in which each comes after what it reads, and the model has been
/// found sound when it was loaded or made.
class Model {
 public:
  static constexpr std::size_t kReferenceBytes = 1024;

  Model() = default;
  /// Takes a proto made in memory; brings its tensors to the forms above. `Input` errors as for
  /// load_model.
  explicit Model(onnx::ModelProto proto);
  Model(Model&&) noexcept = default;
  Model& operator=(Model&&) noexcept = default;

  /// A copy that shares the mapped files.
  Model clone() const;
  /// Another graph over the same mapped files; its tensors are copies of this model's or raw_data.
  Model with_proto(onnx::ModelProto proto) const;

  onnx::ModelProto& proto() { return proto_; }
  const onnx::ModelProto& proto() const { return proto_; }
  onnx::GraphProto& graph() { return *proto_.mutable_graph(); }
  const onnx::GraphProto& graph() const { return proto_.graph(); }

  /// Where the model was loaded from; empty for one made in memory.
  const std::filesystem::path& path() const { return path_; }

  /// The imported version of `domain` ("" and "ai.onnx" are one), or 0.
  std::int64_t opset(std::string_view domain = "") const;
  void set_opset(std::string_view domain, std::int64_t version);

  /// The stored bytes of a tensor of this model, valid while the model and the proto stay
  /// unchanged. Empty for strings.
  std::span<const std::byte> tensor_bytes(const onnx::TensorProto& tensor) const;
  /// A copy of a tensor's values.
  Tensor tensor(const onnx::TensorProto& tensor) const;

  /// The mapped files that references point into, by the location that stands in external_data.
  struct DataFile {
    std::string location;
    std::shared_ptr<const MappedFile> file;
  };
  std::span<const DataFile> data_files() const { return data_files_; }

 private:
  friend Model load_model(const std::filesystem::path&);

  onnx::ModelProto proto_;
  std::filesystem::path path_;
  std::vector<DataFile> data_files_;
};

/// Reads a model and checks it: sizes of all tensors, external data inside the model's folder,
/// structure by the ONNX checker. `Io` error where the file cannot be read, `Input` error naming
/// the file and the tensor or node where it is not a sound model.
Model load_model(const std::filesystem::path& path);

/// A tensor initializer made in memory (raw_data form).
onnx::TensorProto make_tensor(std::string name, ElementType type,
                              std::span<const std::int64_t> shape,
                              std::span<const std::byte> bytes);
/// The same of float16, float32 or float64 values; each is rounded half to even.
onnx::TensorProto make_float_tensor(std::string name, ElementType type,
                                    std::span<const std::int64_t> shape,
                                    std::span<const float> values);

/// Number of elements by a tensor's dims; they were checked when the model was loaded.
std::size_t element_count(const onnx::TensorProto& tensor);
ElementType element_type(const onnx::TensorProto& tensor);

/// What a value_info says of a tensor's type and shape.
TensorInfo tensor_info(const onnx::ValueInfoProto& value);

/// Graph inputs that a run must be given: those without an initializer of the same name.
std::vector<TensorInfo> required_inputs(const onnx::GraphProto& graph);

/// The attribute of that name, or nullptr.
const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, std::string_view name);
std::int64_t int_attribute(const onnx::NodeProto& node, std::string_view name,
                           std::int64_t fallback);
float float_attribute(const onnx::NodeProto& node, std::string_view name, float fallback);
std::string string_attribute(const onnx::NodeProto& node, std::string_view name,
                             std::string fallback);

/// `node 'conv1' (Conv)`, or by its first output where it has no name; for messages.
std::string describe(const onnx::NodeProto& node);

/// True for "" and "ai.onnx".
bool is_default_domain(std::string_view domain);

}  // namespace qtool
