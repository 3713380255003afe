#include "model/save.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/sha256.h"
#include "base/text.h"
#include "model/messages.h"
#include "model/model_writer.h"
#include "model/narrowed_tensor.h"
#include "model/reference.h"

namespace qtool {
namespace {

namespace fs = std::filesystem;

/// Protobuf's readers take no more.
constexpr std::uint64_t kMaxModelBytes = 0x7fffffff;

/// What is written and hashed in one go.
constexpr std::size_t kPieceBytes = std::size_t{1} << 22;
/// After so many bytes the pages of the files that tensors come from are given back.
constexpr std::uint64_t kReleaseBytes = std::uint64_t{1} << 22;

/// Writes to a file and keeps its digest.
class HashingWriter {
 public:
  HashingWriter(AtomicFile& file, const Model& model) : file_(file), model_(model) {}

  void write(std::string_view text) {
    while (!text.empty()) {
      const std::string_view piece = text.substr(0, kPieceBytes);
      write_piece(piece);
      text.remove_prefix(piece.size());
    }
  }
  void write(std::span<const std::byte> bytes) {
    write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }

  std::uint64_t bytes() const { return bytes_; }

  WrittenFile finish() {
    file_.flush();
    return {.path = file_.target(), .bytes = bytes_, .sha256 = hash_.hex_digest()};
  }

 private:
  void write_piece(std::string_view piece) {
    throw_if_interrupted();
    // Hashed first: what the system copies from is then mapped, which it need not look up page by
    // page.
    hash_.update(piece);
    file_.write(piece);
    bytes_ += piece.size();
    if (bytes_ - released_at_ < kReleaseBytes) return;
    released_at_ = bytes_;
    for (const auto& each : model_.data_files()) each.file->release_pages();
  }

  AtomicFile& file_;
  const Model& model_;
  Sha256 hash_;
  std::uint64_t bytes_ = 0;
  std::uint64_t released_at_ = 0;
};

TensorStorage inline_storage(const Model& model, const onnx::TensorProto& tensor) {
  if (const auto made = made_values_of(tensor))
    return {.kind = TensorStorage::Kind::Inline, .values = {}, .made = made, .location = {}};
  const WrittenValues values = written_values(model, tensor);
  // Small tensors and strings are written with their message.
  if (values.source.size() < Model::kReferenceBytes) return {};
  return {.kind = TensorStorage::Kind::Inline, .values = values, .location = {}};
}

ModelWriter inline_writer(const Model& model, const ValueMaker& make) {
  const auto choose = [&](const onnx::TensorProto& tensor, const TensorSite&) {
    return inline_storage(model, tensor);
  };
  return {model.proto(), choose, make};
}

/// Whether a tensor lies beside the input model; the first file is the model's own.
bool is_inherited(const onnx::TensorProto& tensor) {
  if (made_values_of(tensor)) return false;
  const auto reference = reference_of(tensor);
  return reference && reference->file > 0;
}

/// Lays the large initializers of a model out in one file.
class DataLayout {
 public:
  DataLayout(const Model& model, std::string location, const ExternalDataOptions& options,
             ValueMaker make, bool only_inherited)
      : model_(model),
        make_(std::move(make)),
        location_(std::move(location)),
        threshold_(std::max<std::uint64_t>(options.threshold_bytes, 1)),
        only_inherited_(only_inherited) {}

  ModelWriter writer() {
    const auto chosen = [this](const onnx::TensorProto& tensor, const TensorSite& site) {
      return choose(tensor, site);
    };
    return {model_.proto(), chosen, make_};
  }

  bool is_empty() const { return pieces_.empty(); }

  void write(HashingWriter& out) const {
    static constexpr std::array<std::byte, kPage> kZeros{};
    for (const Piece& piece : pieces_) {
      out.write(std::span(kZeros).first(static_cast<std::size_t>(piece.offset - out.bytes())));
      if (piece.made) out.write(make_(piece.made->number));
      piece.values.write([&](std::span<const std::byte> bytes) { out.write(bytes); });
    }
  }

 private:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kPageAlignedBytes = 16 * kPage;

  struct Piece {
    std::uint64_t offset;
    WrittenValues values;
    std::optional<MadeValues> made;
  };

  /// Readers are sure to know external data of initializers alone.
  TensorStorage choose(const onnx::TensorProto& tensor, const TensorSite& site) {
    TensorStorage out{.kind = TensorStorage::Kind::External,
                      .made = made_values_of(tensor),
                      .location = location_};
    if (!out.made) out.values = written_values(model_, tensor);
    if (site.node != nullptr || site.is_in_function || out.bytes() < threshold_ ||
        !may_leave(tensor))
      return inline_storage(model_, tensor);
    // What starts on a page can be mapped.
    const std::uint64_t alignment = out.bytes() >= kPageAlignedBytes ? kPage : 64;
    out.offset = (end_ + alignment - 1) / alignment * alignment;
    end_ = out.offset + out.bytes();
    pieces_.push_back({out.offset, out.values, out.made});
    return out;
  }

  bool may_leave(const onnx::TensorProto& tensor) const {
    return !only_inherited_ || is_inherited(tensor);
  }

