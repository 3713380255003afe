#include "layers.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "catch.h"

namespace fs = std::filesystem;
using namespace qtool::architecture;

namespace {

const fs::path kRoot = QTOOL_SOURCE_DIR;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> source_files() {
  std::vector<fs::path> files;
  for (const auto* top : {"lib", "apps"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / top)) {
      const auto extension = entry.path().extension();
      if (extension == ".h" || extension == ".cpp")
        files.push_back(fs::relative(entry.path(), kRoot));
    }
  }
  std::ranges::sort(files);
  return files;
}

std::string table_text() {
  std::string text = "| module | may include | libraries |\n|---|---|---|\n";
  for (const auto& layer : kLayers) {
    text += "| " + std::string(layer.module) + " | " + std::string(layer.may_include) + " | " +
            std::string(layer.libraries) + " |\n";
  }
  return text;
}

}  // namespace

TEST_CASE("architecture: no file includes against the layer table", "[architecture]") {
  std::vector<std::string> violations;
  const auto files = source_files();
  REQUIRE(files.size() > 50);
  for (const auto& file : files)
    std::ranges::copy(find_violations(file.string(), read(kRoot / file)),
                      std::back_inserter(violations));
  CHECK(violations == std::vector<std::string>{});
}

TEST_CASE("architecture: every folder of lib has a layer", "[architecture]") {
  for (const auto& entry : fs::directory_iterator(kRoot / "lib")) {
    if (!entry.is_directory()) continue;
    INFO(entry.path());
    CHECK(std::ranges::find(kLayers, entry.path().filename().string(), &Layer::module) !=
          kLayers.end());
  }
}

TEST_CASE("architecture: a layer includes no layer below it, but for the results that report shows",
          "[architecture]") {
  for (auto layer = kLayers.begin(); layer != kLayers.end(); ++layer) {
    for (auto later = layer; later != kLayers.end(); ++later) {
      INFO(layer->module << " and " << later->module);
      CHECK((", " + std::string(layer->may_include) + ",")
                .find(", " + std::string(later->module) + ",") == std::string::npos);
    }
  }
}

TEST_CASE("architecture: lib/README.md shows the layer table", "[architecture]") {
  CHECK(read(kRoot / "lib/README.md").find(table_text()) != std::string::npos);
}

TEST_CASE("architecture: an edge against the table is named with its line", "[architecture]") {
  CHECK(find_violations("lib/quantize/plan.cpp",
                        "#include \"quantize/plan.h\"\n\n#include \"runtime/session.h\"\n") ==
        std::vector<std::string>{
            "lib/quantize/plan.cpp:3: quantize may not include runtime/session.h"});
  CHECK(
      find_violations("lib/model/save.cpp", "#include <nlohmann/json.hpp>\n#include <vector>\n") ==
      std::vector<std::string>{"lib/model/save.cpp:1: model may not include nlohmann/json.hpp"});
  CHECK(find_violations("lib/kernels/minmax.h", "#include <boost/any.hpp>\n") ==
        std::vector<std::string>{"lib/kernels/minmax.h:1: kernels may not include boost/any.hpp"});
  CHECK(find_violations("lib/utils/misc.cpp", "") ==
        std::vector<std::string>{"lib/utils/misc.cpp: no layer of this name"});
}

TEST_CASE("architecture: one header of a module may be allowed alone", "[architecture]") {
  CHECK(find_violations("lib/quantize/a.h", "#include \"calibrate/ranges.h\"\n").empty());
  CHECK(find_violations("lib/quantize/a.h", "#include \"calibrate/calibrate.h\"\n").size() == 1);
}
