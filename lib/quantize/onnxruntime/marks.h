#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace qtool {

/// What onnxruntime.quantization notes of a tensor while it walks the nodes.
struct TensorMark {
  bool is_weight = false;  ///< else an activation, or a constant that stands where one does
  std::optional<std::int64_t> axis = {};  ///< weights: one scale per channel
  std::string provider = {};  ///< tensor whose scale and zero point this one takes; empty: its own
  int reader = -1;            ///< the node that reads `provider`, which may see it converted
};

/// Marks in the order in which tensors were marked first; a later mark may replace an earlier one
/// in its place.
class TensorMarks {
 public:
  struct Entry {
    std::string name;
    TensorMark mark;
  };

  bool contains(const std::string& name) const { return places_.contains(name); }
  const TensorMark* find(const std::string& name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? nullptr : &entries_[found->second]->mark;
  }
  /// Marks `name` unless it is marked.
  void add(const std::string& name, TensorMark mark) {
    if (!contains(name)) replace(name, std::move(mark));
  }
  void replace(const std::string& name, TensorMark mark) {
    const auto [place, is_new] = places_.try_emplace(name, entries_.size());
    if (is_new) entries_.emplace_back();
    entries_[place->second] = Entry{name, std::move(mark)};
  }
  void erase(const std::string& name) {
    const auto found = places_.find(name);
    if (found == places_.end()) return;
    entries_[found->second].reset();
    places_.erase(found);
  }
  /// Those that are left, in order.
  std::vector<Entry> entries() const {
    std::vector<Entry> out;
    for (const auto& entry : entries_)
      if (entry) out.push_back(*entry);
    return out;
  }

 private:
  std::vector<std::optional<Entry>> entries_;
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace qtool
