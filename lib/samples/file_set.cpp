#include "samples/file_set.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "samples/folder_entries.h"
#include "samples/input_names.h"

namespace qtool {
namespace {

/// Gives each file of one folder its meaning.
class Resolver {
 public:
  Resolver(std::span<const TensorInfo> inputs, bool with_outputs, const std::string& folder)
      : inputs_(inputs),
        with_outputs_(with_outputs),
        folder_(folder),
        file_of_input_(inputs.size()) {}

  std::vector<ValueFile> resolve(std::span<const std::string> names) {
    // ONNX's own test data counts from 0. Without that file a number may be part of a name: Keras
    // calls the first input input_1.
    counts_ = std::ranges::find(names, "input_0.pb") != names.end();
    for (const std::string& name : names) add(name);
    require_all_inputs();
    require_outputs_in_a_row();
    return std::move(files_);
  }

 private:
  void add(const std::string& name) {
    const std::string path = join_path(folder_, name);
    const bool is_proto = extension(name) == ".pb";
    const auto position = is_proto ? numbered(stem(name), "input_") : std::nullopt;
    if (position && counts_) return add_by_position(name, *position);
    if (const auto input = find_input(stem(name), inputs_, path)) return add_input(name, *input);
    if (position) return add_by_position(name, *position);
    if (const auto output = is_proto ? numbered(stem(name), "output_") : std::nullopt) {
      if (with_outputs_) files_.push_back({name, true, *output});
      return;
    }
    refuse_unknown_input(percent_decode(stem(name)), inputs_, path);
  }

  void add_by_position(const std::string& name, std::size_t position) {
    if (position >= inputs_.size()) {
      throw Error(ErrorKind::Input, join_path(folder_, name) + ": the model has no input " +
                                        std::to_string(position) + ", expected a number below " +
                                        std::to_string(inputs_.size()));
    }
    add_input(name, position);
  }

  void add_input(const std::string& name, std::size_t index) {
    std::string& file = file_of_input_[index];
    if (!file.empty()) {
      throw Error(ErrorKind::Input, folder_ + ": input '" + inputs_[index].name +
                                        "' has two files, " + file + " and " + name +
                                        ", expected one");
    }
    file = name;
    files_.push_back({name, false, index});
  }

  void require_all_inputs() const {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (!file_of_input_[i].empty()) continue;
      const std::string name = percent_encode(inputs_[i].name);
      throw Error(ErrorKind::Input, folder_ + ": no file for input '" + inputs_[i].name +
                                        "', expected " + name + ".npy, " + name + ".pb or input_" +
                                        std::to_string(i) + ".pb");
    }
  }

  void require_outputs_in_a_row() const {
    std::vector<std::size_t> numbers;
    for (const ValueFile& file : files_) {
      if (file.is_output) numbers.push_back(file.index);
    }
    std::ranges::sort(numbers);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] == i) continue;
      throw Error(ErrorKind::Input, folder_ + ": holds output_" + std::to_string(numbers[i]) +
                                        ".pb, expected output_" + std::to_string(i) +
                                        ".pb before it");
    }
  }

  std::span<const TensorInfo> inputs_;
  bool with_outputs_;
  const std::string& folder_;
  bool counts_ = false;
  std::vector<std::string> file_of_input_;
  std::vector<ValueFile> files_;
};

}  // namespace

bool is_value_file(std::string_view name) {
  return extension(name) == ".npy" || extension(name) == ".pb";
}

std::vector<ValueFile> resolve_files(std::span<const std::string> names,
                                     std::span<const TensorInfo> inputs, bool with_outputs,
                                     const std::string& folder) {
  return Resolver(inputs, with_outputs, folder).resolve(names);
}

}  // namespace qtool
