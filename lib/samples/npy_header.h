#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "samples/byte_stream.h"

namespace qtool {

/// What the header of an `.npy` says of the array behind it.
struct NpyHeader {
  std::string dtype;  ///< as written: `<f4`
  /// NumPy's letter: f float, i integer, u unsigned, b bool, c complex, V bytes without a meaning.
  char kind = 0;
  std::size_t element_bytes = 0;
  bool is_big_endian = false;
  bool is_fortran_order = false;
  std::vector<std::int64_t> shape;
};

/// Reads the text of a header, a Python dictionary; `Input` errors start with `where`.
NpyHeader parse_npy_header(std::string_view text, const std::string& where);

/// Reads magic, version and header of an `.npy`, versions 1 to 3.
NpyHeader read_npy_header(ByteStream& stream);

}  // namespace qtool
