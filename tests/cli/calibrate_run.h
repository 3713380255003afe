#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "catch.h"
#include "qtool_run.h"

namespace qtool::testing {

inline const std::filesystem::path kDigits = QTOOL_SOURCE_DIR "/calib_samples/digits";
inline const std::string kRecord = "calibrate -i model.onnx --calib-data calib --max-samples 8 ";

/// A folder with the demo model and its samples, and nothing else.
inline void fill(const TempDir& dir) {
  std::filesystem::copy_file(kDigits / "model.onnx", dir / "model.onnx");
  std::filesystem::create_directory_symlink(kDigits / "calib", dir / "calib");
}

/// The same with a table of all eight samples and its halves.
inline void fill_with_tables(const TempDir& dir) {
  fill(dir);
  REQUIRE(run_qtool(kRecord + "-o all.qcal", dir).exit_code == 0);
  REQUIRE(run_qtool(kRecord + "-o a.qcal --shard 0/2", dir).exit_code == 0);
  REQUIRE(run_qtool(kRecord + "-o b.qcal --shard 1/2", dir).exit_code == 0);
}

/// Each line is refused with this answer, and leaves the folder as it was.
inline void check_refusals(const TempDir& dir, const std::vector<Refusal>& cases) {
  const auto count = [&] {
    return std::distance(std::filesystem::directory_iterator(dir.path()), {});
  };
  for (const Refusal& each : cases) {
    const auto before = count();
    INFO("qtool " << each.line);
    const ProcessResult result = run_qtool(each.line, dir);
    CHECK(result.err == "qtool: error: " + each.error + "\n");
    CHECK(result.exit_code == each.exit_code);
    CHECK(count() == before);
  }
}

}  // namespace qtool::testing
