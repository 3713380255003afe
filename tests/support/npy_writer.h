#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace qtool::testing {

/// `bytes` as they lie in memory, which is as they lie in a file.
template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

/// The parts of an `.npy`; each can be made wrong.
struct NpyParts {
  std::string descr = "'<f4'";
  std::string fortran_order = "False";
  std::string shape = "(1, 4)";
  int version = 1;
  std::string header = {};          ///< in place of the one that the fields above make
  std::int64_t header_length = -1;  ///< in place of the true one
};

inline std::string npy_of(const NpyParts& parts, std::string_view body) {
  std::string header = parts.header;
  if (header.empty()) {
    header = "{'descr': " + parts.descr + ", 'fortran_order': " + parts.fortran_order +
             ", 'shape': " + parts.shape + ", }";
  }
  header += '\n';
  const auto length = static_cast<std::uint32_t>(
      parts.header_length < 0 ? static_cast<std::int64_t>(header.size()) : parts.header_length);
  std::string out = "\x93NUMPY";
  out += static_cast<char>(parts.version);
  out += '\0';
  for (int i = 0; i < (parts.version == 1 ? 2 : 4); ++i)
    out += static_cast<char>(length >> (8 * i));
  return out.append(header).append(body);
}

/// NumPy's name of a C++ type.
template <typename T>
std::string npy_descr() {
  if constexpr (std::is_same_v<T, bool>) return "'|b1'";
  const char kind = std::is_floating_point_v<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u';
  return std::string("'") + (sizeof(T) == 1 ? '|' : '<') + kind + std::to_string(sizeof(T)) + "'";
}

/// `(2, 4)`
inline std::string npy_shape(std::span<const std::int64_t> shape) {
  std::string out = "(";
  for (const std::int64_t dim : shape) out += std::to_string(dim) + ",";
  return out + ")";
}

/// A sound `.npy` file.
template <typename T>
std::string npy(const std::vector<std::int64_t>& shape, const std::vector<T>& values) {
  return npy_of({.descr = npy_descr<T>(), .shape = npy_shape(shape)}, bytes_of(values));
}

}  // namespace qtool::testing
