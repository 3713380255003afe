#include "preprocess/passes.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <span>
#include <string>

#include "base/error.h"
#include "base/interrupt.h"
#include "model/node_count.h"
#include "preprocess/fusion.h"
#include "preprocess/preprocess.h"
#include "preprocess/shape_inference.h"
#include "runtime/optimize.h"

namespace qtool {
namespace {

using Notes = std::vector<std::string>;

/// What one pass leaves may be work for another; a chain of such steps ends.
constexpr int kMaxRounds = 10;

/// `run` tells whether it changed the model.
struct Pass {
  const char* name;
  std::function<bool(Model&, Notes&)> run;
};

/// A pass whose changes all show in the number of nodes.
template <typename Run>
Pass counted(const char* name, const Run& run) {
  return {name, [run](Model& model, Notes& notes) {
            const std::size_t before = node_count(model.graph());
            run(model, notes);
            return node_count(model.graph()) != before;
          }};
}

bool run_pass(Model& model, const Pass& pass, PassReport& entry, Notes& notes) {
  throw_if_interrupted();
  const auto start = std::chrono::steady_clock::now();
  entry.name = pass.name;
  entry.nodes_before = static_cast<int>(node_count(model.graph()));
  const bool changed = pass.run(model, notes);
  entry.nodes_after = static_cast<int>(node_count(model.graph()));
  entry.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return changed;
}

void run_passes(Model& model, std::span<const Pass> passes, PreprocessReport& report) {
  for (const Pass& pass : passes) run_pass(model, pass, report.passes.emplace_back(), report.notes);
}

/// Runs the passes again and again until none of them changes anything. Of the later rounds only
/// those that did are reported.
void run_until_stable(Model& model, std::span<const Pass> passes, PreprocessReport& report) {
  Notes said_before;
  for (int round = 0; round < kMaxRounds; ++round) {
    bool changed = false;
    for (const Pass& pass : passes) {
      PassReport entry;
      const bool did = run_pass(model, pass, entry, round == 0 ? report.notes : said_before);
      if (did || round == 0) report.passes.push_back(entry);
      changed |= did;
    }
    if (!changed) return;
    ShapeInference(model, said_before).run();
  }
}

/// ONNX Runtime's own optimization. A model that it refuses stays as it is.
bool optimize(Model& model, OptimizationLevel level, Notes& notes) {
  try {
    model = optimize_by_runtime(model, level == OptimizationLevel::Basic
                                           ? SessionConfig::Optimization::Basic
                                           : SessionConfig::Optimization::Extended);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Input) throw;
    notes.push_back(std::string("optimization: left out: ") + error.what());
    return false;
  }
  ShapeInference(model, notes).run();
  return true;
}

void raise_opset(Model& model, std::int64_t version) {
  if (model.opset() > version) {
    throw Error(ErrorKind::Usage, "preprocess.opset: " + std::to_string(version) +
                                      ", expected at least the model's " +
                                      std::to_string(model.opset()));
  }
  upgrade_opset(model, version);
}

/// The opset below which forms stand that later ones retired, as Upsample and Pad by attributes.
constexpr std::int64_t kModernOpset = 11;

/// A model with a node that cannot be converted stays where it is.
bool convert_retired_forms(Model& model, Notes& notes) {
  if (model.opset() >= kModernOpset) return false;
  try {
    Model raised = model.clone();
    upgrade_opset(raised, kModernOpset);
    model = std::move(raised);
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Input) throw;
    notes.push_back(std::string("opset: stays ") + std::to_string(model.opset()) + ": " +
                    error.what());
    return false;
  }
}

std::vector<Pass> normalization() {
  return {
      counted("inline_functions", [](Model& model, Notes&) { inline_functions(model); }),
      counted("rename_shadowing_values",
              [](Model& model, Notes&) { rename_shadowing_values(model); }),
      counted("constants_to_initializers",
              [](Model& model, Notes&) { constants_to_initializers(model); }),
      counted("remove_identities", [](Model& model, Notes&) { remove_identities(model); }),
  };
}

/// The passes that a config asks for, in their order.
class PassList {
 public:
  PassList(const PreprocessConfig& config, Purpose purpose) : config_(config), purpose_(purpose) {}

