#include "report/run_facts.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include "base/text.h"
#include "report/figures.h"

namespace qtool {

std::string path_text(const std::optional<std::filesystem::path>& path) {
  return path ? path->native() : std::string("-");
}

void add_model_facts(Facts& facts, const Config& config, const ModelSizes& sizes) {
  Cell input(fmt::format("{}, {}, opset {}", path_text(config.model.input),
                         format_bytes(sizes.input_bytes), sizes.opset_before));
  if (config.dry_run) {
    facts.emplace_back("input", std::move(input));
    facts.emplace_back("output", "nothing written: a dry run");
    return;
  }
  const double ratio = sizes.input_bytes == 0 ? 0
                                              : static_cast<double>(sizes.output_bytes) /
                                                    static_cast<double>(sizes.input_bytes);
  Cell output(fmt::format("{}, {} ({}), opset {}", path_text(config.model.output),
                          format_bytes(sizes.output_bytes), share_text(ratio), sizes.opset_after));
  const double largest = std::max(1.0, ratio);
  input.bar = 1 / largest;
  output.bar = ratio / largest;
  facts.emplace_back("input", std::move(input));
  facts.emplace_back("output", std::move(output));
}

Section time_section(const StageTimes& seconds) {
  Table table{{{"stage"}, {"seconds", true}}, {}};
  for (const auto& [stage, time] : seconds)
    table.rows.push_back({stage, fmt::format("{:.3f}", time)});
  return {"time", std::move(table), true};
}

JsonValue times_json(const StageTimes& seconds) {
  JsonObject out;
  for (const auto& [stage, time] : seconds) out.add(stage, time);
  return out.take();
}

void append(std::vector<Section>& out, std::vector<Section> sections) {
  std::ranges::move(sections, std::back_inserter(out));
}

}  // namespace qtool
