#include <csignal>
#include <thread>

#include "calibrate_run.h"

namespace qtool {
namespace {

using testing::check_refusals;
using testing::fill;
using testing::fill_with_tables;
using testing::kDigits;
using testing::kRecord;
using testing::Process;
using testing::ProcessResult;
using testing::run_qtool;
using testing::TempDir;
using testing::words_of;

/// A folder whose samples take a while.
void fill_with_many(const TempDir& dir) {
  fill(dir);
  std::filesystem::create_directory(dir / "many");
  for (int i = 0; i < 20000; ++i) {
    std::filesystem::create_symlink(
        kDigits / "calib" / (std::string("00") + "0123456789"[i % 10] + ".npy"),
        dir / ("many/" + std::to_string(i) + ".npy"));
  }
}

const std::string kMany = "calibrate -i model.onnx --calib-data many ";

/// Runs `line` and sends it `number` once it records; gives its exit.
ProcessResult interrupt(const TempDir& dir, const std::string& line, int number) {
  const Process process(QTOOL_BINARY, words_of(line + " -v --threads 1"), dir.path());
  while (process.is_running() &&
         process.error_so_far().find(" of 20000 samples") == std::string::npos)
    std::this_thread::yield();
  process.signal(number);
  return process.wait();
}

TEST_CASE("calibrate: an interrupted run keeps what is done, and goes on to the same table",
          "[cli]") {
  const TempDir dir;
  fill_with_many(dir);
  REQUIRE(run_qtool(kMany + "-o whole.qcal", dir).exit_code == 0);
  int interrupted = 0;
  for (const int number : {SIGINT, SIGTERM, SIGINT}) {
    const ProcessResult result = interrupt(dir, kMany + "-o t.qcal --resume", number);
    if (result.exit_code != 130) continue;
    ++interrupted;
    CHECK(result.err.find("qtool: error: interrupted: t.qcal holds ") != std::string::npos);
    CHECK(
        result.err.ends_with(" of 20000 samples\n"
                             "  hint: the same command with --resume runs the rest\n"));
    CHECK(run_qtool("inspect t.qcal", dir).out.find(" of 20000: a part") != std::string::npos);
  }
  CHECK(interrupted > 0);
  REQUIRE(run_qtool(kMany + "-o t.qcal --resume", dir).exit_code == 0);
  CHECK(read_file(dir / "t.qcal") == read_file(dir / "whole.qcal"));
}

TEST_CASE("calibrate: a run that is killed leaves the table as it was", "[cli]") {
  const TempDir dir;
  fill_with_many(dir);
  REQUIRE(run_qtool(kRecord + "-o t.qcal", dir).exit_code == 0);
  const std::string before = read_file(dir / "t.qcal");
  CHECK(interrupt(dir, kMany + "-o t.qcal", SIGKILL).exit_code == -SIGKILL);
  CHECK(read_file(dir / "t.qcal") == before);
}

TEST_CASE("calibrate: --resume takes no table of anything else", "[cli]") {
  const TempDir dir;
  fill_with_tables(dir);
  std::filesystem::create_directory(dir / "changed");
  for (int i = 0; i < 8; ++i) {
    const std::string name = "00" + std::to_string(i) + ".npy";
    std::filesystem::copy_file(kDigits / "calib" / (i == 6 ? "050.npy" : name),
                               dir / ("changed/" + name));
  }
  check_refusals(dir,
                 {{"calibrate -i model.onnx --calib-data changed -o a.qcal --resume", 3,
                   "a.qcal: has sample '006' with other content, expected that of the folder\n"
                   "  hint: without --resume all samples are run"},
                  {kRecord + "-o a.qcal --resume --shard 1/2", 3,
                   "a.qcal: has sample '000' of another shard, expected the same --shard"},
                  {"calibrate -i model.onnx --calib-data calib -o a.qcal --resume", 3,
                   "a.qcal: calibration table of another sample folder: 8 samples, expected 100"},
                  {kRecord + "-o a.qcal --resume --op-types-to-quantize Conv", 3,
                   "a.qcal: has 13 tensors, expected the 8 of this run"}});
  CHECK(run_qtool(kRecord + "-o a.qcal --resume", dir).exit_code == 0);
  CHECK(read_file(dir / "a.qcal") == read_file(dir / "all.qcal"));
}

}  // namespace
}  // namespace qtool
