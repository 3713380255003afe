#include "model/check.h"

#include <exception>

#include <onnx/checker.h>

#include "base/error.h"
#include "base/text.h"
#include "model/model.h"
#include "model/save.h"
#include "model/tensor_walk.h"

namespace qtool {
namespace {

/// Takes the values out of a large tensor. The checker knows locations with a '#' as tensors in
/// memory and asks no more.
void make_light(onnx::TensorProto& tensor) {
  if (tensor.data_location() != onnx::TensorProto::EXTERNAL &&
      tensor.raw_data().size() < Model::kReferenceBytes)
    return;
  tensor.clear_raw_data();
  tensor.clear_external_data();
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  auto& entry = *tensor.add_external_data();
  entry.set_key("location");
  entry.set_value("#in-memory");
}

std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return printable(text);
}

}  // namespace

void check_structure(const onnx::ModelProto& model, const std::string& where) {
  try {
    onnx::ModelProto light = model;
    TensorWalk::model(light,
                      [](onnx::TensorProto& tensor, const TensorPlace&) { make_light(tensor); });
    onnx::checker::check_model(light);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(ErrorKind::Input, where + ": " + one_line(error.what()));
  }
}

void check_model(const Model& model, const std::string& what) {
  check_structure(model.proto(), what);
}

}  // namespace qtool
