#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/tensor.h"

namespace qtool {

/// `text` with each `%2F` replaced by the byte it stands for; what is no such code stays.
std::string percent_decode(std::string_view text);

/// `text` as a file name: what one cannot hold as percent codes.
std::string percent_encode(std::string_view text);

/// Index of the input that the file name `stem` (without extension) or the key of an archive means:
/// the name itself, percent encoded, or with `_` for what a file name cannot hold. Nothing where
/// there is none; an `Input` error, starting with `where`, where `_` leaves more than one.
std::optional<std::size_t> find_input(std::string_view stem, std::span<const TensorInfo> inputs,
                                      const std::string& where);

/// The number in `input_3` for the prefix `input_`; nothing where `stem` has another form.
std::optional<std::size_t> numbered(std::string_view stem, std::string_view prefix);

/// The `Input` error for a value whose name is no input's.
[[noreturn]] void refuse_unknown_input(std::string_view name, std::span<const TensorInfo> inputs,
                                       const std::string& where);

}  // namespace qtool
