#include "model/reduce.h"

#include <optional>
#include <utility>

#include "base/error.h"
#include "model/parse.h"

namespace qtool {
namespace {

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

bool holds_values(std::uint32_t number) {
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
bool is_little_endian(std::uint32_t number, std::int32_t data_type) {
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

class Reducer {
 public:
  Reducer(std::span<const std::byte> file, const Reduction& reduction, const std::string& where)
      : file_(file), reduction_(reduction), where_(where) {}

  std::string reduce() {
    std::string out;
    append_reduced(Message::Model, file_, 0, out);
    return out;
  }

 private:
  void append_reduced(Message kind, std::span<const std::byte> message, int depth,
                      std::string& out) {
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
      if (child == Message::Tensor)
        append_tensor(field->payload, kind == Message::Graph, reduced);
      else
        append_reduced(child, field->payload, depth, reduced);
      append_bytes_head(out, field->number, reduced.size());
      out += reduced;
    }
    if (reader.is_broken()) refuse_broken(reader.rest());
  }

  void append_tensor(std::span<const std::byte> message, bool is_initializer,
                     std::string& out) const {
    const auto tensor = large_tensor(message, is_initializer);
    if (!tensor || !reduction_.takes(*tensor)) {
      out += as_text(message);
      return;
    }
    append_without_values(message, out);
    append_place(tensor->values.payload, out);
  }

  static void append_without_values(std::span<const std::byte> message, std::string& out) {
    WireReader reader(message);
    while (const auto field = reader.next()) {
      if (!holds_values(field->number) &&
          field->number != onnx::TensorProto::kDataLocationFieldNumber)
        out += as_text(field->whole);
    }
  }

  /// A tensor whose values are many and lie in memory as raw_data would. Whatever is unusual stays
  /// in the message, for the parser and the checks after it.
  std::optional<TensorInFile> large_tensor(std::span<const std::byte> message,
                                           bool is_initializer) const {
    const auto values = only_values(message);
    if (!values || values->type != WireField::Type::Bytes ||
        values->payload.size() < reduction_.least_bytes)
      return std::nullopt;
    TensorInFile out{.head = {}, .values = *values, .is_initializer = is_initializer};
    std::string head;
    append_without_values(message, head);
    if (!out.head.ParseFromString(head) || out.head.external_data_size() > 0 ||
        !is_little_endian(values->number, out.head.data_type()))
      return std::nullopt;
    return out;
  }

  /// The field with a tensor's values, where there is one and it says nothing of other places.
  std::optional<WireField> only_values(std::span<const std::byte> message) const {
    std::optional<WireField> values;
    int fields_with_values = 0;
    bool is_elsewhere = false;
    WireReader reader(message);
    while (const auto field = reader.next()) {
      if (field->number == onnx::TensorProto::kDataLocationFieldNumber)
        is_elsewhere |= field->value != onnx::TensorProto::DEFAULT;
      if (!holds_values(field->number)) continue;
      ++fields_with_values;
      values = field;
    }
    if (reader.is_broken()) refuse_broken(reader.rest());
    return fields_with_values == 1 && !is_elsewhere ? values : std::nullopt;
  }

  void append_place(std::span<const std::byte> values, std::string& out) const {
    onnx::TensorProto place;
    const auto add = [&](const char* key, std::string value) {
      auto& entry = *place.add_external_data();
      entry.set_key(key);
      entry.set_value(std::move(value));
    };
    add("location", std::string(reduction_.location));
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
  const Reduction& reduction_;
  const std::string& where_;
};

}  // namespace

std::string reduce_message(std::span<const std::byte> file, const Reduction& reduction,
                           const std::string& where) {
  return Reducer(file, reduction, where).reduce();
}

}  // namespace qtool
