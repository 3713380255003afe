// What calibration costs: `qtool_bench_calibration plain|minmax|distribution MODEL FOLDER [THREADS]
// [REPEAT]` prints CPU seconds of the runs, CPU seconds of all that the mode adds, samples, and the
// peak memory of this process.
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <string>
#include <sys/resource.h>

#include "calibrate/calibrate.h"
#include "preprocess/preprocess.h"
#include "quantize/plan_builder.h"
#include "runtime/session.h"

namespace {

using namespace qtool;

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// The samples of a folder, over and over.
class Repeated : public SampleFolder {
 public:
  Repeated(const SampleFolder& folder, std::size_t times) : folder_(folder), times_(times) {}
  std::size_t size() const override { return folder_.size() * times_; }
  const std::string& name(std::size_t index) const override {
    return folder_.name(index % folder_.size());
  }
  Sample read(std::size_t index) const override { return folder_.read(index % folder_.size()); }
  std::string sha256() const override { return folder_.sha256(); }
  std::string sha256_of(std::size_t index) const override {
    return folder_.sha256_of(index % folder_.size());
  }
  std::uint64_t bytes(std::size_t index) const override {
    return folder_.bytes(index % folder_.size());
  }

 private:
  const SampleFolder& folder_;
  std::size_t times_;
};

/// As a user of ONNX Runtime runs the model: without optimizations, outputs fetched, one thread;
/// reading is not counted.
double plain(const std::string& model, const SampleFolder& samples) {
  SessionConfig config;
  config.optimization = SessionConfig::Optimization::None;
  const Session session(model, config);
  double seconds = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Sample sample = samples.read(i);
    const double before = cpu_seconds();
    session.run(sample.inputs);
    seconds += cpu_seconds() - before;
  }
  return seconds;
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc < 4)
    return std::fputs(
               "usage: qtool_bench_calibration plain|minmax|distribution MODEL FOLDER [THREADS] "
               "[REPEAT]\n",
               stderr),
           2;
  const std::string mode = argv[1];
  const Preset preset =
      std::getenv("QTOOL_BENCH_PRESET") != nullptr ? Preset::OnnxRuntime : Preset::Cpu;
  Model model = load_model(argv[2]);
  const auto folder = open_samples(argv[3], required_inputs(model.graph()), {});
  const Repeated samples(*folder, argc > 5 ? std::strtoul(argv[5], nullptr, 10) : 1);
  const double before = cpu_seconds();
  double runs = 0;
  std::size_t taps = 0;
  if (mode == "plain") {
    model = Model();
    runs = plain(argv[2], samples);
  } else {
    normalize(model);
    const auto tensors = measurements(model, {}, placement_for(preset)).tensors;
    taps = tensors.size();
    const Collection collection{
        .tensors = tensors,
        .kind = mode == "minmax" ? StatisticsKind::Extremes : StatisticsKind::Distribution,
        .samples = all_samples(samples),
        .threads = argc > 4 ? std::atoi(argv[4]) : 1};
    const auto result = collect_statistics(model, collection, samples, {});
    std::uint64_t values = 0;
    for (const auto& [name, of_tensor] : result.statistics) values += of_tensor.value_count;
    fmt::print("{:.1f} million values; ", static_cast<double>(values) / 1e6);
    runs = cpu_seconds() - before;
  }
  fmt::print("{} runs {:.3f} s, all {:.3f} s, {} samples, {} taps, peak {:.1f} MB\n", mode, runs,
             cpu_seconds(), samples.size(), taps, peak_mb());
}
