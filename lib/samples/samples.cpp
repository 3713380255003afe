#include "samples/samples.h"

#include <mutex>
#include <utility>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/sha256.h"
#include "samples/byte_stream.h"
#include "samples/digests.h"
#include "samples/fit.h"
#include "samples/folder_entries.h"
#include "samples/input_names.h"
#include "samples/layout.h"
#include "samples/npy.h"
#include "samples/npz.h"
#include "samples/tensor_proto.h"

namespace qtool {
namespace {

/// Number of each sample's first file among the files of all; one more at the end for their count.
std::vector<std::size_t> first_files(const SampleList& list) {
  std::vector<std::size_t> out;
  out.reserve(list.samples.size() + 1);
  out.push_back(0);
  for (const auto& sample : list.samples) {
    out.push_back(out.back() + list.file_sets[sample.file_set].size());
  }
  return out;
}

/// What expected outputs are checked against.
const TensorInfo kAnything;

class Folder final : public SampleFolder {
 public:
  Folder(std::string path, std::span<const TensorInfo> inputs, const SampleOptions& options)
      : path_(std::move(path)),
        inputs_(inputs.begin(), inputs.end()),
        options_(options),
        list_(list_samples(path_, inputs, options.read_expected_outputs, options.max_samples)),
        first_files_(first_files(list_)),
        digests_(first_files_.back()) {}

  std::size_t size() const override { return list_.samples.size(); }
  const std::string& name(std::size_t index) const override { return list_.samples[index].name; }
  bool is_cut() const override { return list_.is_cut; }
  Sample read(std::size_t index) const override;
  std::string sha256() const override;
  std::string sha256_of(std::size_t index) const override;
  std::uint64_t bytes(std::size_t index) const override;

 private:
  const std::vector<ValueFile>& files(std::size_t index) const {
    return list_.file_sets[list_.samples[index].file_set];
  }
  std::string file_name(std::size_t index, std::size_t file) const;
  template <typename Read>
  auto digested(std::size_t file_number, const Read& read) const;
  void read_archive(std::size_t index, Sample& sample) const;
  void read_file(std::size_t index, std::size_t file, Sample& sample) const;
  NamedTensor as_input(Tensor tensor, const TensorInfo& input, const std::string& where) const;
  Digests::Digest digest(std::size_t index, std::size_t file) const;
  void digest_sample(std::size_t index, Sha256& hash) const;

  std::string path_;
  std::vector<TensorInfo> inputs_;
  SampleOptions options_;
  SampleList list_;
  std::vector<std::size_t> first_files_;
  mutable Digests digests_;
  mutable std::once_flag warned_;
};

/// The path of a sample's file inside the folder.
std::string Folder::file_name(std::size_t index, std::size_t file) const {
  switch (list_.layout) {
    case Layout::Npy:
      return name(index) + ".npy";
    case Layout::Npz:
      return name(index) + ".npz";
    case Layout::Folders:
      break;
  }
  return join_path(name(index), files(index)[file].name);
}

NamedTensor Folder::as_input(Tensor tensor, const TensorInfo& input,
                             const std::string& where) const {
  if (tensor.type == ElementType::Double && input.type == ElementType::Float && options_.warn) {
    // Without a file's name: which one comes first depends on the threads.
    std::call_once(warned_,
                   [&] { options_.warn(path_ + ": float64 values are converted to float32"); });
  }
  return {input.name, fit(std::move(tensor), input, options_.allow_nonfinite, where)};
}

/// What `read(hash)` gives for a file; `hash` digests it on the way, and is null where that was
/// done before.
template <typename Read>
auto Folder::digested(std::size_t file_number, const Read& read) const {
  if (digests_.find(file_number)) return read(static_cast<Sha256*>(nullptr));
  Sha256 hash;
  auto out = read(&hash);
  digests_.set(file_number, hash.digest());
  return out;
}

void Folder::read_archive(std::size_t index, Sample& sample) const {
  const std::string path = join_path(path_, file_name(index, 0));
  const NpzArchive archive =
      digested(first_files_[index], [&](Sha256* hash) { return NpzArchive(path, hash); });
  const std::vector<std::size_t> entries = find_entries(archive.keys(), inputs_, path);
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    sample.inputs[i] =
        as_input(archive.read(entries[i], inputs_[i]), inputs_[i], archive.where(entries[i]));
  }
}

void Folder::read_file(std::size_t index, std::size_t file, Sample& sample) const {
  const ValueFile& value = files(index)[file];
  const TensorInfo& info = value.is_output ? kAnything : inputs_[value.index];
  const std::string path = join_path(path_, file_name(index, file));
  NamedTensor read = digested(first_files_[index] + file, [&](Sha256* hash) {
    FileStream stream(path, hash);
    return extension(path) == ".pb" ? read_tensor_proto(stream, info)
                                    : NamedTensor{info.name, read_npy(stream, info)};
  });
  if (value.is_output) {
    sample.expected_outputs[value.index] = std::move(read);
  } else {
    sample.inputs[value.index] = as_input(std::move(read.tensor), info, path);
  }
}

Sample Folder::read(std::size_t index) const {
  Sample sample{name(index), std::vector<NamedTensor>(inputs_.size()), {}};
  if (list_.layout == Layout::Npz) {
    read_archive(index, sample);
    return sample;
  }
  const std::size_t count = files(index).size();
  sample.expected_outputs.resize(count - inputs_.size());
  for (std::size_t file = 0; file < count; ++file) read_file(index, file, sample);
  return sample;
}

Digests::Digest Folder::digest(std::size_t index, std::size_t file) const {
  const std::size_t number = first_files_[index] + file;
  if (const auto known = digests_.find(number)) return *known;
  Sha256 hash;
  digest_file(join_path(path_, file_name(index, file)), hash);
  const Digests::Digest out = hash.digest();
  digests_.set(number, out);
  return out;
}

void Folder::digest_sample(std::size_t index, Sha256& hash) const {
  for (std::size_t file = 0; file < files(index).size(); ++file)
    hash.update(checksum_line(digest(index, file), file_name(index, file)));
}

std::string Folder::sha256() const {
  Sha256 hash;
  for (std::size_t index = 0; index < size(); ++index) {
    throw_if_interrupted();
    digest_sample(index, hash);
  }
  return hash.hex_digest();
}

std::string Folder::sha256_of(std::size_t index) const {
  Sha256 hash;
  digest_sample(index, hash);
  return hash.hex_digest();
}

std::uint64_t Folder::bytes(std::size_t index) const {
  std::uint64_t out = 0;
  for (std::size_t file = 0; file < files(index).size(); ++file) {
    std::error_code unknown;
    const auto size = std::filesystem::file_size(join_path(path_, file_name(index, file)), unknown);
    if (!unknown) out += size;
  }
  return out;
}

}  // namespace

std::unique_ptr<SampleFolder> open_samples(const std::filesystem::path& path,
                                           std::span<const TensorInfo> model_inputs,
                                           const SampleOptions& options) {
  return std::make_unique<Folder>(path.string(), model_inputs, options);
}

}  // namespace qtool
