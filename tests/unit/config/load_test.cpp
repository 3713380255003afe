#include "config/load.h"

#include "catch.h"
#include "config/json.h"
#include "config_fault.h"
#include "temp_dir.h"

namespace qtool {
namespace {

using testing::error_text;
using testing::section_fault;
using testing::TempDir;

Setting set(const std::string& key, const std::string& value) { return {"--set", key, {value}}; }
Setting option(const std::string& flag, const std::string& key, std::vector<std::string> words) {
  return {flag, key, std::move(words), /*is_option=*/true};
}
std::string setting_fault(const Setting& setting) {
  return error_text([&] { load_config({{}, {setting}}); });
}

TEST_CASE("config: a file fills the structs", "[config]") {
  const Config config = read_config(R"({
    "calibration": {"max_samples": 10, "percentile": 99, "moving_average": true},
    "quantization": {"weight_type": "uint8", "nodes_to_exclude": ["a", "/^b/"],
                     "extra_options": {"WeightSymmetric": false, "MinimumRealRange": 1e-4,
                                       "QDQOpTypePerChannelSupportToAxis": {"MatMul": 1}},
                     "algorithms": ["bias_correction", {"name": "smooth_quant", "alpha": 0.5}]},
    "preprocess": {"dims": {"batch": 4}, "override_shapes": {"x": [1, 3, 8, 8]}, "fusions": ["GELU"]},
    "float16": {"op_block_list": [], "auto": {"rtol": 0.1}},
    "verify": {"min_cosine": 0.99}})",
                                    "c.json");
  CHECK(config.calibration.max_samples == 10);
  CHECK(config.calibration.percentile == 99);
  CHECK(config.calibration.moving_average);
  CHECK(config.quantization.weight_type == QuantType::UInt8);
  CHECK(config.quantization.nodes_to_exclude == std::vector<std::string>{"a", "/^b/"});
  CHECK(config.quantization.extra_options.weight_symmetric == false);
  CHECK(config.quantization.extra_options.minimum_real_range == 1e-4);
  CHECK(config.quantization.extra_options.qdq_op_type_per_channel_support_to_axis.at("MatMul") ==
        1);
  REQUIRE(config.quantization.algorithms->size() == 2);
  CHECK(config.quantization.algorithms->at(1).name == "smooth_quant");
  CHECK(config.quantization.algorithms->at(1).parameters.at("alpha") == 0.5);
  CHECK(config.preprocess.dims.at("batch") == 4);
  CHECK(config.preprocess.override_shapes.at("x") == std::vector<std::int64_t>{1, 3, 8, 8});
  CHECK(config.preprocess.fusions == std::vector<std::string>{"gelu"});
  CHECK(config.float16.op_block_list == std::vector<std::string>{});
  CHECK(config.float16.auto_search->rtol == 0.1);
  CHECK(config.float16.auto_search->atol == 1e-3);
  CHECK(config.verify.min_cosine == 0.99);
}

TEST_CASE("config: paths in a file are relative to its folder, absolute ones stay", "[config]") {
  const TempDir dir;
  const auto file =
      dir.write("sub/c.json", R"({"model": {"input": "m.onnx", "output": "/abs/o.onnx"},
    "calibration": {"data": "../calib"}})");
  const Config config = load_config({file, {option("-i", "model.output", {"o.onnx"})}});
  CHECK(config.model.input == dir / "sub/m.onnx");
  CHECK(config.calibration.data == dir / "sub/../calib");
  CHECK(config.model.output == "o.onnx");
  CHECK(section_fault("model", R"({"input": ""})") ==
        "c.json:17: model.input: is empty, expected a path");
  CHECK(section_fault("model", R"({"input": "a\u0000b"})") ==
        "c.json:17: model.input: holds a NUL character, expected a path");
}

