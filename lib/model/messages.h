#pragma once

#include <string>
#include <string_view>

namespace qtool {

/// A name out of a model for a message: in quotes, fit for a terminal, and cut so that several fit
/// one line.
std::string in_quotes(std::string_view name);

}  // namespace qtool
