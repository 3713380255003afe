#include "model/model.h"

#include "catch.h"
#include "model/save.h"
#include "temp_dir.h"
#include "text_model.h"

using namespace qtool;
using qtool::testing::TempDir;
using qtool::testing::text_model;

TEST_CASE("a saved model is read back with its tensors", "[model]") {
  const Model model = text_model(
      "agraph (float[N,2] x) => (float[N,2] y) <float[2] b = {1, 2.5}> { y = Add (x, b) }");
  const TempDir folder;
  PendingModel pending(model, folder / "m.onnx", {});
  pending.commit();

  const Model loaded = load_model(folder / "m.onnx");
  REQUIRE(loaded.graph().initializer_size() == 1);
  CHECK(to_float32(loaded.tensor(loaded.graph().initializer(0))) == std::vector<float>{1, 2.5});
  CHECK(loaded.opset() == 17);
}
