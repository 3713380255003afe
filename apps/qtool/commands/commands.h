#pragma once

#include "command.h"

// One function per file of this folder; all_commands() lists them.

namespace qtool::cli {

Command calibrate_command();
Command compare_command();
Command completion_command();
Command dynamic_command();
Command float16_command();
Command inspect_command();
Command preprocess_command();
Command schema_command();
Command static_command();

}  // namespace qtool::cli
