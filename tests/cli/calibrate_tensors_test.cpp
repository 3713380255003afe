#include <string>

#include "calibrate_run.h"
#include "config/json.h"
#include "npy_writer.h"
#include "text_model.h"

namespace qtool {
namespace {

using testing::npy;
using testing::npy_of;
using testing::ProcessResult;
using testing::run_qtool;
using testing::TempDir;

/// Writes the model, records its table over the folder `calib`, and gives what `inspect` says of
/// it.
JsonValue record(const TempDir& dir, const std::string& model, const std::string& options = "") {
  dir.write("m.onnx", testing::text_proto(model).SerializeAsString());
  const ProcessResult result =
      run_qtool("calibrate -i m.onnx --calib-data calib -o t.qcal " + options, dir);
  REQUIRE(result.err.empty());
  REQUIRE(result.exit_code == 0);
  return parse_json(run_qtool("inspect t.qcal --json", dir).out, "inspect");
}

/// `values of samples: min max` of a tensor in the table.
std::string tensor(const JsonValue& table, const std::string& name) {
  for (const JsonValue& each : *table.find("tensors")->as<JsonValue::List>()) {
    if (to_compact_json(*each.find("name")) != '"' + name + '"') continue;
    const auto text = [&](const char* key) { return to_compact_json(*each.find(key)); };
    const auto extreme = [&](const char* key) {
      const JsonValue* value = each.find(key)->find("value");
      return value == nullptr ? std::string("none") : to_compact_json(*value);
    };
    return text("values") + " of " + text("samples") + ": " + extreme("min") + " " + extreme("max");
  }
  return "absent";
}

const std::string kBranches = R"(g (float[2] x, bool c) => (float[2] y) {
    y = If (c) <
      then_branch = t () => (float[2] p) { a = Relu (x)  p = Sigmoid (a) },
      else_branch = e () => (float[2] q) { b = Relu (x)  s = Add (b, b)  q = Sigmoid (s) }>
  })";

void write_sample(const TempDir& dir, const std::string& name, const std::vector<float>& x,
                  bool c) {
  dir.write("calib/" + name + "/x.npy", npy<float>({2}, x));
  dir.write("calib/" + name + "/c.npy",
            npy_of({.descr = "'|b1'", .shape = "()"}, std::string(1, c ? '\1' : '\0')));
}

/// Two float16 values.
std::string half_npy(std::uint16_t a, std::uint16_t b) {
  return npy_of({.descr = "'<f2'", .shape = "(2,)"}, testing::bytes_of<std::uint16_t>({a, b}));
}

}  // namespace

TEST_CASE("calibrate: values in branches are recorded, a branch never taken has none", "[cli]") {
  const TempDir dir;
  write_sample(dir, "s_0", {-1, 2}, true);
  write_sample(dir, "s_1", {3, 0.5F}, true);
  const JsonValue table = record(dir, kBranches);
  CHECK(tensor(table, "x") == "4 of 2: -1 3");
  CHECK(tensor(table, "a") == "4 of 2: 0 3");
  CHECK(tensor(table, "b") == "0 of 0: none none");
  CHECK(tensor(table, "s") == "0 of 0: none none");
  CHECK(run_qtool("inspect t.qcal", dir)
            .out.find("  b            0    -  -                 -  -                -         -    "
                      "       0\n") != std::string::npos);
  CHECK(run_qtool("calibrate --export onnxruntime t.qcal -o c.json", dir).exit_code == 0);
  const JsonValue cache = parse_json(read_file(dir / "c.json"), "c.json");
  CHECK(cache.find("data")->find("a") != nullptr);
  CHECK(cache.find("data")->find("b") == nullptr);
}

TEST_CASE("calibrate: a value counts in the samples that take its branch, on any shard", "[cli]") {
  const TempDir dir;
  write_sample(dir, "s_0", {-1, 2}, true);
  write_sample(dir, "s_1", {3, 0.5F}, false);
  const JsonValue table = record(dir, kBranches);
  CHECK(tensor(table, "a") == "2 of 1: 0 2");
  CHECK(tensor(table, "s") == "2 of 1: 1 6");
  const std::string parts = "calibrate -i m.onnx --calib-data calib ";
  REQUIRE(run_qtool(parts + "-o 0.qcal --shard 0/2", dir).exit_code == 0);
  REQUIRE(run_qtool(parts + "-o 1.qcal --shard 1/2", dir).exit_code == 0);
  REQUIRE(run_qtool("calibrate --merge 1.qcal 0.qcal -o m.qcal", dir).exit_code == 0);
  CHECK(read_file(dir / "m.qcal") == read_file(dir / "t.qcal"));
}

