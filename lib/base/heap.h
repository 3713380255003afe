#pragma once

namespace qtool {

/// Gives freed memory back to the system where the C library keeps it for itself: what a stage
/// took would else count beside what the next one takes.
void trim_heap();

}  // namespace qtool
