#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/error.h"
#include "config/load.h"

namespace {

/// What a config says is the same after it was written and read again.
void check_round_trip(const qtool::Config& config) {
  const std::string written = qtool::config_to_json(config);
  if (written != qtool::config_to_json(qtool::read_config(written, "written.json"))) {
    throw std::logic_error("the written config reads back as another");
  }
}

}  // namespace

/// A config file may hold anything: it is read, or it is refused with the place of the mistake.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  qtool::Config config;
  try {
    config = qtool::read_config({reinterpret_cast<const char*>(bytes), size}, "c.json");
  } catch (const qtool::Error& error) {
    const std::string_view message = error.what();
    if (error.kind() != qtool::ErrorKind::Usage || !message.starts_with("c.json:")) throw;
    return 0;
  }
  check_round_trip(config);
  return 0;
}
