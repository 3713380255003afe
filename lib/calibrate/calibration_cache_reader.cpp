#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "calibrate/calibration_cache.h"
#include "config/enum_names.h"
#include "config/json.h"
#include "model/messages.h"

namespace qtool {
namespace {

using Object = JsonValue::Object;
using List = JsonValue::List;

/// Takes one cache apart; every way in which it cannot be is an error.
class Reader {
 public:
  explicit Reader(const std::string& where) : where_(where) {}

  CalibrationCache read(const JsonValue& root) const;

 private:
  [[noreturn]] void refuse(const JsonValue& at, const std::string& what) const {
    throw Error(ErrorKind::Input, fmt::format("{}:{}: {}", where_, at.line, what));
  }
  const JsonValue& member(const JsonValue& object, const char* name) const;
  CalibrationMethod method(const JsonValue& root) const;
  bool flag(const JsonValue& root, const char* name) const;
  std::vector<std::string> names(const JsonValue& list) const;
  void append(const JsonValue& value, const std::string& what, std::vector<float>& out) const;
  std::vector<float> numbers(const JsonValue& value, const std::string& what) const;
  CachedTensor tensor(const JsonValue& value, const std::string& name,
                      CalibrationMethod method) const;

  const std::string& where_;
};

const JsonValue& Reader::member(const JsonValue& object, const char* name) const {
  if (const JsonValue* found = object.find(name)) return *found;
  throw Error(
      ErrorKind::Input,
      fmt::format("{}: is no calibration cache of ONNX Runtime: has no '{}'", where_, name));
}

/// An object that names the method's value there, or only its name, behind the last point.
CalibrationMethod Reader::method(const JsonValue& root) const {
  if (const JsonValue* own = root.find(kCacheMethodKey)) {
    const std::string* word = own->as<std::string>();
    for (const auto& [method, name] : EnumNames<CalibrationMethod>::kEntries) {
      if (word != nullptr && *word == name) return method;
    }
    refuse(*own, fmt::format("{}: found {}", kCacheMethodKey, found_text(*own)));
  }
  const JsonValue& value = member(root, "calibration_method");
  const JsonValue* inner = value.find("value");
  const std::string* word = (inner != nullptr ? *inner : value).as<std::string>();
  for (const CalibrationMethod method :
       {CalibrationMethod::MinMax, CalibrationMethod::Entropy, CalibrationMethod::Percentile,
        CalibrationMethod::Distribution}) {
    if (word != nullptr && word->substr(word->rfind('.') + 1) == peer_method_name(method))
      return method;
  }
  refuse(value, fmt::format("calibration_method: found {}, expected MinMax, Entropy, Percentile or "
                            "Distribution",
                            found_text(inner != nullptr ? *inner : value)));
}

bool Reader::flag(const JsonValue& root, const char* name) const {
  const JsonValue* value = root.find(name);
  if (value == nullptr) return false;
  if (const bool* found = value->as<bool>()) return *found;
  refuse(*value, fmt::format("{}: found {}, expected true or false", name, found_text(*value)));
}

std::vector<std::string> Reader::names(const JsonValue& list) const {
  std::vector<std::string> out;
  const auto* elements = list.as<List>();
  if (elements == nullptr)
    refuse(list, fmt::format("{}: found {}, expected a list of names", kCacheWithoutRangeKey,
                             found_text(list)));
  for (const JsonValue& element : *elements) {
    const std::string* name = element.as<std::string>();
    if (name == nullptr)
      refuse(element, fmt::format("{}: found {}, expected a name", kCacheWithoutRangeKey,
                                  found_text(element)));
    out.push_back(*name);
  }
  return out;
}

/// The numbers of lists in any depth, in their order.
void Reader::append(const JsonValue& value, const std::string& what,
                    std::vector<float>& out) const {
  if (const auto* list = value.as<List>()) {
    for (const JsonValue& element : *list) append(element, what, out);
    return;
  }
  const auto* whole = value.as<std::int64_t>();
  const auto* real = value.as<double>();
  const double number = whole != nullptr  ? static_cast<double>(*whole)
                        : real != nullptr ? *real
                                          : NAN;
  if (!(std::abs(number) <= static_cast<double>(std::numeric_limits<float>::max())))
    refuse(value, fmt::format("{}: found {}, expected a finite float32", what, found_text(value)));
  out.push_back(static_cast<float>(number));
}

/// Of an array object, or of a plain number.
std::vector<float> Reader::numbers(const JsonValue& value, const std::string& what) const {
  std::vector<float> out;
  const JsonValue* data = value.find("data");
  append(data != nullptr ? *data : value, what, out);
  if (const JsonValue* type = value.find("dtype")) {
    const std::string* word = type->as<std::string>();
    if (word == nullptr || (*word != "float32" && *word != "float16"))
      refuse(*type,
             fmt::format("{}: has dtype {}, expected float32 or float16", what, found_text(*type)));
  }
  if (out.empty()) refuse(value, what + ": has no value, expected one, or one per channel");
  return out;
}

CachedTensor Reader::tensor(const JsonValue& value, const std::string& name,
                            CalibrationMethod method) const {
  const std::string what = "tensor " + in_quotes(name);
  const auto read = [&](const char* key) {
    const JsonValue* found = value.find(key);
    if (found == nullptr) refuse(value, fmt::format("{}: has no {}", what, key));
    return numbers(*found, what + ": " + key);
  };
  CachedTensor out;
  out.lowest = read("lowest");
  out.highest = read("highest");
  if (out.lowest.size() != out.highest.size()) {
    refuse(value, fmt::format("{}: has {} lowest and {} highest values, expected as many", what,
                              out.lowest.size(), out.highest.size()));
  }
  for (std::size_t i = 0; i < out.lowest.size(); ++i) {
    // A percentile there can end before it begins, where all values share a bin.
    if (out.lowest[i] <= out.highest[i] || method == CalibrationMethod::Percentile) continue;
    refuse(value, fmt::format("{}: lowest is {}, expected at most {}, the highest", what,
                              out.lowest[i], out.highest[i]));
  }
  if (value.find("avg") != nullptr || value.find("std") != nullptr)
    out.spread =
        Spread{static_cast<double>(read("avg").front()), static_cast<double>(read("std").front())};
  return out;
}

CalibrationCache Reader::read(const JsonValue& root) const {
  const JsonValue& data = member(root, "data");
  CalibrationCache out;
  out.method = method(root);
  out.smooth_quant = flag(root, "smooth_quant");
  const auto* tensors = data.as<Object>();
  if (tensors == nullptr)
    refuse(data, fmt::format("data: found {}, expected an object with a member per tensor",
                             found_text(data)));
  for (const JsonMember& each : *tensors)
    out.tensors[each.name] = tensor(each.value, each.name, out.method);
  if (const JsonValue* list = root.find(kCacheWithoutRangeKey)) out.without_range = names(*list);
  return out;
}

}  // namespace

CalibrationCache parse_calibration_cache(std::string_view text, const std::string& where) {
  return Reader(where).read(parse_json(text, where, ErrorKind::Input));
}

}  // namespace qtool
