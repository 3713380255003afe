#pragma once

#include <cstdint>
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

/// Lets the readers of an Identity of an initializer, or of a Dropout of one without training, read
/// that. One that makes a graph output stays.
void remove_identities(Model& model);

/// Lets the readers of a node that computes what another one before it has computed read that one.
/// Random nodes stay.
void remove_duplicate_nodes(Model& model);

/// Sets the sizes of the config's `dims` and `override_shapes` in inputs and in everything that
/// carries the same symbol. `Usage` error where a name does not occur or a shape does not fit.
void set_input_shapes(Model& model, const PreprocessConfig& config);

/// Makes a Cast of every CastLike whose type is known, so that it hangs on what it casts alone.
/// Tells whether it changed anything.
bool cast_likes_to_casts(Model& model);

/// Makes constants of one element scalars where a Range reads them: ONNX Runtime computes with
/// others too, but refuses the model once all three are known. Tells whether it changed anything.
bool make_range_operands_scalar(Model& model);

/// Replaces nodes all of whose inputs are constants by their results, as far as these do not make
/// the model much larger.
void fold_constants(Model& model, std::vector<std::string>& notes);

// The following tell whether they changed anything.

/// Puts the branch that runs in place of an If whose condition is constant.
bool inline_branches(Model& model);

/// Lets the readers of a node that copies its input read that: Identity, and Dropout, Cast,
/// Reshape, Transpose, Pad, Slice, Concat, Mul and their like where they do nothing. A Slice that
/// ends at `unbounded` or behind it ends with its axis.
bool remove_no_ops(Model& model, std::int64_t unbounded = 2147483647);

/// Makes one Transpose of two, one behind the other.
bool merge_transposes(Model& model);

/// The same for Slices of different axes.
bool merge_slices(Model& model);

/// The same for Reshape, Squeeze, Unsqueeze, Flatten and a Transpose that moves axes of one
/// element; nothing of a Squeeze and an Unsqueeze that adds the axes again, nor of a Reshape back.
bool merge_reshapes(Model& model);

/// Moves a Squeeze behind elementwise nodes, where a Conv, ConvTranspose or Gemm before it can then
/// take up what they do, or an Unsqueeze behind them undoes it: convolutions over one axis come so.
bool sink_squeezes(Model& model);

/// Makes the computed target of a Reshape a constant where at most one size of it is neither known
/// nor one of the data.
bool fold_reshape_targets(Model& model);

/// Gives one name to dimensions of inner values that meet where only equal sizes, or 1, may.
bool merge_dimensions(Model& model);

/// Folds BatchNormalization, and Mul, Div, Add and Sub by constants that are the same for all of a
/// channel, into the weights and bias of the Conv, ConvTranspose, Gemm or MatMul before it, or into
/// the scale and bias of the BatchNormalization that stays.
bool fold_affine(Model& model);

/// Folds the same into the layer behind. Where that pads with zeros, what is added stays an Add.
bool fold_affine_before(Model& model);

/// Writes HardSwish and HardSigmoid behind a Conv as Add, Clip and Mul, which integer kernels and
/// scales do.
bool split_hard_sigmoid(Model& model);

/// Folds a Pad into the Conv or pool behind it.
bool fold_pads(Model& model);

/// Multiplies the constants of a Gemm by its alpha and beta.
bool fold_gemm_factors(Model& model);

/// Lets equal initializers be one, the first of them.
bool merge_initializers(Model& model);

/// Lets callers give and take the inputs and outputs that the config names with their channels
/// last, by a Transpose at each. `Usage` error where a name does not occur or has fewer than three
/// axes.
void make_channel_last(Model& model, const PreprocessConfig& config);

/// Stores what several bodies hold alike once, in the main graph: folding in each branch what all
/// of them compute from one weight would store that weight as often. Wants each name to mean one
/// thing. Tells whether anything was.
bool share_constants(Model& model);

/// Removes nodes and initializers that no output depends on, and value_info of values that are
/// gone.
void remove_dead_nodes(Model& model);

}  // namespace qtool
