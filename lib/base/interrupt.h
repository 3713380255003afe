#pragma once

namespace qtool {

/// Catches SIGINT and SIGTERM from now on: the first asks the run to stop at its next safe point, a
/// second ends the process at once with exit code 130. Either way no temporary file stays behind.
void install_signal_handlers();

/// Whether the user asked to stop.
bool interrupted() noexcept;

/// Throws an `Interrupted` error where the user asked to stop. Long loops call it once a round.
void throw_if_interrupted();

}  // namespace qtool
