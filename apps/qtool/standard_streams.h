#pragma once

#include <string_view>

namespace qtool::cli {

/// Makes sure that the descriptors of the standard streams are taken: a file opened later must not
/// become stdout.
void reserve_standard_streams();

/// Throws the `Io` error of a stdout that is closed, before there is anything to write to it.
void check_stdout();

/// Writes all of `text` to stdout; an `Io` error where it is closed or full.
void write_stdout(std::string_view text);

/// Writes `text` to stderr as far as it goes: where that fails there is nobody to tell.
void write_stderr(std::string_view text) noexcept;

/// Whether somebody watches stderr.
bool stderr_is_terminal();

}  // namespace qtool::cli
