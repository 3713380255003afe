#include "catch.h"
#include "config/json.h"
#include "qtool_run.h"

namespace qtool {
namespace {

using testing::Process;
using testing::ProcessResult;
using testing::run_qtool;
using testing::TempDir;

ProcessResult done(const std::string& line) {
  const TempDir dir;
  ProcessResult result = run_qtool(line, dir);
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  return result;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("help: lists the commands, and each has one with an example", "[cli]") {
  const std::string help = done("--help").out;
  CHECK(
      help.starts_with("qtool quantizes ONNX models and proves that they still work.\n\nUsage: "
                       "qtool COMMAND [OPTIONS]\n"));
  CHECK(done("-h").out == help);
  CHECK(done("help").out == help);
  for (const std::string command :
       {"static", "calibrate", "preprocess", "compare", "inspect", "schema", "completion"}) {
    INFO(command);
    CHECK(holds(help, "\n  " + command + " "));
    const std::string own = done(command + " --help").out;
    CHECK(holds(own, "qtool " + command + " [OPTIONS]"));
    CHECK(holds(own, "Example:"));
    CHECK(holds(own, "qtool " + command));
    CHECK(done(command + " --no_such -h").out == own);
    CHECK(done("help " + command).out == own);
  }
}

TEST_CASE("help: of every command on models names the options that all of them have", "[cli]") {
  for (const std::string command : {"static", "calibrate", "preprocess", "compare", "inspect"}) {
    const std::string help = done(command + " --help").out;
    for (const std::string option :
         {"--config", "--set", "--input", "--output", "--threads", "--json", "--report",
          "--dry-run", "--quiet", "--verbose", "--log-file", "--no-progress"}) {
      INFO(command << " " << option);
      CHECK(holds(help, option));
    }
  }
}

TEST_CASE("help: of static names every option of the contract", "[cli]") {
  const std::string help = done("static --help").out;
  for (const std::string option : {"--config",
                                   "--set",
                                   "--input",
                                   "--output",
                                   "--threads",
                                   "--json",
                                   "--report",
                                   "--dry-run",
                                   "--quiet",
                                   "--verbose",
                                   "--log-file",
                                   "--no-progress",
                                   "--calib-data",
                                   "--calib-table",
                                   "--calibrate-method",
                                   "--activation-type",
                                   "--weight-type",
                                   "--quant-format",
                                   "--per-channel",
                                   "--no-per-channel",
                                   "--reduce-range",
                                   "--nodes-to-exclude",
                                   "--op-types-to-quantize",
                                   "--extra",
                                   "--allow-nonfinite",
                                   "--no-load-check"}) {
    INFO(option);
    CHECK(holds(help, option));
  }
}

TEST_CASE("version: is one line", "[cli]") {
  CHECK(done("--version").out == "qtool " QTOOL_VERSION "\n");
}

TEST_CASE("schema: is one JSON document", "[cli]") {
  const JsonValue schema = parse_json(done("schema").out, "schema");
  CHECK(*schema.find("$schema")->as<std::string>() ==
        "https://json-schema.org/draft/2020-12/schema");
  CHECK(schema.find("properties")->find("calibration") != nullptr);
}

TEST_CASE("completion: the bash script is sound and knows commands and options", "[cli]") {
  const TempDir dir;
  const auto script = dir.write("qtool.bash", run_qtool("completion bash", dir).out);
  const auto bash = [&](const std::string& text) {
    return Process("/bin/bash", {"-c", text}, dir.path()).wait();
  };
  CHECK(bash("bash -n qtool.bash").exit_code == 0);
  const auto completed = [&](const std::string& words, int current) {
    return bash("source ./qtool.bash; COMP_WORDS=(" + words +
                "); COMP_CWORD=" + std::to_string(current) + "; _qtool; echo ${COMPREPLY[*]}")
        .out;
  };
  CHECK(completed("qtool st", 1) == "static\n");
  CHECK(completed("qtool static --calib", 2) ==
        "--calib-data --calib-table --calib-cache --calibrate-method\n");
  CHECK(completed("qtool static --no-per", 2) == "--no-per-channel\n");
  CHECK(completed("qtool static model", 2) == "\n");
}

TEST_CASE("completion: the scripts for zsh and fish name every option", "[cli]") {
  for (const std::string shell : {"zsh", "fish"}) {
    const std::string script = done("completion " + shell).out;
    CHECK(holds(script, "static"));
    CHECK(holds(script, "calib-data"));
    CHECK(holds(script, "no-per-channel"));
  }
}

TEST_CASE("stdout: where it is full or closed the run fails", "[cli]") {
  const TempDir dir;
  const ProcessResult full = run_qtool("--help", dir, "/dev/full");
  CHECK(full.exit_code == 5);
  CHECK(full.err == "qtool: error: standard output: cannot be written: No space left on device\n");
  const ProcessResult closed = run_qtool("schema", dir, "");
  CHECK(closed.exit_code == 5);
  CHECK(closed.err == "qtool: error: standard output: cannot be written: Bad file descriptor\n");
}

}  // namespace
}  // namespace qtool