TEST_CASE("config: options win over --set, --set over the file, the file over the preset",
          "[config]") {
  const TempDir dir;
  const auto file = dir.write("c.json", R"({"preset": "onnxruntime", "calibration": {"num_bins": 1,
    "stride": 1, "batch": 1}, "quantization": {"extra_options": {"BlockSize": 1, "SmoothQuant": true}}})");
  const Config config =
      load_config({file,
                   {set("calibration.num_bins", "2"), set("calibration.stride", "2"),
                    set("quantization.extra_options.BlockSize", "2"),
                    option("--bins", "calibration.num_bins", {"3"})}});
  CHECK_FALSE(config.quantization.per_channel);
  CHECK(config.calibration.batch == 1);
  CHECK(config.calibration.stride == 2);
  CHECK(config.calibration.num_bins == 3);
  CHECK(config.quantization.extra_options.block_size == 2);
  CHECK(config.quantization.extra_options.smooth_quant);
}

TEST_CASE("config: the preset onnxruntime has the defaults of quantize_static", "[config]") {
  const auto with = [](const std::string& method) {
    return load_config({{}, {set("calibration.method", method), set("preset", "onnxruntime")}});
  };
  const Config config = with("minmax");
  CHECK(config.preset == Preset::OnnxRuntime);
  CHECK_FALSE(config.preprocess.enabled);
  CHECK(config.quantization.activation_type == QuantType::Int8);
  CHECK(config.quantization.weight_type == QuantType::Int8);
  CHECK_FALSE(config.quantization.per_channel);
  CHECK(with("entropy").calibration.num_bins == 128);
  CHECK(with("percentile").calibration.num_bins == 2048);
  CHECK(with("percentile").calibration.symmetric);
  CHECK_FALSE(config.calibration.symmetric);
}

TEST_CASE("config: presets of targets have the types and the symmetry of their target",
          "[config]") {
  const auto of = [](const std::string& preset) {
    return load_config({{}, {set("preset", preset)}}).quantization;
  };
  for (const char* preset : {"tensorrt", "migraphx"}) {
    CHECK(of(preset).activation_type == QuantType::Int8);
    CHECK(of(preset).extra_options.activation_symmetric == true);
    CHECK_FALSE(of(preset).extra_options.quantize_bias);
  }
  CHECK(of("tensorrt").per_channel);
  CHECK_FALSE(of("migraphx").per_channel);
  CHECK(of("arm64").activation_type == QuantType::Int8);
  CHECK(of("cpu-avx2").activation_type == QuantType::UInt8);
  CHECK(of("openvino").activation_type == QuantType::UInt8);
  CHECK(of("qnn").weight_type == QuantType::UInt8);
  CHECK_FALSE(of("qnn").per_channel);
}

TEST_CASE("config: the machine's preset counts where nothing names one", "[config]") {
  const ConfigSources unnamed{.file = {}, .settings = {}, .otherwise = Preset::CpuAvx2};
  CHECK_FALSE(names_preset(unnamed));
  CHECK(load_config(unnamed).preset == Preset::CpuAvx2);
  const ConfigSources named{{}, {set("preset", "cpu")}, Preset::CpuAvx2};
  CHECK(names_preset(named));
  CHECK(load_config(named).preset == Preset::Cpu);
  TempDir dir;
  CHECK(names_preset({dir.write("c.json", R"({"preset": "qnn"})"), {}}));
  CHECK_FALSE(names_preset({dir.write("d.json", R"({"report": {}})"), {}}));
}

TEST_CASE("config: words of --set are JSON where they can be, else strings", "[config]") {
  const auto with = [](const std::string& key, const std::string& word) {
    return load_config({{}, {set(key, word)}});
  };
  CHECK(with("calibration.percentile", "99.5").calibration.percentile == 99.5);
  CHECK_FALSE(with("quantization.per_channel", "false").quantization.per_channel);
  CHECK(with("calibration.data", "2024").calibration.data == "2024");
  CHECK(with("calibration.data", "\"a b\"").calibration.data == "a b");
  CHECK_FALSE(with("calibration.data", "null").calibration.data);
  CHECK(with("quantization.op_types_to_quantize", "Conv").quantization.op_types_to_quantize ==
        std::vector<std::string>{"Conv"});
  CHECK(with("quantization.op_types_to_quantize", "[\"Conv\", \"Gemm\"]")
            .quantization.op_types_to_quantize == std::vector<std::string>{"Conv", "Gemm"});
  CHECK(with("preprocess.dims.batch.size", "4").preprocess.dims.at("batch.size") == 4);
  CHECK(with("preprocess.dims", "{\"n\": 2}").preprocess.dims.at("n") == 2);
  CHECK(with("quantization.extra_options.extra.Sigmoid.nnapi", "true")
            .quantization.extra_options.sigmoid_nnapi);
}

