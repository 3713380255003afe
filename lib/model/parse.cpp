#include "model/parse.h"

#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include <google/protobuf/stubs/common.h>
#include <onnx/onnx_pb.h>

#include "base/error.h"
#include "model/model.h"
#include "model/wire.h"

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

/// The messages that tensors lie in, and what cannot hold one.
enum class Message { Model, Training, Function, Graph, Node, Attribute, Tensor, Other };

/// What a field of `parent` holds. Sparse tensors count as Other: they stay in the message as they
/// are.
Message child_message(Message parent, std::uint32_t number) {
  using onnx::AttributeProto, onnx::FunctionProto, onnx::GraphProto, onnx::ModelProto,
      onnx::NodeProto, onnx::TrainingInfoProto;
  switch (parent) {
    case Message::Model:
      if (number == ModelProto::kGraphFieldNumber) return Message::Graph;
      if (number == ModelProto::kTrainingInfoFieldNumber) return Message::Training;
      if (number == ModelProto::kFunctionsFieldNumber) return Message::Function;
      return Message::Other;
    case Message::Training:
      if (number == TrainingInfoProto::kInitializationFieldNumber) return Message::Graph;
      if (number == TrainingInfoProto::kAlgorithmFieldNumber) return Message::Graph;
      return Message::Other;
    case Message::Function:
      if (number == FunctionProto::kNodeFieldNumber) return Message::Node;
      if (number == FunctionProto::kAttributeProtoFieldNumber) return Message::Attribute;
      return Message::Other;
    case Message::Graph:
      if (number == GraphProto::kNodeFieldNumber) return Message::Node;
      if (number == GraphProto::kInitializerFieldNumber) return Message::Tensor;
      return Message::Other;
    case Message::Node:
      return number == NodeProto::kAttributeFieldNumber ? Message::Attribute : Message::Other;
    case Message::Attribute:
      if (number == AttributeProto::kTFieldNumber) return Message::Tensor;
      if (number == AttributeProto::kTensorsFieldNumber) return Message::Tensor;
      if (number == AttributeProto::kGFieldNumber) return Message::Graph;
      if (number == AttributeProto::kGraphsFieldNumber) return Message::Graph;
      return Message::Other;
    case Message::Tensor:
    case Message::Other:
      return Message::Other;
  }
  return Message::Other;
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Copies a model's message without the values of its large tensors.
class Reducer {
 public:
  Reducer(std::span<const std::byte> file, const std::string& where) : file_(file), where_(where) {}

  std::string reduce() {
    std::string out;
    append_reduced(Message::Model, file_, 0, out);
    return out;
  }

 private:
  void append_reduced(Message kind, std::span<const std::byte> message, int depth,
                      std::string& out) {
    if (kind == Message::Tensor) return append_tensor(message, out);
    depth += kind == Message::Graph;
    if (depth > kMaxGraphDepth) {
      throw Error(ErrorKind::Input, where_ + ": graphs are nested too deep, expected at most " +
                                        std::to_string(kMaxGraphDepth) + " levels");
    }
    WireReader reader(message);
    while (const auto field = reader.next()) {
      const Message child = child_message(kind, field->number);
      if (child == Message::Other || field->type != WireField::Type::Bytes) {
        out += as_text(field->whole);
        continue;
      }
      std::string reduced;
      append_reduced(child, field->payload, depth, reduced);
      append_bytes_head(out, field->number, reduced.size());
      out += reduced;
    }
    if (reader.is_broken()) refuse_broken(reader.rest());
  }

  void append_tensor(std::span<const std::byte> message, std::string& out) const {
    const auto values = large_values(message);
    WireReader reader(message);
    while (const auto field = reader.next()) {
      const bool is_replaced =
          values && (field->number == values->number ||
                     field->number == onnx::TensorProto::kDataLocationFieldNumber);
      if (!is_replaced) out += as_text(field->whole);
    }
    if (values) append_place(values->payload, out);
  }

  /// The field with a tensor's values, where they are many and lie in memory as raw_data would.
  std::optional<WireField> large_values(std::span<const std::byte> message) const {
    using onnx::TensorProto;
    std::optional<WireField> values;
    int fields_with_values = 0;
    std::uint64_t data_type = 0;
    bool is_external = false;
    WireReader reader(message);
    while (const auto field = reader.next()) {
      if (field->number == TensorProto::kDataTypeFieldNumber) data_type = field->value;
      if (field->number == TensorProto::kExternalDataFieldNumber) is_external = true;
      if (field->number == TensorProto::kDataLocationFieldNumber)
        is_external |= field->value != TensorProto::DEFAULT;
      if (holds_values(field->number)) {
        ++fields_with_values;
        values = field;
      }
    }
    if (reader.is_broken()) refuse_broken(reader.rest());
    // Whatever is unusual stays in the message, for the parser and the checks after it.
    const bool is_usual = fields_with_values == 1 && !is_external &&
                          values->type == WireField::Type::Bytes &&
                          is_little_endian(values->number, data_type);
    return is_usual && values->payload.size() >= Model::kReferenceBytes ? values : std::nullopt;
  }

  static bool holds_values(std::uint32_t number) {
    using onnx::TensorProto;
    return number == TensorProto::kRawDataFieldNumber ||
           number == TensorProto::kFloatDataFieldNumber ||
           number == TensorProto::kDoubleDataFieldNumber ||
           number == TensorProto::kInt32DataFieldNumber ||
           number == TensorProto::kInt64DataFieldNumber ||
           number == TensorProto::kUint64DataFieldNumber ||
           number == TensorProto::kStringDataFieldNumber;
  }

  /// Whether a field's bytes are the tensor's: packed floats and doubles are, integers are varints.
  static bool is_little_endian(std::uint32_t number, std::uint64_t data_type) {
    using onnx::TensorProto;
    if (number == TensorProto::kRawDataFieldNumber) return true;
    if (number == TensorProto::kFloatDataFieldNumber) {
      return data_type == TensorProto::FLOAT || data_type == TensorProto::COMPLEX64;
    }
    if (number == TensorProto::kDoubleDataFieldNumber) {
      return data_type == TensorProto::DOUBLE || data_type == TensorProto::COMPLEX128;
    }
    return false;
  }

  void append_place(std::span<const std::byte> values, std::string& out) const {
    onnx::TensorProto place;
    const auto add = [&](const char* key, std::string value) {
      auto& entry = *place.add_external_data();
      entry.set_key(key);
      entry.set_value(std::move(value));
    };
    add("location", std::string(kInModelFile));
    add("offset", std::to_string(values.data() - file_.data()));
    add("length", std::to_string(values.size()));
    place.set_data_location(onnx::TensorProto::EXTERNAL);
    place.AppendToString(&out);
  }

  [[noreturn]] void refuse_broken(std::span<const std::byte> rest) const {
    throw Error(ErrorKind::Input, where_ + ": is not an ONNX model, or damaged at byte " +
                                      std::to_string(rest.data() - file_.data()) + " of " +
                                      std::to_string(file_.size()));
  }

  std::span<const std::byte> file_;
  const std::string& where_;
};

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
  const std::string reduced = Reducer(file, where).reduce();
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
