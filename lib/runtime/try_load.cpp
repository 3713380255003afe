#include "runtime/try_load.h"

#include <optional>
#include <system_error>

#include <onnxruntime_cxx_api.h>
#include <onnxruntime_session_options_config_keys.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/file.h"
#include "model/model.h"
#include "model/reduce.h"
#include "runtime/environment.h"
#include "runtime/ort_error.h"
#include "runtime/session_options.h"

namespace qtool {
namespace {

/// Weights below it are parsed and copied with the message: what a shape may be read from is small.
constexpr std::size_t kMappedBytes = std::size_t{1} << 16;

/// Whether the values of a tensor decide nothing about loading: their number is right, and they are
/// no sizes, axes or indices.
bool is_plain_weight(const TensorInFile& tensor) {
  if (!tensor.is_initializer || tensor.values.number != onnx::TensorProto::kRawDataFieldNumber ||
      tensor.head.has_segment())
    return false;
  const ElementType type = element_type(tensor.head);
  const std::size_t bits = element_bits(type);
  if (bits == 0 || type == ElementType::Int64 || type == ElementType::Int32) return false;
  const auto& dims = tensor.head.dims();
  const auto count =
      checked_element_count(std::span(dims.data(), static_cast<std::size_t>(dims.size())));
  // The values lie in memory, so no product of a right size wraps.
  return count && static_cast<std::size_t>(*count) <= 8 * tensor.values.payload.size() &&
         packed_bytes(type, static_cast<std::size_t>(*count)) == tensor.values.payload.size();
}

Ort::SessionOptions options_for_loading(int threads) {
  SessionConfig config;
  config.intra_op_threads = threads;
  Ort::SessionOptions out = session_options(config);
  // Nothing is run: weights need not be laid out for it.
  out.AddConfigEntry(kOrtSessionOptionsConfigDisablePrepacking, "1");
  return out;
}

/// The model as it lies in the file, without its plain weights: ONNX Runtime finds them there.
/// Nothing where the file is no sound message, of which ONNX Runtime says more.
std::optional<std::string> message_beside_weights(const std::filesystem::path& path) {
  const MappedFile file(path);
  const std::string name = path.filename().string();
  try {
    return reduce_message(file.bytes(),
                          {.location = name, .least_bytes = kMappedBytes, .takes = is_plain_weight},
                          name);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Whether it loads; where it does not, it is to be loaded as a whole, for ONNX Runtime's own
/// words.
bool loads_by_parts(const std::filesystem::path& path, int threads) {
  std::error_code error;
  const auto canonical = std::filesystem::canonical(path, error);
  if (error) return false;
  const auto message = message_beside_weights(canonical);
  if (!message) return false;
  Ort::SessionOptions options = options_for_loading(threads);
  options.AddConfigEntry(kOrtSessionOptionsModelExternalInitializersFileFolderPath,
                         canonical.parent_path().c_str());
  try {
    const Ort::Session session(environment(), message->data(), message->size(), options);
    return true;
  } catch (const Ort::Exception&) {
    return false;
  }
}

}  // namespace

LoadResult try_load(const std::filesystem::path& path, int threads) {
  LoadResult out;
  try {
    out.loads = loads_by_parts(path, threads);
    if (out.loads) return out;
    const Ort::Session session(environment(), path.c_str(), options_for_loading(threads));
    out.loads = true;
  } catch (const Ort::Exception& exception) {
    out.message = clean_message(exception.what());
    out.unknown_operator = names_unknown_operator(out.message);
    out.missing_kernel = names_missing_kernel(out.message);
  }
  return out;
}

}  // namespace qtool
