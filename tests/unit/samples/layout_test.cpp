#include "samples/layout.h"

#include <filesystem>
#include <sys/stat.h>

#include "catch.h"
#include "samples.h"
#include "temp_dir.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

const std::vector<TensorInfo> kOneInput = {input("x", ElementType::Float, {-1, 4})};
const std::vector<TensorInfo> kTwoInputs = {input("a", ElementType::Float, {-1, 4}),
                                            input("ids", ElementType::Int64, {-1})};

/// Makes an entry: a path with `/` behind it is a folder, with `|` a pipe, with `@` a link to
/// nowhere, else an empty file.
void make(const TempDir& dir, std::string entry) {
  const char kind = entry.back();
  std::filesystem::create_directories((dir / entry).parent_path());
  if (kind == '/') {
    std::filesystem::create_directories(dir / entry);
  } else if (kind == '|' || kind == '@') {
    entry.pop_back();
    if (kind == '|') ::mkfifo((dir / entry).c_str(), 0600);
    if (kind == '@') std::filesystem::create_symlink("nowhere", dir / entry);
  } else {
    dir.write(entry, "");
  }
}

/// `npy: s_1 s_2`, or the message of the refusal.
std::string layout(const std::vector<std::string>& entries,
                   const std::vector<TensorInfo>& inputs = kOneInput,
                   std::optional<std::int64_t> max_samples = std::nullopt) {
  const TempDir dir;
  std::filesystem::create_directories(dir / "calib");
  for (const std::string& entry : entries) make(dir, "calib/" + entry);
  std::string out;
  const std::string failure = failure_of([&] {
    const SampleList list = list_samples((dir / "calib").string(), inputs, false, max_samples);
    out = list.layout == Layout::Npy ? "npy:" : list.layout == Layout::Npz ? "npz:" : "folders:";
    for (const auto& sample : list.samples) out += " " + sample.name;
    if (list.is_cut) out += " …";
    if (list.file_sets.size() != 1) out += " in " + std::to_string(list.file_sets.size()) + " ways";
  });
  return failure == "no error" ? out : without(failure, dir.path().string() + "/");
}

}  // namespace

TEST_CASE("the layout follows from what the folder holds", "[samples]") {
  CHECK(layout({"s_10.npy", "s_9.npy"}) == "npy: s_9 s_10");
  CHECK(layout({"s_10.npz", "s_9.npz"}, kTwoInputs) == "npz: s_9 s_10");
  CHECK(layout({"s_10/x.npy", "s_9/x.npy"}) == "folders: s_9 s_10");
  CHECK(layout({"s_1/x.npy", "s_2/x.pb", "s_3/input_0.pb", "s_4/x.npy"}) ==
        "folders: s_1 s_2 s_3 s_4 in 3 ways");
  CHECK(layout({"s_1/a.npy", "s_1/ids.npy"}, kTwoInputs) == "folders: s_1");
}

TEST_CASE("what is no sample is left alone", "[samples]") {
  CHECK(layout({"s_1.npy", "README.txt", "labels.json", "labels.csv", ".s_2.npy", "pictures/1.png",
                "empty/", "old@", "p|"}) == "npy: s_1");
  CHECK(layout({"s_1/x.npy", "README.txt", "labels.json", ".git/x.npy", "pictures/1.png",
                "model.onnx", "p|"}) == "folders: s_1");
  CHECK(layout({"s_1/x.npy", "s_1/notes.txt", "s_1/.hidden.npy", "s_1/output_0.pb",
                "s_1/more/y.npy"}) == "folders: s_1");
}

TEST_CASE("a limit leaves samples out, and says so", "[samples]") {
  CHECK(layout({"s_1.npy", "s_2.npy", "s_3.npy"}, kOneInput, 2) == "npy: s_1 s_2 …");
  CHECK(layout({"s_1.npy", "s_2.npy"}, kOneInput, 2) == "npy: s_1 s_2");
  CHECK(layout({"s_1/x.npy", "s_2/x.npy", "s_3/junk.npy"}, kOneInput, 2) == "folders: s_1 s_2 …");
  CHECK(layout({"s_1/x.npy", "s_2/x.npy"}, kOneInput, 3) == "folders: s_1 s_2");
}