TEST_CASE("calibrate: one name in both branches is two tensors, the second renamed", "[cli]") {
  const TempDir dir;
  write_sample(dir, "s_0", {-1, 2}, true);
  write_sample(dir, "s_1", {3, 0.5F}, false);
  const JsonValue table = record(dir, R"(g (float[2] x, bool c) => (float[2] y) {
    y = If (c) <
      then_branch = t () => (float[2] p) { a = Relu (x)  p = Sigmoid (a) },
      else_branch = e () => (float[2] q) { a = Add (x, x)  q = Sigmoid (a) }>
  })");
  CHECK(tensor(table, "a") == "2 of 1: 0 2");
  CHECK(tensor(table, "a_1") == "2 of 1: 1 6");
}

TEST_CASE("calibrate: a loop's values are those of all its rounds, and of one sample", "[cli]") {
  const TempDir dir;
  dir.write("calib/s_0/x.npy", npy<float>({2}, {1, -1}));
  dir.write("calib/s_0/n.npy",
            npy_of({.descr = "'<i8'", .shape = "()"}, testing::bytes_of<std::int64_t>({3})));
  dir.write("calib/s_1/x.npy", npy<float>({2}, {0.25F, 2}));
  dir.write("calib/s_1/n.npy",
            npy_of({.descr = "'<i8'", .shape = "()"}, testing::bytes_of<std::int64_t>({1})));
  const std::string model = R"(g (float[2] x, int64 n) => (float[2] y) <bool go = {1}> {
    y = Loop (n, go, x) <body = b (int64 i, bool k, float[2] s) => (bool l, float[2] t) {
      l = Identity (k)
      t = Add (s, s)
    }>
  })";
  const JsonValue table = record(dir, model);
  CHECK(tensor(table, "s") == "8 of 2: -4 4");
  CHECK(tensor(table, "t") == "8 of 2: -8 8");
  // The moving average is over the samples' extremes, (-8 + 0.5) / 2 and (8 + 4) / 2.
  const ProcessResult averaged = run_qtool(
      "calibrate --export tensorrt t.qcal -o c.txt --set calibration.moving_average=true", dir);
  CHECK(averaged.exit_code == 0);
  CHECK(read_file(dir / "c.txt").find("t 6\n") != std::string::npos);
}

TEST_CASE("calibrate: float16 values are recorded", "[cli]") {
  const TempDir dir;
  dir.write("calib/a.npy", half_npy(0x3c00, 0xc000));  // 1, -2
  dir.write("calib/b.npy", half_npy(0x3800, 0x7bff));  // 0.5, 65504
  const JsonValue table = record(dir, R"(g (float16[2] x) => (float16[2] y) {
    a = Relu (x)
    y = Add (a, a)
  })");
  CHECK(tensor(table, "x") == "4 of 2: -2 65504");
  CHECK(tensor(table, "a") == "4 of 2: 0 65504");
  CHECK(tensor(table, "y") == "3 of 2: 0 2");
}

TEST_CASE("calibrate: bfloat16 values are recorded", "[cli]") {
  const TempDir dir;
  dir.write("calib/a.npy", npy<float>({2}, {1.5F, -3}));
  const JsonValue table = record(dir, R"(g (float[2] x) => (float[2,1] y) <int64[2] n = {2, 1}>
    { h = Cast <to = 16> (x)  a = Neg (h)  r = Reshape (a, n)  y = Cast <to = 1> (r) })");
  CHECK(tensor(table, "a") == "2 of 1: -1.5 3");
}

TEST_CASE("calibrate: an empty tensor has no values and is no error", "[cli]") {
  const TempDir dir;
  dir.write("calib/a.npy", npy<float>({0}, {}));
  dir.write("calib/b.npy", npy<float>({2}, {-1, 4}));
  const std::string model = "g (float[N] x) => (float[N] y) { y = Relu (x) }";
  CHECK(tensor(record(dir, model), "y") == "2 of 1: 0 4");
  CHECK(tensor(record(dir, model, "--max-samples 1"), "y") == "0 of 0: none none");
}

}  // namespace qtool
