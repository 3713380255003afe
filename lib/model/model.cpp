#include "model/model.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "model/check.h"
#include "model/float_values.h"
#include "model/messages.h"
#include "model/narrowed_tensor.h"
#include "model/normalize.h"
#include "model/reference.h"
#include "model/repair.h"
#include "model/tensor_walk.h"
#include "model/types.h"

namespace qtool {
namespace {

std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

Model::Model(onnx::ModelProto proto) : proto_(std::move(proto)) {
  TensorWalk::model(proto_, [](onnx::TensorProto& tensor, const TensorPlace& place) {
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
      throw Error(ErrorKind::Input,
                  "model: " + describe(tensor, place) +
                      ": has external data, expected none in a model made in memory");
    }
    normalize_tensor(tensor, place, "model");
  });
  repair_model(proto_, "model");
  check_sound(proto_, "model");
  check_types(proto_, "model");
}

Model Model::clone() const { return with_proto(proto_); }

Model Model::with_proto(onnx::ModelProto proto) const {
  Model copy;
  copy.proto_ = std::move(proto);
  copy.path_ = path_;
  copy.data_files_ = data_files_;
  return copy;
}

std::int64_t Model::opset(std::string_view domain) const {
  for (const auto& import : proto_.opset_import()) {
    if (import.domain() == domain ||
        (is_default_domain(import.domain()) && is_default_domain(domain))) {
      return import.version();
    }
  }
  return 0;
}

void Model::set_opset(std::string_view domain, std::int64_t version) {
  for (auto& import : *proto_.mutable_opset_import()) {
    if (import.domain() == domain ||
        (is_default_domain(import.domain()) && is_default_domain(domain))) {
      import.set_version(version);
      return;
    }
  }
  auto& added = *proto_.add_opset_import();
  added.set_domain(std::string(domain));
  added.set_version(version);
}

std::span<const std::byte> Model::tensor_bytes(const onnx::TensorProto& tensor) const {
  const auto reference = reference_of(tensor);
  if (!reference) return as_bytes(tensor.raw_data());
  if (reference->narrowing) {
    throw Error(ErrorKind::Internal, "tensor '" + printable(tensor.name()) +
                                         "' gets its values only when it is written");
  }
  return data_files_.at(reference->file).file->part(reference->offset, reference->length);
}

Tensor Model::tensor(const onnx::TensorProto& tensor) const {
  Tensor out{.type = element_type(tensor),
             .shape = {tensor.dims().begin(), tensor.dims().end()},
             .bytes = {}};
  const WrittenValues values = written_values(*this, tensor);
  out.bytes.reserve(values.size());
  values.write([&](std::span<const std::byte> piece) {
    out.bytes.insert(out.bytes.end(), piece.begin(), piece.end());
  });
  return out;
}

onnx::TensorProto make_tensor(std::string name, ElementType type,
                              std::span<const std::int64_t> shape,
                              std::span<const std::byte> bytes) {
  onnx::TensorProto out;
  out.set_name(std::move(name));
  out.set_data_type(static_cast<std::int32_t>(type));
  out.mutable_dims()->Add(shape.begin(), shape.end());
  out.set_raw_data(bytes.data(), bytes.size());
  return out;
}

onnx::TensorProto make_float_tensor(std::string name, ElementType type,
                                    std::span<const std::int64_t> shape,
                                    std::span<const float> values) {
  return make_tensor(std::move(name), type, shape, encode_floats(type, values));
}

std::size_t element_count(const onnx::TensorProto& tensor) {
  const auto count = checked_element_count(
      std::span(tensor.dims().data(), static_cast<std::size_t>(tensor.dims_size())));
  return static_cast<std::size_t>(count.value_or(0));
}

ElementType element_type(const onnx::TensorProto& tensor) {
  return static_cast<ElementType>(tensor.data_type());
}

TensorInfo tensor_info(const onnx::ValueInfoProto& value) {
  TensorInfo out;
  out.name = value.name();
  if (!value.type().has_tensor_type()) return out;
  const auto& type = value.type().tensor_type();
  out.type = static_cast<ElementType>(type.elem_type());
  out.has_shape = type.has_shape();
  for (const auto& dim : type.shape().dim()) {
    out.shape.push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? dim.dim_value() : -1);
    out.symbols.push_back(dim.dim_param());
  }
  return out;
}

std::vector<TensorInfo> required_inputs(const onnx::GraphProto& graph) {
  std::unordered_set<std::string_view> given;
  for (const auto& tensor : graph.initializer()) given.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) given.insert(tensor.values().name());
  std::vector<TensorInfo> out;
  for (const auto& input : graph.input()) {
    if (!given.contains(input.name())) out.push_back(tensor_info(input));
  }
  return out;
}

const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, std::string_view name) {
  const auto found = std::ranges::find(
      node.attribute(), name, [](const auto& each) -> std::string_view { return each.name(); });
  return found == node.attribute().end() ? nullptr : &*found;
}

std::int64_t int_attribute(const onnx::NodeProto& node, std::string_view name,
                           std::int64_t fallback) {
  const auto* attribute = find_attribute(node, name);
  return attribute != nullptr ? attribute->i() : fallback;
}

float float_attribute(const onnx::NodeProto& node, std::string_view name, float fallback) {
  const auto* attribute = find_attribute(node, name);
  return attribute != nullptr ? attribute->f() : fallback;
}

std::string string_attribute(const onnx::NodeProto& node, std::string_view name,
                             std::string fallback) {
  const auto* attribute = find_attribute(node, name);
  return attribute != nullptr ? attribute->s() : fallback;
}

std::string describe(const onnx::NodeProto& node) {
  const std::string type = " (" + printable(node.op_type(), 200) + ")";
  if (!node.name().empty()) return "node " + in_quotes(node.name()) + type;
  for (const auto& output : node.output()) {
    if (!output.empty()) return "node making " + in_quotes(output) + type;
  }
  return "unnamed node" + type;
}

std::string describe(const onnx::TensorProto& tensor, const TensorPlace& place) {
  if (!tensor.name().empty() || place.attribute == nullptr)
    return "tensor '" + printable(tensor.name()) + "'";
  const std::string attribute = "attribute '" + printable(place.attribute->name()) + "'";
  return place.node != nullptr ? attribute + " of " + describe(*place.node) : attribute;
}

bool is_default_domain(std::string_view domain) { return domain.empty() || domain == "ai.onnx"; }

}  // namespace qtool
