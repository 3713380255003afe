#include "model/onnx_version.h"

#include <onnx/common/version.h>

namespace qtool {

std::string onnx_version() { return onnx::LAST_RELEASE_VERSION; }

}  // namespace qtool
