#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace qtool::architecture {

/// A module and what its files may include, in the words of the table in lib/README.md.
struct Layer {
  std::string_view module;
  std::string_view may_include;  ///< modules or single headers; its own headers always
  std::string_view libraries;    ///< beside the standard library
};

/// The folders under lib, read in order, are the run of the tool; apps comes last.
inline constexpr auto kLayers = std::to_array<Layer>({
    {"base", "", "CPUID, fmt, OpenSSL, POSIX, spdlog"},
    {"kernels", "", "Highway"},
    {"config", "base", "fmt, JSON, RE2"},
    {"model", "base, kernels", "fmt, ONNX, protobuf"},
    {"samples", "base, config, model", "fmt, JSON, libzip, ONNX, POSIX"},
    {"runtime", "base, config, model", "fmt, ONNX, ONNX Runtime, POSIX"},
    {"preprocess", "base, config, model, samples, runtime", "fmt, ONNX"},
    {"calibrate", "base, kernels, config, model, samples, runtime", "fmt, ONNX, POSIX"},
    {"quantize",
     "base, kernels, config, model, calibrate/conv_window.h, calibrate/linear_grid.h, "
     "calibrate/ranges.h",
     "fmt, ONNX"},
    {"float16", "base, kernels, config, model", "fmt, ONNX"},
    {"verify", "base, kernels, config, model, samples, runtime", "fmt"},
    {"inspect", "base, kernels, config, model, preprocess, calibrate, quantize", "fmt, ONNX"},
    {"report",
     "base, config, float16/plan.h, inspect/explain.h, inspect/kernel_forecast.h, inspect/lint.h, "
     "inspect/plan_outcome.h, "
     "inspect/summary.h, "
     "pipeline/calibrate_report.h, pipeline/compare_report.h, "
     "pipeline/coverage_report.h, pipeline/dynamic_report.h, pipeline/float16_report.h, "
     "pipeline/inspect_report.h, pipeline/preprocess_result.h, "
     "pipeline/static_report.h, "
     "pipeline/table_report.h, preprocess/preprocess.h, quantize/dynamic/plan.h, quantize/plan.h, "
     "verify/comparison.h",
     "fmt"},
    {"pipeline",
     "base, kernels, config, model, samples, runtime, preprocess, calibrate, quantize, float16, "
     "verify, inspect, report",
     "fmt, spdlog"},
    {"apps", "base, config, report, pipeline", "CLI11, fmt, POSIX, spdlog"},
});

/// The edges of one source file that `kLayers` does not allow, a line each. `path` is relative to
/// the root of the tree.
std::vector<std::string> find_violations(std::string_view path, std::string_view text);

}  // namespace qtool::architecture
