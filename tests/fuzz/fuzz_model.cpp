#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "base/error.h"
#include "inspect/summary.h"
#include "model/model.h"
#include "model/save.h"
#include "preprocess/preprocess.h"
#include "temp_dir.h"

namespace {

/// What was taken once is taken again after it was written.
void check_rewriting(const qtool::Model& model, const std::filesystem::path& target) {
  try {
    const qtool::PendingModel pending(model, target, {});
    qtool::load_model(pending.path());
    qtool::serialize_with_references(model);
  } catch (const qtool::Error& error) {
    throw std::logic_error(error.what());
  }
}

}  // namespace

/// A model file may hold anything: it loads and can be worked on and written, or it is refused by
/// an Error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const qtool::testing::TempDir folder;
  const auto path = folder.write("model.onnx", {reinterpret_cast<const char*>(bytes), size});
  try {
    qtool::Model model = qtool::load_model(path);
    check_rewriting(model, folder / "out.onnx");
    qtool::summarize(model);
    qtool::normalize(model);
  } catch (const qtool::Error& error) {
    if (error.kind() == qtool::ErrorKind::Internal) throw;
  }
  return 0;
}
