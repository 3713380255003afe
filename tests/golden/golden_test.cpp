#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "catch.h"
#include "config/load.h"
#include "float16/lowering.h"
#include "float16/planner.h"
#include "golden_file.h"
#include "inspect/kernel_forecast.h"
#include "integer_kernels.h"
#include "model/graph_view.h"
#include "model/save.h"
#include "preprocess/passes.h"
#include "preprocess/preprocess.h"
#include "quantize/dynamic/lowering.h"
#include "quantize/dynamic/planner.h"
#include "quantize/measurable.h"
#include "quantize/onnxruntime/dynamic_plan.h"
#include "quantize/planner.h"
#include "temp_dir.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

Config config_of(const GoldenFile& file) {
  const TempDir folder;
  const auto section = file.sections.find("config");
  return load_config(
      {.file = folder.write("golden.json", section == file.sections.end() ? "{}" : section->second),
       .settings = {}});
}

/// Ranges for every tensor that the plan asks for: those of the section `ranges` (lines `name min
/// max`, `name none` for a tensor that was never seen), [-1, 1] for all others.
TensorRanges ranges_of(const GoldenFile& file, const std::vector<std::string>& tensors) {
  TensorRanges ranges;
  for (const std::string& name : tensors) ranges[name] = {-1, 1};
  const auto section = file.sections.find("ranges");
  if (section == file.sections.end()) return ranges;
  std::istringstream lines(section->second);
  for (std::string name, low; lines >> name >> low;) {
    REQUIRE(ranges.contains(name));
    if (low == "none") {
      ranges.erase(name);
    } else {
      float high = 0;
      lines >> high;
      ranges[name] = {std::stof(low), high};
    }
  }
  return ranges;
}

std::string indented(const std::string& text) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out += "  " + line + "\n";
  return out;
}

/// One line per node: `output, … = Op (input, …)`; below it, indented, its bodies: a line
/// `attribute => (output, …) <initializer, …>`, then their nodes.
std::string graph_text(const onnx::GraphProto& graph) {
  std::string out;
  const auto list = [](const auto& names) {
    std::string text;
    for (const auto& name : names) text += (text.empty() ? "" : ", ") + (name.empty() ? "-" : name);
    return text;
  };
  const auto names = [&](const auto& values) {
    std::vector<std::string> each;
    for (const auto& value : values) each.push_back(value.name());
    return list(each);
  };
  for (const auto& node : graph.node()) {
    out += list(node.output()) + " = " + node.op_type() + " (" + list(node.input()) + ")\n";
    for (const auto& attribute : node.attribute()) {
      if (!attribute.has_g()) continue;
      const auto& body = attribute.g();
      out += indented(attribute.name() + " => (" + names(body.output()) + ") <" +
                      names(body.initializer()) + ">\n" + indented(graph_text(body)));
    }
  }
  return out;
}

std::string kernel_text(const std::map<std::string, std::size_t>& kernels) {
  std::string out;
  for (const auto& [kernel, count] : kernels) {
    if (is_integer_kernel(kernel)) out += std::to_string(count) + " " + kernel + "\n";
  }
  return out;
}

/// What is said of a model's kernels is what ONNX Runtime makes of it, where it loads the model.
void check_forecast(const Model& lowered, const Config& config) {
  if (config.preset != Preset::Cpu) return;
  std::string made;
  try {
    made = kernel_text(integer_kernels_of(lowered));
  } catch (const Error&) {
    return;
  }
  CHECK(kernel_text(forecast_kernels(lowered).integer_kernels) == made);
}

void run_golden(const GoldenFile& file) {
  const Config config = config_of(file);
  Model model = text_model(file.sections.at("model"));
  normalize(model);
  const Planner planner(config.quantization, config.preset);
  const auto tensors = planner.measurements(model).tensors;
  const auto ranges = ranges_of(file, tensors);
  // A table serves every config.
  const auto recorded = measurable_tensors(model, config.quantization);
  for (const std::string& name : tensors) CHECK(std::ranges::count(recorded, name) == 1);
  const QuantPlan plan = planner.plan(model, ranges, {});

  GoldenFile actual = file;
  actual.sections["plan"] = to_text(plan);
  const Model lowered = planner.lower(std::move(model), plan);
  if (actual.sections.contains("graph")) actual.sections["graph"] = graph_text(lowered.graph());
  CHECK_NOTHROW(check_model(lowered, "the quantized model"));
  check_forecast(lowered, config);
  if (std::getenv("QTOOL_UPDATE_GOLDENS") != nullptr) write_file(file.path, actual.text());
  CHECK(actual.text() == file.text());
}

