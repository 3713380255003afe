#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <onnx/onnx_pb.h>

#include "model/made_values.h"
#include "model/narrowing.h"

namespace qtool {

/// The values of a tensor that is written: bytes as they lie in memory or in a mapped file, or what
/// a narrowing makes of them on the way.
struct WrittenValues {
  std::span<const std::byte> source;
  std::optional<Narrowing> narrowing = std::nullopt;

  std::size_t size() const { return narrowing ? narrowed_bytes(source.size()) : source.size(); }
  bool empty() const { return source.empty(); }
  /// Gives all bytes in their order, never many at a time that are not there already.
  void write(const std::function<void(std::span<const std::byte>)>& sink) const {
    if (narrowing)
      narrow_in_pieces(source, *narrowing, sink);
    else
      sink(source);
  }
};

/// Where in a model a tensor stands, as far as its storage depends on it.
struct TensorSite {
  const onnx::NodeProto* node = nullptr;  ///< with it in an attribute; null: an initializer
  int graph_depth = 0;                    ///< 1 in the main graph, more in those inside it
  bool is_in_function = false;            ///< or in training information
};

/// Where a tensor's values go when a model is written.
struct TensorStorage {
  enum class Kind {
    AsIs,      ///< the message is written as it is
    Inline,    ///< `values` become raw_data
    External,  ///< external_data names `location`, `offset` and the length of `values`
  } kind = Kind::AsIs;
  WrittenValues values = {};
  std::optional<MadeValues> made = {};  ///< in the place of `values`
  std::string location;
  std::uint64_t offset = 0;

  std::uint64_t bytes() const { return made ? made->bytes : values.size(); }
};

/// Turns a model into bytes piece by piece, so that large values are neither copied nor all in
/// memory. What it writes is what protobuf's own, deterministic serialization of the whole would
/// be.
class ModelWriter {
 public:
  using ChooseStorage = std::function<TensorStorage(const onnx::TensorProto&, const TensorSite&)>;
  using Sink = std::function<void(std::string_view)>;

  /// Asks `choose` once for every tensor, in the order of the bytes. The model must stay as it is.
  /// `make` gives the values that are made when they are written.
  ModelWriter(const onnx::ModelProto& model, const ChooseStorage& choose, ValueMaker make = {});

  std::uint64_t size() const { return sizes_.front(); }
  void write(const Sink& sink) const;

 private:
  class Measurer;
  class Emitter;

  /// A tensor that is not written as it is.
  struct Part {
    std::string head;
    WrittenValues raw_data;
    std::optional<MadeValues> made;
  };

  const onnx::ModelProto* model_;
  ValueMaker make_;
  std::vector<std::uint64_t> sizes_;  ///< of the messages, in the order in which they are met
  std::vector<Part> parts_;           ///< in the same order
};

}  // namespace qtool
