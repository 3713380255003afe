#pragma once

#include "pipeline/static_report.h"

namespace qtool {

/// A finished run that quantized two of four nodes.
inline StaticReport example_static_report() {
  StaticReport report;
  report.provenance = {"0.1.0", "1.23.2", "1.32.0", 1700000000};
  report.config.model.input = "in/model.onnx";
  report.config.model.output = "out/model.int8.onnx";
  report.config.calibration.data = "calib";
  report.input_sha256 = std::string(64, 'a');
  report.output_sha256 = std::string(64, 'b');
  report.calibration_sha256 = std::string(64, 'c');
  report.input_bytes = 400000;
  report.output_bytes = 100000;
  report.sample_count = 100;
  report.outcome.quantized_nodes = 2;
  report.outcome.folded_nodes = 1;
  report.outcome.float_nodes = 1;
  report.opset_before = 12;
  report.opset_after = 13;
  report.load_check = "loads";
  TensorPlan activation;
  activation.name = "x";
  activation.params = {ElementType::UInt8, {0.5f}, {128}, {}};
  activation.derivation = "measured";
  TensorPlan weight;
  weight.name = "w";
  weight.role = TensorPlan::Role::Constant;
  weight.params = {ElementType::Int8, {0.1f, 0.2f}, {0, 0}, 0};
  weight.derivation = "weights";
  report.plan.tensors = {activation, weight};
  report.outcome.left = {{3, "soft", "Softmax", "", "its input is not quantized"}};
  report.seconds = {{"load", 0.25}};
  return report;
}

}  // namespace qtool
