#include "model/model_writer.h"

#include <utility>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/unknown_field_set.h>
#include <onnx/onnx_pb.h>

#include "base/error.h"
#include "model/wire.h"

namespace qtool {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

template <typename T>
const T* as(const Message& message) {
  return message.GetDescriptor() == T::descriptor() ? static_cast<const T*>(&message) : nullptr;
}

bool holds_tensors(const onnx::AttributeProto& attribute) {
  return attribute.has_t() || attribute.has_g() || attribute.tensors_size() > 0 ||
         attribute.graphs_size() > 0;
}

/// Whether a message must be written field by field, because of tensors below it.
bool holds_tensors(const Message& message) {
  if (const auto* attribute = as<onnx::AttributeProto>(message)) return holds_tensors(*attribute);
  if (const auto* node = as<onnx::NodeProto>(message)) {
    for (const auto& attribute : node->attribute()) {
      if (holds_tensors(attribute)) return true;
    }
    return false;
  }
  return as<onnx::ModelProto>(message) != nullptr || as<onnx::GraphProto>(message) != nullptr ||
         as<onnx::FunctionProto>(message) != nullptr ||
         as<onnx::TrainingInfoProto>(message) != nullptr;
}

std::uint64_t tag(const FieldDescriptor& field, WireField::Type type) {
  return static_cast<std::uint64_t>(field.number()) << 3 | static_cast<std::uint64_t>(type);
}

/// Appends a field that is no message, of a message that holds tensors: those have no other kinds
/// than these.
void append_scalars(const Message& message, const FieldDescriptor& field, std::string& out) {
  const auto& reflection = *message.GetReflection();
  const bool is_repeated = field.is_repeated();
  const int count = is_repeated ? reflection.FieldSize(message, &field) : 1;
  const auto append_number = [&](std::uint64_t value) {
    append_varint(out, tag(field, WireField::Type::Varint));
    append_varint(out, value);
  };
  std::string scratch;
  for (int i = 0; i < count; ++i) {
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING: {
        const std::string& text =
            is_repeated ? reflection.GetRepeatedStringReference(message, &field, i, &scratch)
                        : reflection.GetStringReference(message, &field, &scratch);
        append_bytes_head(out, static_cast<std::uint32_t>(field.number()), text.size());
        out += text;
        break;
      }
      case FieldDescriptor::CPPTYPE_INT64:
        append_number(
            static_cast<std::uint64_t>(is_repeated ? reflection.GetRepeatedInt64(message, &field, i)
                                                   : reflection.GetInt64(message, &field)));
        break;
      case FieldDescriptor::CPPTYPE_ENUM:
        append_number(static_cast<std::uint64_t>(static_cast<std::int64_t>(
            is_repeated ? reflection.GetRepeatedEnumValue(message, &field, i)
                        : reflection.GetEnumValue(message, &field))));
        break;
      default:
        throw Error(ErrorKind::Internal, "field " + field.full_name() + " cannot be written");
    }
  }
}

/// Calls `visit_message(field, message)` for each message in a field, `visit_scalars(field)` for
/// each other field, in the order of their numbers.
template <typename VisitMessage, typename VisitScalars>
void for_each_field(const Message& message, const VisitMessage& visit_message,
                    const VisitScalars& visit_scalars) {
  const auto& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      visit_scalars(*field);
    } else if (field->is_repeated()) {
      for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
        visit_message(*field, reflection.GetRepeatedMessage(message, field, i));
      }
    } else {
      visit_message(*field, reflection.GetMessage(message, field));
    }
  }
}

std::string unknown_fields(const Message& message) {
  std::string out;
  message.GetReflection()->GetUnknownFields(message).SerializeToString(&out);
  return out;
}

/// A tensor without its values.
onnx::TensorProto head_of(const onnx::TensorProto& tensor) {
  onnx::TensorProto head;
  *head.mutable_dims() = tensor.dims();
  head.set_data_type(tensor.data_type());
  if (tensor.has_name()) head.set_name(tensor.name());
  if (tensor.has_doc_string()) head.set_doc_string(tensor.doc_string());
  *head.mutable_metadata_props() = tensor.metadata_props();
  head.GetReflection()->MutableUnknownFields(&head)->MergeFrom(
      tensor.GetReflection()->GetUnknownFields(tensor));
  return head;
}

void add_place(onnx::TensorProto& head, const TensorStorage& storage) {
  const auto add = [&](const char* key, std::string value) {
    auto& entry = *head.add_external_data();
    entry.set_key(key);
    entry.set_value(std::move(value));
  };
  add("location", storage.location);
  add("offset", std::to_string(storage.offset));
  add("length", std::to_string(storage.bytes()));
  head.set_data_location(onnx::TensorProto::EXTERNAL);
}

}  // namespace

class ModelWriter::Measurer {
 public:
  Measurer(ModelWriter& writer, const ChooseStorage& choose) : writer_(writer), choose_(choose) {}

