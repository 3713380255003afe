#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/sha256.h"
#include "base/text.h"
#include "model/model.h"
#include "pipeline/model_file.h"
#include "pipeline/output_model.h"
#include "pipeline/provenance.h"
#include "pipeline/run_context.h"
#include "pipeline/timed_stage.h"

namespace qtool {

/// What the runs of all commands that make a model from a model have in common; `Report` is the
/// command's.
template <typename Report>
class ModelRun {
 protected:
  ModelRun(const Config& config, const RunContext& context) : config_(config), context_(context) {
    report_.config = config_;
    report_.provenance = current_provenance();
  }

  template <typename Stage>
  auto timed(const char* name, const Stage& stage) {
    return timed_stage(name, report_.seconds, context_.log, stage);
  }

  /// The name of the model that is read, for messages.
  std::string input() const { return printable(config_.model.input->string()); }

  void warn(const std::string& message) {
    context_.log.warn("{}", message);
    report_.warnings.push_back(message);
  }

  Model read() {
    Model model = load_model(*config_.model.input);
    report_.input_sha256 = sha256_of_file(*config_.model.input);
    report_.input_bytes = model_file(model).bytes;
    report_.opset_before = model.opset();
    return model;
  }

  /// See check_loading.
  void load_check(const PendingModel& pending, std::string_view made,
                  Kernels kernels = Kernels::AsForSource) {
    report_.output_bytes = pending.bytes();
    report_.output_sha256 = pending.sha256();
    report_.load_check = check_loading(
        pending, config_, made, [this](const std::string& message) { warn(message); }, kernels);
  }

  void verify(const PendingModel& pending) {
    auto found = verify_output(
        pending, report_.input_bytes, config_,
        [this](const std::string& message) { warn(message); }, context_.progress);
    if (!found) return;
    report_.verification = std::move(found->comparison);
    report_.gates = std::move(found->gates);
  }

  const Config config_;
  const RunContext& context_;
  Report report_;
};

}  // namespace qtool
