#include "preprocess/loop_types.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "catch.h"

using namespace qtool;
using Sizes = std::vector<std::int64_t>;
using Types = std::vector<onnx::TypeProto>;

namespace {

onnx::TypeProto type_of(const Sizes& sizes) {
  onnx::TypeProto type;
  type.mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  auto& shape = *type.mutable_tensor_type()->mutable_shape();
  for (const std::int64_t size : sizes) {
    auto& dim = *shape.add_dim();
    if (size >= 0) dim.set_dim_value(size);
  }
  return type;
}

/// -1 for free sizes; nothing where the rank is not known.
std::optional<Sizes> sizes_of(const onnx::TypeProto& type) {
  if (!type.tensor_type().has_shape()) return std::nullopt;
  Sizes sizes;
  for (const auto& dim : type.tensor_type().shape().dim())
    sizes.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
  return sizes;
}

}  // namespace

TEST_CASE("loop types: sizes that a round hands on stay, others go", "[preprocess]") {
  const Types types =
      types_of_every_round({type_of({2, 3}), type_of({4})}, [](const Types& carried) {
        return Types{type_of({2, 5}), carried[1]};
      });
  CHECK(sizes_of(types[0]) == Sizes{2, -1});
  CHECK(sizes_of(types[1]) == Sizes{4});
}

TEST_CASE("loop types: what one value loses, the next loses a round later", "[preprocess]") {
  const Types types =
      types_of_every_round({type_of({2}), type_of({2}), type_of({2})}, [](const Types& carried) {
        return Types{type_of({9}), carried[0], carried[1]};
      });
  for (const auto& type : types) CHECK(sizes_of(type) == Sizes{-1});
}

TEST_CASE("loop types: another rank leaves none", "[preprocess]") {
  const Types types = types_of_every_round({type_of({2})}, [](const Types&) {
    return Types{type_of({2, 2})};
  });
  CHECK_FALSE(sizes_of(types[0]));
}

TEST_CASE("loop types: what does not settle has no shape", "[preprocess]") {
  const Types initial(30, type_of({2}));
  const Types types = types_of_every_round(initial, [](const Types& carried) {
    Types made{type_of({9})};
    made.insert(made.end(), carried.begin(), carried.end() - 1);
    return made;
  });
  for (const auto& type : types) CHECK_FALSE(sizes_of(type));
}

TEST_CASE("loop types: a round that does not tell all leaves no shape", "[preprocess]") {
  const Types types =
      types_of_every_round({type_of({2}), type_of({3})}, [](const Types&) { return Types(); });
  for (const auto& type : types) CHECK_FALSE(sizes_of(type));
}