TEST_CASE("config: words of an option mean themselves", "[config]") {
  const Config config =
      load_config({{},
                   {option("--calib-data", "calibration.data", {"null"}),
                    option("--nodes", "quantization.nodes_to_exclude", {"[a]", "2"})}});
  CHECK(config.calibration.data == "null");
  CHECK(config.quantization.nodes_to_exclude == std::vector<std::string>{"[a]", "2"});
}

TEST_CASE("config: mistakes of the command line name the option", "[config]") {
  CHECK(setting_fault(set("calibration.methd", "minmax"))
            .starts_with(
                "--set: calibration.methd: unknown key\n  hint: did you mean 'method'? known: "));
  CHECK(setting_fault(set("calibratoin.method", "minmax"))
            .starts_with(
                "--set: calibratoin.method: unknown key\n  hint: did you mean 'calibration'? "));
  CHECK(setting_fault(set("quantization.per_channel", "maybe")) ==
        "--set: quantization.per_channel: found 'maybe', expected true or false");
  CHECK(setting_fault(set("calibration.percentile", "NaN")) ==
        "--set: calibration.percentile: found 'NaN', expected a number above 0 and at most 100");
  CHECK(setting_fault(set("preset.x", "cpu")).starts_with("--set: preset.x: unknown key"));
  CHECK(setting_fault(set("calibration.", "1")).starts_with("--set: calibration.: unknown key"));
  CHECK(
      setting_fault(option("--calibrate-method", "calibration.method", {"minmux"})) ==
      "--calibrate-method: unknown method 'minmux'\n"
      "  hint: did you mean 'minmax'? known: minmax, percentile, entropy, mse, auto, distribution");
}

TEST_CASE("config: a file that cannot be read is an error of input and output", "[config]") {
  const TempDir dir;
  try {
    load_config({dir / "nosuch.json", {}});
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Io);
    CHECK(std::string(error.what()) ==
          (dir / "nosuch.json").string() + ": cannot be read: No such file or directory");
  }
}

TEST_CASE("config: the written config is complete and reads back as the same", "[config]") {
  const Config config = read_config(R"({"model": {"input": "/m.onnx"}, "preset": "onnxruntime",
    "preprocess": {"dims": {"n": 2}}, "quantization": {"algorithms": ["a", {"name": "b", "c": 1}],
    "extra_options": {"TensorQuantOverrides": {"t": [{"rmin": -1, "rmax": 1}]}}}, "float16": {"auto": {}}})",
                                    "c.json");
  const std::string text = config_to_json(config);
  CHECK(text == config_to_json(read_config(text, "c.json")));
  const JsonValue value = parse_json(text, "written");
  CHECK(*value.find("preset")->as<std::string>() == "onnxruntime");
  CHECK(*value.find("quantization")->find("per_channel")->as<bool>() == false);
  CHECK(*value.find("calibration")->find("percentile")->as<double>() == 99.999);
  CHECK(value.find("calibration")->find("data")->is_null());
}

TEST_CASE("config: a key has a value unless it is null or empty", "[config]") {
  Config config;
  CHECK_FALSE(has_value(config, "model.input"));
  CHECK_FALSE(has_value(config, "quantization.nodes_to_exclude"));
  config.model.input = "m.onnx";
  config.quantization.nodes_to_exclude = {"a"};
  CHECK(has_value(config, "model.input"));
  CHECK(has_value(config, "quantization.nodes_to_exclude"));
}

}  // namespace
}  // namespace qtool
