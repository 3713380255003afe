#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "inspect/summary.h"
#include "model/model.h"
#include "preprocess/preprocess.h"
#include "temp_dir.h"

/// A model file may hold anything: it loads and can be worked on, or it is refused by an Error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const qtool::testing::TempDir folder;
  const auto path = folder.write("model.onnx", {reinterpret_cast<const char*>(bytes), size});
  try {
    qtool::Model model = qtool::load_model(path);
    qtool::summarize(model);
    qtool::normalize(model);
  } catch (const qtool::Error& error) {
    if (error.kind() == qtool::ErrorKind::Internal) throw;
  }
  return 0;
}