TEST_CASE("a folder without usable samples is refused with its reason", "[samples]") {
  using Entries = std::vector<std::string>;
  const std::string none =
      "calib: holds no samples, expected .npy files, .npz files or a folder for each sample";
  const auto [entries, message] = GENERATE_COPY(table<Entries, std::string>({
      {Entries{}, "exit 3: " + none},
      {Entries{"README.txt"}, "exit 3: " + none},
      {Entries{"pictures/1.png"}, "exit 3: " + none},
      {Entries{"s_1.npy", "sample_9/x.npy"},
       "exit 3: calib: holds samples in two layouts, s_1.npy and sample_9/, expected one"},
      {Entries{"s_1.npz", "sample_9/x.pb"},
       "exit 3: calib: holds samples in two layouts, s_1.npz and sample_9/, expected one"},
      {Entries{"s_1.npy", "s_2.npz"},
       "exit 3: calib: holds samples in two layouts, s_1.npy and s_2.npz, expected one"},
      {Entries{"s_1.npz", "input_0.pb"},
       "exit 3: calib: holds samples in two layouts, s_1.npz and input_0.pb, expected one"},
      {Entries{"input_0.pb"},
       "exit 3: calib: holds input_0.pb itself, expected a folder for each sample"},
      {Entries{"s_1.npy", "s_9.npy/"}, "exit 3: calib/s_9.npy: is a folder, expected a file"},
      {Entries{"s_1.npz", "s_9.npz/"}, "exit 3: calib/s_9.npz: is a folder, expected a file"},
      {Entries{"s_1.npy", "s_9.npy|"},
       "exit 3: calib/s_9.npy: is a pipe, socket or device, expected a file"},
      {Entries{"s_1/x.npy|"},
       "exit 3: calib/s_1/x.npy: is a pipe, socket or device, expected a file"},
      {Entries{"s_1/x.npy/"}, "exit 3: calib/s_1/x.npy: is a folder, expected a file"},
      {Entries{"s_1/x.npy", "s_2@"},
       "exit 5: calib/s_2: cannot be read: No such file or directory"},
      {Entries{"s_1/x.npy", "s_2/"},
       "exit 3: calib/s_2: no file for input 'x', expected x.npy, x.pb or input_0.pb"},
      {Entries{"s_1/x.npy", "s_2/stranger.npy"},
       "exit 3: calib/s_2/stranger.npy: the model has no input 'stranger', expected x"},
      {Entries{"s_1/output_0.pb"},
       "exit 3: calib/s_1: no file for input 'x', expected x.npy, x.pb or input_0.pb"},
  }));
  CHECK(layout(entries) == message);
}

TEST_CASE("single files cannot feed a model with several inputs, or none", "[samples]") {
  CHECK(layout({"s_1.npy"}, kTwoInputs) ==
        "exit 3: calib: holds an .npy file for each sample, but the model has 2 inputs (a, ids), "
        "expected a folder for each "
        "sample with a file for each input");
  CHECK(layout({"s_1.npy"}, {}) ==
        "exit 3: calib: holds an .npy file for each sample, but the model has 0 inputs (), "
        "expected a folder for each sample "
        "with a file for each input");
}

TEST_CASE("a missing folder, or a file in its place, is refused", "[samples]") {
  const TempDir dir;
  dir.write("calib", "one\ntwo\n");
  const auto refusal = [&](const char* name) {
    return without(failure_of([&] { list_samples((dir / name).string(), kOneInput, false, {}); }),
                   dir.path().string() + "/");
  };
  CHECK(refusal("calib") == "exit 3: calib: is not a folder, expected a folder of samples");
  CHECK(refusal("nosuch") == "exit 5: nosuch: cannot be read: No such file or directory");
}
