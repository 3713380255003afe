#pragma once

#include <string_view>

namespace qtool::cli {

/// Makes sure that the descriptors of the standard streams are taken: a file opened later must not
/// become stdout.
void reserve_standard_streams();

/// The `Io` error that a write to stdout would end with, as far as that can be known before:
/// closed, or a pipe that nobody reads.
void check_stdout();

/// Writes all of `text` to stdout; an `Io` error where it is closed or full.
void write_stdout(std::string_view text);

/// Writes `text` to stderr as far as it goes: where that fails there is nobody to tell.
void write_stderr(std::string_view text) noexcept;

/// Whether somebody watches stderr.
bool stderr_is_terminal();

}  // namespace qtool::cli
