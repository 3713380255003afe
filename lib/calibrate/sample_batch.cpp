#include "calibrate/sample_batch.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "base/error.h"
#include "model/element_type.h"
#include "model/messages.h"

namespace qtool {
namespace {

/// The rows of every input; nothing where they differ, or where an input cannot be joined.
std::optional<std::int64_t> rows_of(const Sample& sample) {
  std::optional<std::int64_t> out;
  for (const auto& [name, tensor] : sample.inputs) {
    const auto bits = element_bits(tensor.type);
    if (tensor.shape.empty() || bits == 0 || bits % 8 != 0) return std::nullopt;
    if (out && *out != tensor.shape.front()) return std::nullopt;
    out = tensor.shape.front();
  }
  return out;
}

bool differ_in_rows_only(const NamedTensor& a, const NamedTensor& b) {
  return a.name == b.name && a.tensor.type == b.tensor.type &&
         std::ranges::equal(a.tensor.shape.begin() + 1, a.tensor.shape.end(),
                            b.tensor.shape.begin() + 1, b.tensor.shape.end());
}

bool can_join(const Sample& to, const Sample& from, const Batch& batch) {
  const auto rows = rows_of(to);
  const auto more = rows_of(from);
  if (!rows || !more || (batch.is_exact && *rows + *more > batch.size)) return false;
  return std::ranges::equal(to.inputs, from.inputs, differ_in_rows_only);
}

void append(SampleBatch& to, const SampleBatch& from) {
  for (std::size_t i = 0; i < to.values.inputs.size(); ++i) {
    Tensor& tensor = to.values.inputs[i].tensor;
    const Tensor& more = from.values.inputs[i].tensor;
    tensor.shape.front() += more.shape.front();
    tensor.bytes.insert(tensor.bytes.end(), more.bytes.begin(), more.bytes.end());
  }
  to.samples.insert(to.samples.end(), from.samples.begin(), from.samples.end());
}

void check_exact(const SampleBatch& joined, const Batch& batch) {
  const auto rows = rows_of(joined.values);
  if (!batch.is_exact || rows == batch.size) return;
  throw Error(ErrorKind::Input,
              fmt::format("sample {}: the model takes batches of {}, found {} of its shape to join",
                          in_quotes(joined.values.name), batch.size, joined.samples.size()),
              "calibration.max_samples can leave out the rest");
}

}  // namespace

std::vector<SampleBatch> join_samples(std::vector<SampleBatch> singles, const Batch& batch) {
  std::vector<SampleBatch> out;
  for (SampleBatch& single : singles) {
    const auto fits = [&](const SampleBatch& to) {
      return can_join(to.values, single.values, batch);
    };
    const auto found = std::ranges::find_if(out, fits);
    if (found == out.end())
      out.push_back(std::move(single));
    else
      append(*found, single);
  }
  for (SampleBatch& joined : out) {
    check_exact(joined, batch);
    std::ranges::sort(joined.samples);
    if (const std::size_t more = joined.samples.size() - 1; more > 0)
      joined.values.name += fmt::format(" and {} more", more);
  }
  return out;
}

}  // namespace qtool
