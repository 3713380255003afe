#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace qtool {

/// What is known of names while walking a graph and the graphs inside it: entries made since `mark`
/// go by `roll_back`.
template <typename Value>
class ScopedMap {
 public:
  const Value* find(const std::string& name) const {
    const auto found = entries_.find(name);
    return found == entries_.end() ? nullptr : &found->second;
  }

  void set(const std::string& name, Value value) {
    remember(name);
    entries_[name] = std::move(value);
  }

  std::size_t mark() const { return log_.size(); }

  void roll_back(std::size_t mark) {
    for (; log_.size() > mark; log_.pop_back()) {
      auto& [name, value] = log_.back();
      if (value) {
        entries_[name] = std::move(*value);
      } else {
        entries_.erase(name);
      }
    }
  }

  /// For libraries that read and write the plain map; `remember` a name before it is written there.
  std::unordered_map<std::string, Value>& entries() { return entries_; }
  void remember(const std::string& name) {
    const Value* value = find(name);
    log_.emplace_back(name, value ? std::optional<Value>(*value) : std::nullopt);
  }

 private:
  std::unordered_map<std::string, Value> entries_;
  std::vector<std::pair<std::string, std::optional<Value>>> log_;
};

}  // namespace qtool