  std::uint64_t measure(const Message& message, TensorSite site) {
    const std::size_t slot = writer_.sizes_.size();
    writer_.sizes_.push_back(0);
    std::uint64_t size = 0;
    if (const auto* tensor = as<onnx::TensorProto>(message)) {
      size = measure_tensor(*tensor, site);
    } else if (holds_tensors(message)) {
      size = measure_fields(message, site_inside(message, site));
    } else {
      size = message.ByteSizeLong();
    }
    writer_.sizes_[slot] = size;
    return size;
  }

 private:
  static TensorSite site_inside(const Message& message, TensorSite site) {
    site.node = as<onnx::NodeProto>(message) != nullptr
                    ? static_cast<const onnx::NodeProto*>(&message)
                    : site.node;
    if (as<onnx::GraphProto>(message) != nullptr) {
      site.node = nullptr;
      ++site.graph_depth;
    }
    site.is_in_function |= as<onnx::FunctionProto>(message) != nullptr ||
                           as<onnx::TrainingInfoProto>(message) != nullptr;
    return site;
  }

  std::uint64_t measure_fields(const Message& message, const TensorSite& site) {
    std::uint64_t size = unknown_fields(message).size();
    std::string scalars;
    const auto add_message = [&](const FieldDescriptor& field, const Message& child) {
      const std::uint64_t child_size = measure(child, site);
      size +=
          varint_bytes(tag(field, WireField::Type::Bytes)) + varint_bytes(child_size) + child_size;
    };
    const auto add_scalars = [&](const FieldDescriptor& field) {
      scalars.clear();
      append_scalars(message, field, scalars);
      size += scalars.size();
    };
    for_each_field(message, add_message, add_scalars);
    return size;
  }

  std::uint64_t measure_tensor(const onnx::TensorProto& tensor, const TensorSite& site) {
    const TensorStorage storage = choose_(tensor, site);
    Part& part = writer_.parts_.emplace_back();
    if (storage.kind == TensorStorage::Kind::AsIs) return tensor.ByteSizeLong();
    onnx::TensorProto head = head_of(tensor);
    if (storage.kind == TensorStorage::Kind::External) {
      add_place(head, storage);
      part.head = head.SerializeAsString();
      return part.head.size();
    }
    part.head = head.SerializeAsString();
    append_bytes_head(part.head, onnx::TensorProto::kRawDataFieldNumber, storage.bytes());
    part.raw_data = storage.values;
    part.made = storage.made;
    return part.head.size() + storage.bytes();
  }

  ModelWriter& writer_;
  const ChooseStorage& choose_;
};

class ModelWriter::Emitter {
 public:
  Emitter(const ModelWriter& writer, const Sink& sink) : writer_(writer), sink_(sink) {}

  void emit(const Message& message) {
    ++next_size_;
    if (const auto* tensor = as<onnx::TensorProto>(message)) {
      emit_tensor(*tensor);
    } else if (holds_tensors(message)) {
      emit_fields(message);
    } else {
      message.AppendPartialToString(&buffer_);
    }
    if (buffer_.size() > kBufferBytes) flush();
  }

  void flush() {
    sink_(buffer_);
    buffer_.clear();
  }

 private:
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 16;

  void emit_fields(const Message& message) {
    const auto add_message = [&](const FieldDescriptor& field, const Message& child) {
      append_bytes_head(buffer_, static_cast<std::uint32_t>(field.number()),
                        writer_.sizes_[next_size_]);
      emit(child);
    };
    const auto add_scalars = [&](const FieldDescriptor& field) {
      append_scalars(message, field, buffer_);
    };
    for_each_field(message, add_message, add_scalars);
    buffer_ += unknown_fields(message);
  }

  void emit_tensor(const onnx::TensorProto& tensor) {
    const Part& part = writer_.parts_[next_part_++];
    if (part.head.empty()) {
      tensor.AppendPartialToString(&buffer_);
      return;
    }
    buffer_ += part.head;
    if (part.made) emit_made(*part.made);
    if (part.raw_data.empty()) return;
    flush();
    part.raw_data.write([this](std::span<const std::byte> bytes) {
      sink_({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    });
  }

  void emit_made(const MadeValues& values) {
    flush();
    const std::vector<std::byte> bytes = writer_.make_(values.number);
    sink_({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

  const ModelWriter& writer_;
  const Sink& sink_;
  std::string buffer_;
  std::size_t next_size_ = 0;
  std::size_t next_part_ = 0;
};

ModelWriter::ModelWriter(const onnx::ModelProto& model, const ChooseStorage& choose,
                         ValueMaker make)
    : model_(&model), make_(std::move(make)) {
  Measurer(*this, choose).measure(model, {});
}

void ModelWriter::write(const Sink& sink) const {
  Emitter emitter(*this, sink);
  emitter.emit(*model_);
  emitter.flush();
}

}  // namespace qtool