  const Model& model_;
  ValueMaker make_;
  std::string location_;
  std::uint64_t threshold_;
  bool only_inherited_;
  std::uint64_t end_ = 0;
  std::vector<Piece> pieces_;
};

void refuse_too_large(const fs::path& target, std::uint64_t bytes, bool is_external) {
  if (bytes <= kMaxModelBytes) return;
  throw Error(ErrorKind::Usage,
              printable(target.string()) + ": would have " + format_bytes(bytes) +
                  ", expected at most 2 GB in a model file",
              is_external
                  ? ""
                  : "external_data 'auto' or 'always' puts large tensors into a file beside it");
}

/// The mapped files stay whole, but a name that now means something else is no longer the user's
/// input.
void refuse_overwriting(const Model& model, const fs::path& target) {
  for (const auto& each : model.data_files()) {
    std::error_code ignored;
    if (!fs::equivalent(each.file->path(), target, ignored)) continue;
    throw Error(ErrorKind::Usage, printable(target.string()) +
                                      ": is a file of the input model, expected another output");
  }
}

fs::path data_path(const fs::path& model_path, const ExternalDataOptions& options) {
  const std::string own_name = model_path.filename().string();
  const std::string name = options.file_name.value_or(own_name + ".data");
  if (name.empty() || name == "." || name == ".." || name == own_name ||
      fs::path(name).filename() != name) {
    throw Error(ErrorKind::Usage, "external_data_file: " + in_quotes(name) +
                                      ", expected the name of a file beside the model");
  }
  const fs::path path = model_path.parent_path() / name;
  std::error_code ignored;
  if (fs::is_symlink(path, ignored)) {
    throw Error(ErrorKind::Io,
                printable(path.string()) +
                    ": is a symbolic link, which readers of models refuse as external data");
  }
  return path;
}

WrittenFile write_model(const ModelWriter& writer, AtomicFile& file, const Model& model) {
  HashingWriter out(file, model);
  writer.write([&](std::string_view text) { out.write(text); });
  return out.finish();
}

}  // namespace

PendingModel::PendingModel(const Model& model, const fs::path& target,
                           const ExternalDataOptions& options, const ValueMaker& make)
    : model_file_(target) {
  refuse_overwriting(model, model_file_.target());
  const ModelWriter whole = inline_writer(model, make);
  using Mode = ExternalDataOptions::Mode;
  const bool takes_all =
      options.mode == Mode::Always || (options.mode == Mode::Auto && whole.size() > kMaxModelBytes);
  const bool keeps_inherited =
      options.mode == Mode::Auto && std::ranges::any_of(model.graph().initializer(), is_inherited);
  if (takes_all || keeps_inherited) {
    write_external(model, options, make, /*only_inherited=*/!takes_all);
  } else {
    refuse_too_large(target, whole.size(), false);
    files_.push_back(write_model(whole, model_file_, model));
  }
}

void PendingModel::write_external(const Model& model, const ExternalDataOptions& options,
                                  const ValueMaker& make, bool only_inherited) {
  const fs::path path = data_path(model_file_.target(), options);
  refuse_overwriting(model, path);
  DataLayout layout(model, path.filename().string(), options, make, only_inherited);
  const ModelWriter writer = layout.writer();
  refuse_too_large(model_file_.target(), writer.size(), true);
  files_.push_back(write_model(writer, model_file_, model));
  if (layout.is_empty()) return;

  data_file_.emplace(path);
  HashingWriter data(*data_file_, model);
  layout.write(data);
  files_.push_back(data.finish());

  preview_file_.emplace(model_file_.target());
  DataLayout preview(model, data_file_->temporary_path().filename().string(), options, make,
                     only_inherited);
  write_model(preview.writer(), *preview_file_, model);
}

std::uint64_t PendingModel::bytes() const {
  std::uint64_t sum = 0;
  for (const WrittenFile& file : files_) sum += file.bytes;
  return sum;
}

void PendingModel::commit() {
  preview_file_.reset();
  if (data_file_) data_file_->commit();
  model_file_.commit();
}

std::string serialize_with_references(const Model& model) {
  // ONNX Runtime finds data in memory for the initializers of the main graph, which its Constant
  // nodes become.
  const auto choose = [&](const onnx::TensorProto& tensor,
                          const TensorSite& site) -> TensorStorage {
    const bool is_kept = site.graph_depth == 1 && !site.is_in_function &&
                         (site.node == nullptr || site.node->op_type() == "Constant");
    return is_kept || !reference_of(tensor) ? TensorStorage{} : inline_storage(model, tensor);
  };
  const ModelWriter writer(model.proto(), choose);
  if (writer.size() > kMaxModelBytes) {
    throw Error(ErrorKind::Input,
                printable(model.path().string()) + ": has " + format_bytes(writer.size()) +
                    " beside its external data, more than the 2 GB that ONNX Runtime takes");
  }
  std::string out;
  out.reserve(static_cast<std::size_t>(writer.size()));
  writer.write([&](std::string_view text) { out += text; });
  return out;
}

}  // namespace qtool
