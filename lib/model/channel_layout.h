#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "kernels/channels.h"

namespace qtool {

/// How the channels along `axis` of a tensor lie in memory; -1 is the last axis. Nothing where the
/// tensor has no such axis.
std::optional<kernels::Channels> channel_layout(std::span<const std::int64_t> shape,
                                                std::int64_t axis);

}  // namespace qtool
