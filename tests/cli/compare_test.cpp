#include "base/file.h"
#include "catch.h"
#include "config/json.h"
#include "npy_writer.h"
#include "qtool_run.h"
#include "text_model.h"

namespace qtool {
namespace {

using namespace testing;

/// `a.onnx`, `b.onnx` that adds a half to every value, and three samples with labels.
class Folder : public TempDir {
 public:
  Folder() {
    write("a.onnx", text_proto("agraph (float[N,2] x) => (float[N,2] y) { y = Identity (x) }")
                        .SerializeAsString());
    write("b.onnx", text_proto("agraph (float[N,2] x) => (float[N,2] y) <float[1] s = {0.5}> "
                               "{ y = Add (x, s) }")
                        .SerializeAsString());
    for (const char* name : {"s_1", "s_2", "s_3"}) {
      write(std::string("data/") + name + ".npy", npy<float>({1, 2}, {3, 4}));
    }
    write("data/labels.csv", "s_1,1\ns_2,1\ns_3,0\n");
  }
};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("compare: prints sizes, accuracy and distances", "[cli]") {
  const Folder dir;
  const ProcessResult result = run_qtool("compare a.onnx b.onnx --data data", dir);
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  CHECK(holds(result.out, "  data             data, 3 samples\n"));
  CHECK(holds(result.out, "  labels           data/labels.csv\n"));
  CHECK(holds(result.out, "  top-1            66.67 % -> 66.67 %\n"));
  CHECK(holds(result.out,
              "  output    cosine     worst  in sample     SQNR  max error  mean error\n"
              "  y       0.999846  0.999846  s_1        17.0 dB        0.5         0.5\n"));
}

TEST_CASE("compare: a gate that is not met is named and gives exit code 4", "[cli]") {
  const Folder dir;
  const std::string line = "compare a.onnx b.onnx --data data --min-sqnr-db 20 --min-cosine 0.9";
  const ProcessResult text = run_qtool(line, dir);
  CHECK(text.exit_code == 4);
  CHECK(text.err == "qtool: error: gate not met: min_sqnr_db 16.9897, expected at least 20\n");
  CHECK(holds(text.out, "  min_cosine   0.999846  >= 0.9  met\n"));
  CHECK(holds(text.out, "  min_sqnr_db   16.9897   >= 20  NOT MET\n"));
  const ProcessResult json = run_qtool(line + " --json", dir);
  CHECK(json.exit_code == 4);
  const JsonValue document = parse_json(json.out, "stdout");
  CHECK(to_compact_json(*document.find("gates")->as<JsonValue::List>()->at(1).find("met")) ==
        "false");
}

TEST_CASE("compare: reports are written beside what is printed", "[cli]") {
  const Folder dir;
  const ProcessResult result = run_qtool(
      "compare a.onnx b.onnx --data data --report r.html --set report.json=r.json --json", dir);
  CHECK(result.exit_code == 0);
  CHECK(read_file(dir / "r.html").starts_with("<!DOCTYPE html>"));
  CHECK(read_file(dir / "r.json") == result.out);
}

TEST_CASE("compare and inspect: what they cannot do is refused with its reason", "[cli]") {
  const std::pair<std::string, std::string> cases[] = {
      {"compare a.onnx b.onnx", "compare: no samples, expected --data DIR or the key verify.data"},
      {"compare a.onnx --data data",
       "compare: no model to compare, expected QUANTIZED or the key model.output"},
      {"compare a.onnx b.onnx --data data --layers",
       "--layers: comparing layer by layer is not available yet\n"
       "  hint: without it the outputs are compared"},
      {"inspect --diff a.onnx b.onnx",
       "--diff: comparing two models is not available yet\n"
       "  hint: qtool inspect --json of both gives texts that can be compared"},
  };
  for (const auto& [line, error] : cases) {
    INFO(line);
    const Folder dir;
    const ProcessResult result = run_qtool(line, dir);
    CHECK(result.exit_code == 2);
    CHECK(result.err == "qtool: error: " + error + "\n");
    CHECK(result.out.empty());
  }
}

TEST_CASE("inspect: describes a model as text and as JSON", "[cli]") {
  const Folder dir;
  const ProcessResult text = run_qtool("inspect b.onnx", dir);
  CHECK(text.exit_code == 0);
  CHECK(text.err.empty());
  CHECK(holds(text.out, "inputs\n  name  type\n  x     float32[N,2]\n"));
  CHECK(holds(text.out,
              "operators\n  operator  nodes  values  size\n  Add           1       1   4 B\n"));
  const ProcessResult json = run_qtool("inspect -i b.onnx --json", dir);
  CHECK(json.exit_code == 0);
  CHECK(to_compact_json(*parse_json(json.out, "stdout").find("node_count")) == "1");
}

TEST_CASE("inspect: explains one node, or names the nearest", "[cli]") {
  const Folder dir;
  const ProcessResult node = run_qtool("inspect b.onnx --explain y", dir);
  CHECK(node.exit_code == 0);
  CHECK(holds(node.out, "  operator  Add\n"));
  const ProcessResult unknown = run_qtool("inspect b.onnx --explain z", dir);
  CHECK(unknown.exit_code == 2);
  CHECK(holds(unknown.err,
              "qtool: error: b.onnx: has no node 'z', expected the name of a node or "
              "of a node's output\n"));
}

}  // namespace
}  // namespace qtool
