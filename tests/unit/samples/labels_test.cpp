#include <filesystem>

#include "catch.h"
#include "samples.h"
#include "samples/samples.h"
#include "temp_dir.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

class NamedSamples final : public SampleFolder {
 public:
  explicit NamedSamples(std::vector<std::string> names, bool is_cut = false)
      : names_(std::move(names)), is_cut_(is_cut) {}
  std::size_t size() const override { return names_.size(); }
  const std::string& name(std::size_t index) const override { return names_[index]; }
  bool is_cut() const override { return is_cut_; }
  Sample read(std::size_t) const override { return {}; }
  std::string sha256() const override { return {}; }
  std::string sha256_of(std::size_t) const override { return {}; }
  std::uint64_t bytes(std::size_t) const override { return 0; }

 private:
  std::vector<std::string> names_;
  bool is_cut_;
};

const NamedSamples kThree({"s_1", "s_2", "s_10"});
using Labels = std::vector<std::int64_t>;

Labels read(const std::string& name, const std::string& text, const SampleFolder& folder = kThree) {
  const TempDir dir;
  return read_labels(dir.write(name, text), folder);
}

std::string refusal(const std::string& name, const std::string& text,
                    const SampleFolder& folder = kThree) {
  const TempDir dir;
  const auto path = dir.write(name, text);
  return without(failure_of([&] { read_labels(path, folder); }), dir.path().string() + "/");
}

}  // namespace

TEST_CASE("labels are read from a list in the order of the samples, or by name", "[samples]") {
  CHECK(read("l.json", "[7, 0, 3]") == Labels{7, 0, 3});
  CHECK(read("l.json", R"({"s_10": 3, "s_1.npy": 7, "s_2.npz": 0})") == Labels{7, 0, 3});
  CHECK(read("l.json", "// classes\n[7, 0, /* one */ 3]") == Labels{7, 0, 3});
  CHECK(read("l.csv", "s_10,3\ns_1,7\ns_2.npy,0\n") == Labels{7, 0, 3});
  CHECK(read("l.csv", "\xEF\xBB\xBF\"s_10\", 3\r\n\r\n s_1 ,\"7\"\r\ns_2,0") == Labels{7, 0, 3});
  CHECK(read("l.csv", "sample,label\ns_1,7\ns_2,0\ns_10,3\n") == Labels{7, 0, 3});
  CHECK(read("l.csv", "7\n0\n3\n") == Labels{7, 0, 3});
  CHECK(read("L.CSV", "label\n7\n0\n3\n") == Labels{7, 0, 3});
}

TEST_CASE("a sample's own name wins over one without extension", "[samples]") {
  const NamedSamples folder({"a", "a.npy"});
  CHECK(read("l.json", R"({"a.npy": 2, "a": 1})", folder) == Labels{1, 2});
}

TEST_CASE("a sample's name may hold commas and spaces", "[samples]") {
  const NamedSamples folder({"cat, sitting", "dog"});
  CHECK(read("l.csv", "cat, sitting,4\ndog,5\n", folder) == Labels{4, 5});
}

TEST_CASE("labels of samples that were left out do no harm", "[samples]") {
  const NamedSamples two({"s_1", "s_2"}, true);
  CHECK(read("l.json", "[7, 0, 3]", two) == Labels{7, 0});
  CHECK(read("l.json", R"({"s_10": 3, "s_1": 7, "s_2": 0})", two) == Labels{7, 0});
}

