#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "model/model.h"

namespace qtool {

// The passes, in the order of passes.cpp. Each changes a model in place and none changes a value
// that it computes; running one twice is running it once. A pass leaves what it cannot do as it was
// and says so in `notes`.

/// Puts the body of every model-local function in place of its calls.
void inline_functions(Model& model);

/// Renames values of subgraphs whose name a graph around or beside them has too, so that a name
/// means one thing.
void rename_shadowing_values(Model& model);

/// Turns every Constant node, in whatever form, into an initializer of its graph; those that are
/// graph outputs stay nodes.
void constants_to_initializers(Model& model);

/// Which copies go: those of initializers only, or all.
enum class Copies { OfInitializers, Any };

/// Lets the readers of an Identity, or of a Dropout without training, read what it copies. One that
/// makes a graph output stays.
void remove_identities(Model& model, Copies which);

/// Lets the readers of a node that computes what another one before it has computed read that one.
/// Random nodes stay.
void remove_duplicate_nodes(Model& model);

/// Sets the sizes of the config's `dims` and `override_shapes` in inputs and in everything that
/// carries the same symbol. `Usage` error where a name does not occur or a shape does not fit.
void set_input_shapes(Model& model, const PreprocessConfig& config);

/// Replaces nodes all of whose inputs are constants by their results, as far as these do not make
/// the model much larger.
void fold_constants(Model& model, std::vector<std::string>& notes);

/// Folds BatchNormalization into the weights and bias of the Conv, ConvTranspose, Gemm or MatMul
/// before it.
void fold_batch_normalization(Model& model);

/// Stores what several bodies hold alike once, in the main graph: folding in each branch what all
/// of them compute from one weight would store that weight as often. Wants each name to mean one
/// thing.
void share_constants(Model& model);

/// Removes nodes and initializers that no output depends on, and value_info of values that are
/// gone.
void remove_dead_nodes(Model& model);

}  // namespace qtool
