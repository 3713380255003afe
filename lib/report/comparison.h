#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/json.h"
#include "report/document.h"
#include "verify/comparison.h"

namespace qtool {

// The parts of a report that every command with a comparison shares.

/// Distances per output, and to the data's expected outputs where there are some.
std::vector<Section> comparison_sections(const Comparison& comparison);
/// `top-1` and `agreement`, where the first output names classes.
Facts top1_facts(const Top1& top1);
/// Nothing where there are no gates.
std::vector<Section> gate_sections(std::span<const Gate> gates);
/// The gates that are not met, in one line: `gate not met: min_cosine 0.91, expected at least
/// 0.99`; empty where all are.
std::string unmet_gates_text(std::span<const Gate> gates);

JsonValue to_json(const Comparison& comparison);
JsonValue to_json(std::span<const Gate> gates);

}  // namespace qtool
