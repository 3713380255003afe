"""Differences on purpose where the peer's result loads and is not far from float: documented, each with its reason."""


def is_about_sizes(combination):
    return combination.model in ("computed_scales", "sizes_through_floor")


# (whether it holds for a combination, reason)
REASONS = [
    (is_about_sizes, "sizes are no data: rounded, they may give other shapes"),
]


def reason_of(combination):
    """Why a difference of this combination is on purpose, or None."""
    return next((reason for holds, reason in REASONS if holds(combination)), None)
