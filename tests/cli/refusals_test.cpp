#include "catch.h"
#include "qtool_run.h"

namespace qtool {
namespace {

using testing::ProcessResult;
using testing::Refusal;
using testing::run_qtool;
using testing::TempDir;

/// A folder with files of every kind that a command line may name. None of them is a model: what is
/// refused here is refused before anything is read.
void fill(const TempDir& dir) {
  dir.write("model.onnx", "no model");
  dir.write("calib/s_1.npy", "no sample");
  dir.write("plain", "a file");
  dir.write("bad.json", "{\n\"calibration\": {\n\"methd\": \"minmax\"}}");
}

void check_refusals(const std::vector<Refusal>& cases) {
  for (const Refusal& each : cases) {
    const TempDir dir;
    fill(dir);
    INFO("qtool " << each.line);
    const ProcessResult result = run_qtool(each.line, dir);
    CHECK(result.err == "qtool: error: " + each.error + "\n");
    CHECK(result.exit_code == each.exit_code);
    CHECK(result.out.empty());
    CHECK_FALSE(std::filesystem::exists(dir / "out.onnx"));
    CHECK(std::filesystem::exists(dir / "model.onnx"));
    CHECK(std::distance(std::filesystem::directory_iterator(dir.path()), {}) == 4);
  }
}

TEST_CASE("command line: without a known command nothing runs", "[cli]") {
  check_refusals({
      {"", 2,
       "no command given, expected qtool COMMAND [OPTIONS]\n  hint: qtool --help lists the "
       "commands"},
      {"sttic", 2, "sttic: unknown command\n  hint: did you mean 'static'?"},
      {"weights -i model.onnx -o out.onnx", 2,
       "weights: is not available yet\n  hint: available: static, dynamic, float16, calibrate, "
       "preprocess, compare, inspect, schema, completion"},
      {"--json static", 2,
       "--json: unknown option\n  hint: options stand behind the command: qtool COMMAND [OPTIONS]"},
      {"'st\x1b[31mtic'", 2,
       "st\\x1b[31mtic: unknown command\n  hint: known: static, dynamic, float16, calibrate, "
       "preprocess, compare, inspect, schema, completion"},
  });
}

TEST_CASE("command line: an unknown option is answered with the nearest", "[cli]") {
  check_refusals({
      {"static --per-chanel", 2,
       "--per-chanel: unknown option\n  hint: did you mean '--per-channel'?"},
      {"static --calib_dta=x", 2,
       "--calib_dta: unknown option\n  hint: did you mean '--calib-data'?"},
      {"static --zzz", 2, "--zzz: unknown option\n  hint: --help lists the options"},
      {"static -x", 2, "-x: unknown option\n  hint: --help lists the options"},
      {"schema --json", 2, "--json: unknown option\n  hint: --help lists the options"},
  });
}

TEST_CASE("command line: an option without its value is refused", "[cli]") {
  check_refusals({
      {"static -o out.onnx --threads", 2, "--threads: needs a value"},
      {"static -o out.onnx --set", 2, "--set: needs a value"},
      {"static -o out.onnx -c", 2, "-c: needs a value"},
      {"static -o out.onnx --nodes-to-exclude", 2, "--nodes-to-exclude: needs a value"},
      {"static --calib-data --json", 2, "--calib-data: needs a value, found the option --json"},
      {"static --threads= -q", 2, "--threads: found an empty value"},
      {"static -i '' -o out.onnx", 2, "--input: is empty, expected a path"},
      {"static --json=yes", 2, "--json: takes no value, found 'yes'"},
      {"static --no-per-channel=1", 2, "--no-per-channel: takes no value, found '1'"},
  });
}

TEST_CASE("command line: a value that cannot be is refused", "[cli]") {
  check_refusals({
      {"static --threads=abc", 2, "--threads: found 'abc', expected a whole number from 0 to 1024"},
      {"static --threads 2x", 2, "--threads: found '2x', expected a whole number from 0 to 1024"},
      {"static --threads=1.5", 2, "--threads: found '1.5', expected a whole number from 0 to 1024"},
      {"static --threads -2", 2, "--threads: found '-2', expected a whole number from 0 to 1024"},
      {"static --threads=99999999999999999999", 2,
       "--threads: found '99999999999999999999', expected a whole number from 0 to 1024"},
      {"static --per-channel=maybe", 2, "--per-channel: found 'maybe', expected true or false"},
      {"static --calibrate-method minmux", 2,
       "--calibrate-method: unknown method 'minmux'\n"
       "  hint: did you mean 'minmax'? known: minmax, percentile, entropy, mse, auto, "
       "distribution"},
      {"static --nodes-to-exclude '/mm[/'", 2,
       "--nodes-to-exclude: pattern '/mm[/' is no regular expression: missing ]: ["},
      {"static --report r.txt", 2,
       "--report: found 'r.txt', expected a file that ends in .html or .json"},
      {"static --extra BlockSize", 2, "--extra: found 'BlockSize', expected KEY=VALUE"},
      {"static --set =1", 2, "--set: found '=1', expected KEY=VALUE"},
      {"static --set quantization.per_channel=maybe", 2,
       "--set: quantization.per_channel: found 'maybe', expected true or false"},
      {"static --set preset.x=1", 2,
       "--set: preset.x: unknown key\n"
       "  hint: did you mean 'preset'? known: model, preset, preprocess, calibration, "
       "quantization, float16, verify, "
       "report"},
      {"completion ksh", 2, "completion: unknown shell 'ksh', expected bash, zsh or fish"},
      {"completion", 2, "completion: no shell given, expected bash, zsh or fish"},
  });
}

TEST_CASE("command line: words too many are refused", "[cli]") {
  check_refusals({
      {"static -i model.onnx -o out.onnx --calib-data calib stray_word", 2,
       "unexpected argument 'stray_word'"},
      {"static model.onnx out.onnx third", 2, "unexpected argument 'third'"},
      {"static model.onnx -- out.onnx -x", 2, "unexpected argument '-x'"},
      {"completion bash zsh", 2, "unexpected argument 'zsh'"},
  });
}

TEST_CASE("command line: what a command cannot do without is asked for", "[cli]") {
  check_refusals({
      {"static", 2, "static: no input model, expected -i FILE or the key model.input"},
      {"static -i model.onnx", 2,
       "static: no output model, expected -o FILE or the key model.output"},
      {"static -i model.onnx -o out.onnx", 2,
       "static: no calibration data, expected --calib-data DIR or the key calibration.data"},
  });
}

TEST_CASE("config file: a mistake is named with its line", "[cli]") {
  check_refusals({
      {"static -c nosuch.json", 5, "nosuch.json: cannot be read: No such file or directory"},
      {"static -c model.onnx", 2, "model.onnx:1: not JSON: unexpected 'no'"},
      {"static -c bad.json", 2,
       "bad.json:3: calibration.methd: unknown key\n"
       "  hint: did you mean 'method'? known: data, max_samples, batch, method, percentile, "
       "num_bins, "
       "num_quantized_bins, symmetric, moving_average, averaging_constant, stride, per_channel, "
       "table, cache, "
       "allow_nonfinite, max_clipped, min_range_used"},
      {"static -c calib", 5, "calib: cannot be read: is a folder, expected a file"},
  });
}

TEST_CASE("static: what is not available yet is refused before any work", "[cli]") {
  const std::string line = "static model.onnx out.onnx --calib-data calib ";
  check_refusals({
      {line + "--activation-type float8e4m3fn --weight-type float8e4m3fn", 2,
       "calibration.method: found 'minmax', expected 'distribution': float8 is scaled by the "
       "spread "
       "of values"},
      {line + "--quant-format qoperator --activation-type int16", 2,
       "quantization.activation_type: found 16 bits, expected 8: QOperator has no operators of 16 "
       "bits"},
  });
}

TEST_CASE("static: files that cannot be written are found before any work", "[cli]") {
  const std::string in = "static -i model.onnx --calib-data calib ";
  const std::string line = in + "-o out.onnx ";
  check_refusals({
      {in + "-o no/such/out.onnx", 5,
       "no/such/out.onnx: cannot be written: No such file or directory"},
      {in + "-o plain/out.onnx", 5, "plain/out.onnx: cannot be written: Not a directory"},
      {in + "-o calib", 5, "calib: cannot be written: is a folder, expected a file name"},
      {in + "-o model.onnx", 2,
       "model.output: 'model.onnx' is the input model too, expected another file"},
      {"dynamic -i model.onnx -o ./model.onnx", 2,
       "model.output: './model.onnx' is the input model 'model.onnx' too, expected another file"},
      {line + "--report no/such/r.html", 5,
       "no/such/r.html: cannot be written: No such file or directory"},
      {line + "--log-file no/such/r.log", 5,
       "no/such/r.log: cannot be written: No such file or directory"},
      {line + "--log-file model.onnx", 2,
       "--log-file: 'model.onnx' is the input model too, expected another file"},
      {line + "--report out.onnx.manifest.json", 2,
       "report.json: 'out.onnx.manifest.json' is the manifest too, expected another file"},
      {"compare model.onnx plain --data calib --report plain.json --log-file plain", 2,
       "--log-file: 'plain' is the second model too, expected another file"},
      {line + "--set report.json=out.onnx", 2,
       "report.json: 'out.onnx' is model.output too, expected another file"},
  });
}

}  // namespace
}  // namespace qtool
