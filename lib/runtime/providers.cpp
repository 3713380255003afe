#include "runtime/providers.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace qtool {
namespace {

constexpr std::string_view kCpu = "CPUExecutionProvider";
constexpr std::string_view kCuda = "CUDAExecutionProvider";
constexpr std::string_view kTensorRt = "TensorrtExecutionProvider";
constexpr std::string_view kSuffix = "ExecutionProvider";

void check_available(const std::string& provider) {
  const std::vector<std::string> available = Ort::GetAvailableProviders();
  if (std::ranges::find(available, provider) != available.end()) return;
  throw Error(ErrorKind::Usage, "--providers: '" + printable(provider, 100) +
                                    "' is not in this ONNX Runtime, available: " + join(available));
}

void append(Ort::SessionOptions& options, const std::string& provider) {
  if (provider == kCuda) {
    options.AppendExecutionProvider_CUDA(OrtCUDAProviderOptions{});
  } else if (provider == kTensorRt) {
    options.AppendExecutionProvider_TensorRT(OrtTensorRTProviderOptions{});
  } else {
    // Every other one goes by its name without the suffix.
    const std::size_t length = provider.size() - (provider.ends_with(kSuffix) ? kSuffix.size() : 0);
    options.AppendExecutionProvider(provider.substr(0, length), {});
  }
}

}  // namespace

void append_providers(Ort::SessionOptions& options, std::span<const std::string> providers) {
  for (const std::string& provider : providers) {
    check_available(provider);
    // It is always the last one.
    if (provider != kCpu) append(options, provider);
  }
}

}  // namespace qtool