DynamicPlan dynamic_plan(Model& model, const Config& config) {
  if (config.preset != Preset::OnnxRuntime) return plan_dynamic(model, config.quantization);
  const GemmDecomposition gemms = decompose_gemm(model, config.quantization);
  return plan_dynamic_as_onnxruntime(model, gemms, config.quantization);
}

void run_dynamic_golden(const GoldenFile& file) {
  const Config config = config_of(file);
  Model model = text_model(file.sections.at("model"));
  normalize(model);
  DynamicPlan plan = dynamic_plan(model, config);
  GoldenFile actual = file;
  actual.sections["plan"] = to_text(plan);
  const Model lowered = lower_dynamic(std::move(model), plan);
  actual.sections["graph"] = graph_text(lowered.graph());
  CHECK_NOTHROW(check_model(lowered, "the quantized model"));
  if (std::getenv("QTOOL_UPDATE_GOLDENS") != nullptr) write_file(file.path, actual.text());
  CHECK(actual.text() == file.text());
}

/// Every value that a graph declares, in the order of inputs, initializers, outputs, with its type.
std::string types_text(const onnx::GraphProto& graph) {
  std::string out;
  const auto add = [&](const char* what, const std::string& name, ElementType type) {
    out += std::string(what) + " " + name + " " + element_type_name(type) + "\n";
  };
  for (const auto& input : graph.input()) add("input", input.name(), tensor_info(input).type);
  for (const auto& tensor : graph.initializer())
    add("initializer", tensor.name(), element_type(tensor));
  for (const auto& output : graph.output()) add("output", output.name(), tensor_info(output).type);
  return out;
}

/// The nodes, and the types of what goes into and out of all graphs, the main one first.
std::string typed_text(const Model& model) {
  std::string out;
  for_each_graph(model.graph(), [&](const onnx::GraphProto& graph) {
    out += (out.empty() ? "" : graph.name() + ":\n") + types_text(graph);
  });
  return out + graph_text(model.graph());
}

void run_float16_golden(const GoldenFile& file) {
  const Config config = config_of(file);
  Model model = text_model(file.sections.at("model"));
  inline_functions(model);
  std::vector<std::string> notes;
  infer_shapes(model, notes);
  const Float16Plan plan = plan_float16(model, config.float16);
  GoldenFile actual = file;
  actual.sections["plan"] = to_text(plan);
  const Model lowered = lower_float16(std::move(model), plan);
  actual.sections["graph"] = typed_text(lowered);
  CHECK_NOTHROW(check_model(lowered, "the converted model"));
  CHECK_NOTHROW(Model(lowered.proto()));
  if (std::getenv("QTOOL_UPDATE_GOLDENS") != nullptr) write_file(file.path, actual.text());
  CHECK(actual.text() == file.text());
}

void run_all(const char* folder, void (*run)(const GoldenFile&)) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(QTOOL_GOLDEN_DIR) / folder)) {
    files.push_back(entry.path());
  }
  std::ranges::sort(files);
  REQUIRE(!files.empty());
  for (const auto& path : files) {
    DYNAMIC_SECTION(path.filename().string()) { run(read_golden(path)); }
  }
}

}  // namespace

TEST_CASE("every golden file gives the plan that it states", "[golden]") {
  run_all("plan", run_golden);
}

TEST_CASE("every golden file of dynamic gives the plan and graph that it states", "[golden]") {
  run_all("dynamic", run_dynamic_golden);
}

TEST_CASE("every golden file of float16 gives the plan and graph that it states", "[golden]") {
  run_all("float16", run_float16_golden);
}
