#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>

#include "base/error.h"
#include "catch.h"
#include "config/load.h"
#include "golden_file.h"
#include "model/float_values.h"
#include "npy_writer.h"
#include "pipeline/static.h"
#include "run_model.h"
#include "temp_dir.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

constexpr int kSamples = 8;

using Sample = std::vector<NamedTensor>;

/// Values of one input: -2 to 2, or 0 and 1 where those are integers; free axes get size 2.
Tensor random_tensor(const TensorInfo& info, std::mt19937& random) {
  Tensor tensor{.type = info.type, .shape = info.shape, .bytes = {}};
  for (auto& size : tensor.shape) size = size < 0 ? 2 : size;
  std::vector<double> values(tensor.element_count());
  const bool is_float = info.type == ElementType::Float || info.type == ElementType::Float16;
  for (double& value : values)
    value = is_float ? static_cast<double>(random() % 4001) / 1000 - 2
                     : static_cast<double>(random() % 2);
  if (is_float) {
    tensor.bytes = encode_floats(info.type, values);
  } else if (info.type == ElementType::Int64) {
    const std::vector<std::int64_t> integers(values.begin(), values.end());
    tensor.bytes.resize(integers.size() * sizeof(std::int64_t));
    std::memcpy(tensor.bytes.data(), integers.data(), tensor.bytes.size());
  } else {
    for (const double value : values) tensor.bytes.push_back(static_cast<std::byte>(value));
  }
  return tensor;
}

std::string npy_text(const Tensor& tensor) {
  std::string descr = "'<f4'";
  if (tensor.type == ElementType::Float16) descr = "'<f2'";
  if (tensor.type == ElementType::Int64) descr = "'<i8'";
  if (tensor.type == ElementType::Bool) descr = "'|b1'";
  return npy_of(
      {.descr = descr, .shape = npy_shape(tensor.shape)},
      std::string_view(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()));
}

/// Without the care that `TempDir::write` takes to bring each file to the disk.
std::filesystem::path write_text(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

/// Random samples of the model's inputs, also written as a folder.
std::vector<Sample> write_samples(const Model& model, const TempDir& dir) {
  std::mt19937 random(1);
  std::vector<Sample> samples(kSamples);
  for (int i = 0; i < kSamples; ++i) {
    for (const TensorInfo& info : required_inputs(model.graph())) {
      Sample& sample = samples[static_cast<std::size_t>(i)];
      sample.push_back({info.name, random_tensor(info, random)});
      write_text(dir / fmt::format("calib/{}/{}.npy", i, info.name),
                 npy_text(sample.back().tensor));
    }
  }
  return samples;
}

using Optimization = SessionConfig::Optimization;

/// The largest difference of an output, as a part of its largest value in the float model.
double distance(const Model& before, const Model& after, Optimization optimization,
                const std::vector<Sample>& samples) {
  double worst = 0;
  const Session expected(before, {.optimization = Optimization::None, .taps = {}});
  const Session found(after, {.optimization = optimization, .taps = {}});
  for (const Sample& sample : samples)
    worst = std::max(worst, difference(expected.run(sample), found.run(sample)));
  return worst;
}

/// What a preset makes of the model: `refused: MESSAGE`, or opset and IR version, the plan and the
/// warnings; the written model is run. With a section `kernels: integer` also by integer kernels,
/// whose sums are not the same on every processor.
std::string outcome_of(const GoldenFile& file, const std::string& preset, double limit) {
  const TempDir dir;
  const Model model = text_model(file.sections.at("model"));
  write_text(dir / "model.onnx", text_proto(file.sections.at("model")).SerializeAsString());
  const auto samples = write_samples(model, dir);
  const auto section = file.sections.find("config");
  const auto path =
      write_text(dir / "config.json", section == file.sections.end() ? "{}" : section->second);
  const auto set = [](const char* key, const std::string& value) {
    return Setting{"test", key, {value}, true};
  };
  try {
    const Config config =
        load_config({path,
                     {set("preset", preset), set("model.input", (dir / "model.onnx").string()),
                      set("model.output", (dir / "out.onnx").string()),
                      set("calibration.data", (dir / "calib").string())}});
    spdlog::logger log("test", std::make_shared<spdlog::sinks::null_sink_st>());
    const StaticReport report = run_static(config, {log, {}});
    const Model written = load_model(dir / "out.onnx");
    CHECK(distance(model, written, Optimization::None, samples) <= limit);
    if (file.sections.contains("kernels"))
      CHECK(distance(model, written, Optimization::All, samples) <= limit);
    std::string out =
        fmt::format("opset {}, IR version {}\n", written.opset(), written.proto().ir_version());
    out += to_text(report.plan);
    for (const std::string& warning : report.warnings) out += "warning: " + warning + "\n";
    const std::string folder = dir.path().string() + "/";
    for (std::size_t at; (at = out.find(folder)) != std::string::npos;)
      out.erase(at, folder.size());
    return out;
  } catch (const Error& error) {
    return std::string("refused: ") + error.what() + "\n";
  }
}

void run_both_presets(const GoldenFile& file) {
  GoldenFile actual = file;
  std::istringstream limits(file.sections.at("error"));
  for (const char* preset : {"cpu", "onnxruntime"}) {
    INFO("preset " << preset);
    double limit = 0;
    REQUIRE(limits >> limit);
    if (!file.sections.contains(preset)) actual.order.emplace_back(preset);
    actual.sections[preset] = outcome_of(file, preset, limit);
  }
  if (std::getenv("QTOOL_UPDATE_GOLDENS") != nullptr) write_file(file.path, actual.text());
  CHECK(actual.text() == file.text());
}

}  // namespace

TEST_CASE("every compatibility file runs with both presets as it states", "[golden]") {
  std::vector<std::filesystem::path> files;
  const auto folder = std::filesystem::path(QTOOL_GOLDEN_DIR) / "compatibility";
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files.push_back(entry.path());
  std::ranges::sort(files);
  REQUIRE(!files.empty());
  for (const auto& path : files) {
    DYNAMIC_SECTION(path.filename().string()) { run_both_presets(read_golden(path)); }
  }
}
