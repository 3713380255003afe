#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "model/tensor.h"
#include "samples/samples.h"

namespace qtool::testing {

/// What a model says of an input; an empty symbol list leaves free axes (-1) without names.
inline TensorInfo input(std::string name, ElementType type, std::vector<std::int64_t> shape,
                        std::vector<std::string> symbols = {}) {
  symbols.resize(shape.size());
  return {std::move(name), type, std::move(shape), std::move(symbols), true};
}

/// The Error that `work` ends with, as `kind number: message`, with ` | hint` behind it where there
/// is one.
inline std::string failure_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return "exit " + std::to_string(exit_code(error.kind())) + ": " + error.what() +
           (error.hint().empty() ? "" : " | " + error.hint());
  }
  return "no error";
}

/// `text` with every `folder/` left out, so that messages can be compared whatever the folder is.
inline std::string without(std::string text, const std::string& folder) {
  for (std::size_t at; (at = text.find(folder)) != std::string::npos;)
    text.replace(at, folder.size(), "");
  return text;
}

}  // namespace qtool::testing
