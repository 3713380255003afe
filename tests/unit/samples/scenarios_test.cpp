#include "samples/scenarios.h"

#include <string>

#include "base/error.h"
#include "catch.h"
#include "samples.h"
#include "temp_dir.h"

namespace qtool {
namespace {

using Names = std::vector<std::string>;
using testing::TempDir;

const std::vector<TensorInfo> kOne = {testing::input("x", ElementType::Float, {2})};
const std::vector<TensorInfo> kTwo = {testing::input("x", ElementType::Float, {2}),
                                      testing::input("y", ElementType::Float, {2})};

/// Relative to the folder, which itself is `.`.
Names found(const TempDir& dir, std::span<const TensorInfo> inputs) {
  Names out;
  for (const auto& path : find_scenarios(dir.path(), inputs))
    out.push_back(path.lexically_relative(dir.path()).string());
  return out;
}

void fill(const TempDir& dir, const Names& files) {
  for (const std::string& file : files) dir.write(file, "");
}

}  // namespace

TEST_CASE("scenarios: a folder of files is one", "[samples]") {
  const TempDir dir;
  fill(dir, {"a.npy", "b.npy"});
  CHECK(found(dir, kOne) == Names{"."});
}

TEST_CASE("scenarios: folders of files are scenarios, in natural order", "[samples]") {
  const TempDir dir;
  fill(dir, {"day10/a.npy", "day10/b.npy", "day2/a.npy"});
  CHECK(found(dir, kOne) == Names{"day2", "day10"});
}

TEST_CASE("scenarios: a folder of samples is one, folders of such folders are several",
          "[samples]") {
  const TempDir dir;
  fill(dir, {"s_1/x.npy", "s_1/y.npy", "s_2/x.npy", "s_2/y.npy"});
  CHECK(found(dir, kTwo) == Names{"."});
  const TempDir above;
  fill(above, {"fog/s_1/x.npy", "fog/s_1/y.npy", "sun/s_1/x.npy", "sun/s_1/y.npy"});
  CHECK(found(above, kTwo) == Names{"fog", "sun"});
}

TEST_CASE("scenarios: one sample under its input's name makes all folders samples", "[samples]") {
  const TempDir dir;
  fill(dir, {"s_1/wrong.npy", "s_2/x.npy"});
  CHECK(found(dir, kOne) == Names{"."});
}

TEST_CASE("scenarios: beside a file folders are none", "[samples]") {
  const TempDir dir;
  fill(dir, {"day/a.npy", "night/b.npy", "labels.json"});
  CHECK(found(dir, kOne) == Names{"."});
}

TEST_CASE("scenarios: links to folders count, hidden folders do not", "[samples]") {
  const TempDir elsewhere, dir;
  fill(elsewhere, {"a.npy"});
  fill(dir, {"day/a.npy", ".cache/b.txt"});
  std::filesystem::create_directory_symlink(elsewhere.path(), dir / "night");
  CHECK(found(dir, kOne) == Names{"day", "night"});
}

TEST_CASE("scenarios: what holds no samples is left to who reads them", "[samples]") {
  const TempDir dir;
  fill(dir, {"day/a.txt"});
  CHECK(found(dir, kOne) == Names{"."});
  CHECK(found(TempDir(), kOne) == Names{"."});
  CHECK_THROWS_AS(find_scenarios(dir / "absent", kOne), Error);
}

}  // namespace qtool
