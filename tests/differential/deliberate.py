"""Differences on purpose where the peer's result loads and is not far from float: documented, each with its reason."""


def is_about_sizes(combination):
    return combination.model in ("computed_scales", "sizes_through_floor")


def is_opset_raised(combination):
    """16-bit types need opset 21; up to 12 these operators have attributes where later ones have inputs."""
    moved = combination.op_type in ("Squeeze", "Unsqueeze", "Split") or combination.model in ("moves_in_a_row", "softmax_flattens")
    return combination.opset < 13 and "16" in combination.types and moved


# (whether it holds for a combination, reason)
REASONS = [
    (is_opset_raised, "inputs that a later opset asks for are initializers named after the node, not Constant nodes"),
    (is_about_sizes, "sizes are no data: rounded, they may give other shapes"),
]


def reason_of(combination):
    """Why a difference of this combination is on purpose, or None."""
    return next((reason for holds, reason in REASONS if holds(combination)), None)
