"""Differences on purpose where the peer's result loads and is not far from float: documented, each with its reason."""


def is_about_sizes(combination):
    return combination.model in ("computed_scales", "sizes_through_floor")


def is_opset_raised(combination):
    """16-bit types need opset 21; up to 12 these operators have attributes where later ones have inputs."""
    moved = combination.op_type in ("Squeeze", "Unsqueeze", "Split") or combination.model in ("moves_in_a_row", "softmax_flattens")
    return combination.opset < 13 and "16" in combination.types and moved


def is_quantized_already(combination):
    return combination.model == "quantized_already"


def has_capture(combination):
    return combination.model == "captured_by_if"


def loses_relu(combination):
    """Q2: the peer removes a Relu or Clip where nothing clamps in its place."""
    words = combination.id.split("/")
    return (
        "no_out_relu" in words
        or "last_symmetric" in words
        or "float8" in combination.types
        or combination.model in ("relu_input_is_output", "clip_above_0", "clip_by_inputs")
        or (combination.model == "clip_both" and "restricted" in words)
    )


def has_beta(combination):
    return combination.model == "gemm_beta"


def copies_float_bias(combination):
    return "no_bias" in combination.id and combination.model in ("conv_shared_bias", "conv_shared_weight", "conv_bias_also_added")


def pairs_same_reader(combination):
    return "dedicated_pair" in combination.id and combination.model == "add_same"


def has_row_bias(combination):
    return "no_weight_adjust" in combination.id and combination.model in ("gemm_bias_1_n", "gemm_bias_m_n")


def pools_4_bits(combination):
    return "int4" in combination.types and "pool" in combination.model


def is_qoperator(combination):
    return combination.quant_format == "QOperator"


def forces_movers(combination):
    return is_qoperator(combination) and combination.option == "force"


def of_models(*models):
    return lambda combination: is_qoperator(combination) and combination.model in models


def is_at_run_time(*models):
    return lambda combination: combination.command == "dynamic" and combination.model in models


# (whether it holds for a combination, reason)
REASONS = [
    (is_at_run_time("attention_bias_input"), "an Attention with inputs that QAttention drops stays in float"),
    (forces_movers, "ForceQuantizeNoInputCheck keeps movers of computed values on integers"),
    (lambda c: is_qoperator(c) and c.option == "first_range", "Relu stays where an override widens its input's range"),
    (of_models("conv_shared_bias", "conv_shared_weight"), "a shared bias has its own integers for each pair of scales"),
    (lambda c: is_qoperator(c) and c.model.endswith("_before_relu"), "Q2: a Relu stays where the quantizer does not clamp"),
    (of_models("gemm_dynamic_bias"), "the weights of a node that stays in float stay there too"),
    (of_models("conv_tiny_weights"), "a raised scale stands where it stood among the initializers"),
    (is_opset_raised, "inputs that a later opset asks for are initializers named after the node, not Constant nodes"),
    (is_quantized_already, "Q14: what is quantized already gets no second pair"),
    (has_capture, "Q8: a node stands behind what its subgraphs read"),
    (loses_relu, "Q2: a Relu or Clip stays where the quantizer does not clamp"),
    (has_beta, "Q1: beta is counted"),
    (copies_float_bias, "a bias that stays float needs no copy"),
    (pairs_same_reader, "Q31: one pair for both inputs of a node, none that nothing reads"),
    (has_row_bias, "Q18: a bias of one row is stored as a vector; a matrix has its channels along the last axis"),
    (pools_4_bits, "no pair of 4 bits around a MaxPool, which ONNX Runtime would move into it"),
    (is_about_sizes, "sizes are no data: rounded, they may give other shapes"),
]


def reason_of(combination):
    """Why a difference of this combination is on purpose, or None."""
    return next((reason for holds, reason in REASONS if holds(combination)), None)
