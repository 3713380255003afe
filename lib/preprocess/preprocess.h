#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "model/model.h"

namespace qtool {

/// What one pass did.
struct PassReport {
  std::string name;
  int nodes_before = 0;
  int nodes_after = 0;
  double seconds = 0;
};

/// Groups of nodes that could be one operator and are not.
struct PatternLeft {
  std::string fusion;  ///< its name in `preprocess.fusions`
  int count = 0;
  std::string reason;  ///< what would make one operator of each, or why nothing can
};

struct PreprocessReport {
  std::vector<PassReport> passes;
  std::vector<PatternLeft> patterns_left;  ///< of fusions that the config wants
  std::vector<std::string> notes;          ///< what could not be inferred or folded, and why
};

/// What every command needs before it looks at a graph, whatever the config says: Constant nodes
/// become initializers, local functions are inlined, shapes and types are inferred as far as
/// possible. Changes no value; never stops the run.
PreprocessReport normalize(Model& model);

/// What the result is for: to run as it is, or to be quantized. One operator in place of many runs
/// faster, but has no integer kernel where they have, which counts where activations stay integers
/// between operators; equal initializers may want different scales.
enum class Purpose { Running, Quantizing, QuantizingAtRunTime };

/// The passes of the config's section, in the order of passes.cpp; includes `normalize`.
PreprocessReport preprocess(Model& model, const PreprocessConfig& config,
                            Purpose purpose = Purpose::Running);

/// Fills in value_info for every value whose type or shape can be known. Never throws for a sound
/// model.
void infer_shapes(Model& model, std::vector<std::string>& notes);

/// Folds each BatchNormalization that alone reads a layer (Conv, ConvTranspose, Gemm, MatMul) into
/// its weights and bias; whether there was one.
bool fold_batch_normalization(Model& model);

/// Raises the default domain's opset to at least `version` by real conversion of the operators that
/// changed; `Input` error naming the node where one cannot be converted.
void upgrade_opset(Model& model, std::int64_t version);

}  // namespace qtool