TEST_CASE("labels in JSON that do not match are refused by file and entry", "[samples]") {
  const auto [text, message] = GENERATE(table<std::string, std::string>({
      {"[]", "l.json: holds 0 labels, expected 3, one for each sample"},
      {"[1, 2]", "l.json: holds 2 labels, expected 3, one for each sample"},
      {"[1, 2, 3, 4]", "l.json: holds 4 labels, expected 3, one for each sample"},
      {"[1, 2.5, 3]", "l.json: entry 1: label is 2.5, expected the number of a class"},
      {"[1, 2, -1]", "l.json: entry 2: label is -1, expected the number of a class"},
      {"[18446744073709551615, 2, 3]",
       "l.json: entry 0: label is 18446744073709551615, expected the number of a class"},
      {"[true, 2, 3]", "l.json: entry 0: label is true, expected the number of a class"},
      {"[[1], 2, 3]", "l.json: entry 0: label is [1], expected the number of a class"},
      {R"({"s_1": "cat", "s_2": [1], "s_10": null})",
       "l.json: sample 's_1': label is \"cat\", expected the number of a class"},
      {R"({"s_1": 1, "s_2": 2})", "l.json: no label for sample 's_10'"},
      {R"({"s_1": 1, "s_2": 2, "s_10": 3, "s_11": 4})", "l.json: no sample 's_11' in the folder"},
      {R"({"s_1": 1, "s_1.npy": 1, "s_2": 2, "s_10": 3})", "l.json: second label for sample 's_1'"},
      {R"({"s_1": 1, "s_1": 1, "s_2": 2, "s_10": 3})", "l.json: second label for sample 's_1'"},
      {"3", "l.json: holds no labels, expected a list or an object of labels"},
      {"", "l.json:1: broken JSON, expected a list or an object of labels"},
      {"{\"s_1.npy\": 0,\n\"s_2.npy\": ",
       "l.json:2: broken JSON, expected a list or an object of labels"},
      {"[1, 2, 3] x", "l.json:1: broken JSON, expected a list or an object of labels"},
      {"[1e999, 2, 3]", "l.json: broken JSON: a number is out of range"},
  }));
  INFO(text);
  CHECK(refusal("l.json", text) == "exit 3: " + message);
}

TEST_CASE("labels in CSV that do not match are refused by file and line", "[samples]") {
  const auto [text, message] = GENERATE(table<std::string, std::string>({
      {"", "l.csv: holds 0 labels, expected 3, one for each sample"},
      {"s_1,0\ns_2,not_a_class\ns_10,1\n",
       "l.csv:2: label is 'not_a_class', expected the number of a class"},
      {"s_1,cat\ns_2,1\ns_10,1\n", "l.csv:1: label is 'cat', expected the number of a class"},
      {"s_1,1\ns_2,2.0\n", "l.csv:2: label is '2.0', expected the number of a class"},
      {"s_1,1\ns_2,\n", "l.csv:2: label is '', expected the number of a class"},
      {"s_1,1\ns_2,99999999999999999999\n",
       "l.csv:2: label is '99999999999999999999', expected the number of a class"},
      {"s_1,1\n\ns_3,1\n", "l.csv:3: no sample 's_3' in the folder"},
      {"s_1,1\ns_1,1\n", "l.csv:2: second label for sample 's_1'"},
      {"s_1,1\ns_2,1\n", "l.csv: no label for sample 's_10'"},
      {"s_1,1\n2\n", "l.csv:2: lines with and without a name, expected one kind"},
      {"1\n2\n", "l.csv: holds 2 labels, expected 3, one for each sample"},
  }));
  INFO(text);
  CHECK(refusal("l.csv", text) == "exit 3: " + message);
}

TEST_CASE("labels in other files, or in none, are refused", "[samples]") {
  CHECK(refusal("l.txt", "1\n") ==
        "exit 3: l.txt: labels in a file '.txt', expected .json or .csv");
  const TempDir dir;
  CHECK(without(failure_of([&] { read_labels(dir / "l.json", kThree); }),
                dir.path().string() + "/") ==
        "exit 5: l.json: cannot be read: No such file or directory");
}

TEST_CASE("JSON that is nested deeply is refused, however deep", "[samples]") {
  const std::size_t depth = GENERATE(std::size_t{10}, std::size_t{200'000});
  const std::string refused =
      "exit 3: l.json: nested too deep, expected a list or an object of labels";
  CHECK(refusal("l.json", std::string(depth, '[')) == refused);
  CHECK(refusal("l.json", "[" + std::string(depth, '[') + std::string(depth, ']') + ",1,2]") ==
        refused);
}

TEST_CASE("the labels of a folder are its labels.json, else its labels.csv", "[samples]") {
  const TempDir dir;
  CHECK_FALSE(find_labels(dir.path()));
  dir.write("labels.csv", "");
  CHECK(find_labels(dir.path()) == dir / "labels.csv");
  dir.write("labels.json", "");
  CHECK(find_labels(dir.path()) == dir / "labels.json");
}
