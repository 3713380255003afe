#include "runtime/ort_error.h"

#include "catch.h"

namespace qtool {

TEST_CASE("clean_message leaves out places in ONNX Runtime's source with the functions' signatures",
          "[runtime]") {
  CHECK(clean_message(
            "Non-zero status code returned while running Add node. Name:'n1' Status Message: "
            "/onnxruntime_src/onnxruntime/core/providers/cpu/math/element_wise_ops.h:540 void "
            "onnxruntime::BroadcastIterator::Append(ptrdiff_t, ptrdiff_t) axis == 1 was false.") ==
        "Non-zero status code returned while running Add node. Name:'n1' Status Message: axis == 1 "
        "was false");
  CHECK(clean_message("bad.cc:12 int f() const two\n\twords") == "two words");
  CHECK(clean_message("tensorprotoutils.cc:619 ValidateExternalDataPathFromDir path is missing") ==
        "ValidateExternalDataPathFromDir path is missing");
}

TEST_CASE("clean_message keeps words that only look like places in a source", "[runtime]") {
  CHECK(clean_message("node 'a.cc' and 'b.h:x' (c.cc:)") == "node 'a.cc' and 'b.h:x' (c.cc:)");
}

TEST_CASE("clean_message drops the path that the message of ours repeats", "[runtime]") {
  CHECK(clean_message("Load model from /tmp/m.onnx failed:Protobuf parsing failed.") ==
        "Protobuf parsing failed");
}

TEST_CASE("clean_message gives one line of printable text", "[runtime]") {
  CHECK(clean_message("a\n\nb \x1b[31mc") == "a b \\x1b[31mc");
  CHECK(clean_message("") == "");
  CHECK(clean_message(std::string(3000, 'x')).size() < 600);
}

TEST_CASE("a message about an unregistered operator is told apart from other refusals",
          "[runtime]") {
  CHECK(names_unknown_operator("Fatal error: com.foo:Bar(-1) is not a registered function/op"));
  CHECK(names_unknown_operator("Error No Op registered for Nope with domain_version of 17"));
  CHECK_FALSE(names_unknown_operator(
      "Type Error: Type 'tensor(int64)' of input parameter (x) is invalid."));
}

TEST_CASE("ort_error blames the model, or the machine when memory ran out", "[runtime]") {
  const auto refused = ort_error(Ort::Exception("bad graph.", ORT_FAIL), "m.onnx", "load it");
  CHECK(refused.kind() == ErrorKind::Input);
  CHECK(std::string(refused.what()) == "m.onnx: ONNX Runtime cannot load it: bad graph");
  const auto memory = ort_error(
      Ort::Exception("Failed to allocate memory for requested buffer of size 9", ORT_FAIL),
      "m.onnx", "run it");
  CHECK(memory.kind() == ErrorKind::Internal);
  CHECK(std::string(memory.what()) ==
        "m.onnx: out of memory in ONNX Runtime: Failed to allocate memory for requested buffer of "
        "size 9");
}

}  // namespace qtool
