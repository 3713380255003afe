#pragma once

#include <string>

#include "config/load.h"
#include "error_text.h"

namespace qtool::testing {

/// What a user would read of the fault in a config file `c.json`; empty where there is none.
inline std::string config_fault(const std::string& text) {
  return error_text([&] { read_config(text, "c.json"); });
}

/// The same for one section, whose body stands on line 17.
inline std::string section_fault(const std::string& section, const std::string& body) {
  return config_fault("{" + std::string(16, '\n') + "\"" + section + "\": " + body + "\n}");
}

}  // namespace qtool::testing