  /// What comes once, before the others.
  std::vector<Pass> first() const;
  /// What goes on until nothing changes.
  std::vector<Pass> repeated() const;
  /// What comes once, behind the others.
  std::vector<Pass> last() const;
  /// What fusions left, and why.
  void tell_patterns_left(Model& model, PreprocessReport& report) const;

 private:
  bool is_for_running() const { return purpose_ == Purpose::Running; }
  bool keeps_hard_gates() const { return purpose_ != Purpose::Quantizing; }
  bool asks_for(const char* fusion) const {
    return std::ranges::find(config_.fusions, fusion) != config_.fusions.end();
  }
  /// Whether a fusion runs whose result is an operator of the model's opset.
  bool may_fuse(const char* fusion) const {
    return asks_for(fusion) || (config_.simplify && is_for_running());
  }
  Operators operators(const char* fusion) const {
    return asks_for(fusion) ? Operators::Contrib : Operators::Standard;
  }
  void add_fusions(std::vector<Pass>& passes) const;
  void add_simplification(std::vector<Pass>& passes) const;

  const PreprocessConfig& config_;
  Purpose purpose_;
};

std::vector<Pass> PassList::first() const {
  std::vector<Pass> passes = normalization();
  if (!config_.dims.empty() || !config_.override_shapes.empty()) {
    passes.push_back(counted("set_input_shapes",
                             [this](Model& model, Notes&) { set_input_shapes(model, config_); }));
  }
  passes.push_back(counted("infer_shapes", [this](Model& model, Notes& notes) {
    const auto values =
        config_.symbolic_shape ? ShapeInference::Values::Follow : ShapeInference::Values::Ignore;
    ShapeInference inference(model, notes, values);
    if (config_.guess_output_rank) inference.guess_unknown();
    inference.run();
  }));
  if (config_.simplify && is_for_running())
    passes.push_back({"convert_retired_forms", convert_retired_forms});
  if (config_.auto_merge) {
    passes.push_back({"merge_dimensions", [](Model& model, Notes& notes) {
                        const bool merged = merge_dimensions(model);
                        if (merged) ShapeInference(model, notes).run();
                        return merged;
                      }});
  }
  return passes;
}

std::vector<Pass> PassList::repeated() const {
  std::vector<Pass> passes;
  if (config_.simplify) {
    passes.push_back(
        counted("remove_dead_nodes", [](Model& model, Notes&) { remove_dead_nodes(model); }));
    passes.push_back(
        {"cast_likes_to_casts", [](Model& model, Notes&) { return cast_likes_to_casts(model); }});
  }
  if (config_.simplify || config_.fold_constants) {
    passes.push_back({"make_range_operands_scalar",
                      [](Model& model, Notes&) { return make_range_operands_scalar(model); }});
  }
  if (config_.fold_constants) passes.push_back(counted("fold_constants", fold_constants));
  if (config_.simplify) add_simplification(passes);
  add_fusions(passes);
  if (config_.simplify) {
    passes.push_back(
        {"fold_affine_before", [](Model& model, Notes&) { return fold_affine_before(model); }});
    passes.push_back(counted("remove_duplicate_nodes",
                             [](Model& model, Notes&) { remove_duplicate_nodes(model); }));
    passes.push_back(
        {"share_constants", [](Model& model, Notes&) { return share_constants(model); }});
  }
  if (config_.simplify || config_.fold_constants || !config_.fusions.empty()) {
    passes.push_back(
        counted("remove_unread_constants", [](Model& model, Notes&) { remove_dead_nodes(model); }));
  }
  return passes;
}

void PassList::tell_patterns_left(Model& model, PreprocessReport& report) const {
  report.patterns_left =
      find_patterns_left(model, [this](const char* fusion) { return may_fuse(fusion); });
  for (const PatternLeft& each : report.patterns_left) {
    if (!asks_for(each.fusion.c_str())) continue;
    report.notes.push_back("preprocess.fusions: " + each.fusion + " left as it is, " +
                           std::to_string(each.count) + " found: " + each.reason);
  }
}

