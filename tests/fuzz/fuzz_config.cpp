#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "config/load.h"
#include "temp_dir.h"

/// A config file may hold anything: it is read, or it is refused by an Error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const qtool::testing::TempDir folder;
  const auto path = folder.write("config.json", {reinterpret_cast<const char*>(bytes), size});
  try {
    qtool::config_to_json(qtool::load_config({.file = path, .settings = {}}));
  } catch (const qtool::Error& error) {
    if (error.kind() == qtool::ErrorKind::Internal) throw;
  }
  return 0;
}