std::vector<Pass> PassList::last() const {
  if (!config_.simplify || keeps_hard_gates()) return {};
  return {{"split_hard_sigmoid",
           [](Model& model, Notes& notes) {
             const bool changed = split_hard_sigmoid(model);
             if (changed) ShapeInference(model, notes).run();
             return changed;
           }},
          {"fold_split_affine", [](Model& model, Notes&) {
             const bool behind = fold_affine(model);
             return fold_affine_before(model) || behind;
           }}};
}

void PassList::add_simplification(std::vector<Pass>& passes) const {
  const auto add = [&](const char* name, bool (*run)(Model&)) {
    passes.push_back({name, [run](Model& model, Notes&) { return run(model); }});
  };
  add("inline_branches", inline_branches);
  passes.push_back({"remove_no_ops", [this](Model& model, Notes&) {
                      return remove_no_ops(model, config_.int_max);
                    }});
  add("merge_transposes", merge_transposes);
  add("merge_slices", merge_slices);
  add("sink_squeezes", sink_squeezes);
  add("merge_reshapes", merge_reshapes);
  add("fold_reshape_targets", fold_reshape_targets);
  add("fold_pads", fold_pads);
  add("fold_gemm_factors", fold_gemm_factors);
  add("fold_affine", fold_affine);
  if (is_for_running()) add("merge_initializers", merge_initializers);
}

void PassList::add_fusions(std::vector<Pass>& passes) const {
  const auto add = [&](bool is_wanted, const char* name, auto run) {
    if (is_wanted) passes.push_back({name, [run](Model& model, Notes&) { return run(model); }});
  };
  add(config_.simplify && keeps_hard_gates(), "fuse_hard_swish", fuse_hard_swish);
  add(config_.simplify && !is_for_running(), "fuse_gemm", fuse_gemm);
  add(may_fuse("gelu"), "fuse_gelu",
      [which = operators("gelu")](Model& model) { return fuse_gelu(model, which); });
  add(may_fuse("silu"), "fuse_silu",
      [which = operators("silu")](Model& model) { return fuse_silu(model, which); });
  add(may_fuse("layernorm"), "fuse_layer_normalization", fuse_layer_normalization);
  add(may_fuse("rmsnorm"), "fuse_rms_normalization", fuse_rms_normalization);
  add(may_fuse("attention"), "fuse_attention",
      [which = operators("attention")](Model& model) { return fuse_attention(model, which); });
  add(may_fuse("space_to_depth"), "fuse_space_to_depth", fuse_space_to_depth);
  // It is not the same for vectors shorter than its bound.
  add(asks_for("lpnorm"), "fuse_lp_normalization", fuse_lp_normalization);
}

}  // namespace

PreprocessReport normalize(Model& model) {
  PreprocessReport report;
  std::vector<Pass> passes = normalization();
  passes.push_back(counted("infer_shapes", infer_shapes));
  run_passes(model, passes, report);
  return report;
}

PreprocessReport preprocess(Model& model, const PreprocessConfig& config, Purpose purpose) {
  if (!config.enabled) return normalize(model);
  PreprocessReport report;
  const PassList passes(config, purpose);
  run_passes(model, passes.first(), report);
  run_until_stable(model, passes.repeated(), report);
  if (config.opset) {
    const Pass raise = counted("upgrade_opset", [&](Model& each, Notes& notes) {
      raise_opset(each, *config.opset);
      ShapeInference(each, notes).run();
    });
    run_passes(model, std::span(&raise, 1), report);
    // It brings operators that fusions may put.
    run_until_stable(model, passes.repeated(), report);
  }
  if (config.optimization != OptimizationLevel::None) {
    const Pass by_runtime{"optimize_by_runtime", [&](Model& each, Notes& notes) {
                            return optimize(each, config.optimization, notes);
                          }};
    run_passes(model, std::span(&by_runtime, 1), report);
    // Its graph brings nodes and names of its own.
    run_passes(model, normalization(), report);
    run_until_stable(model, passes.repeated(), report);
  }
  run_passes(model, passes.last(), report);
  passes.tell_patterns_left(model, report);
  return report;
}

}  // namespace qtool
