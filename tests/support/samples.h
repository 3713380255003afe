#pragma once

#include <string>
#include <utility>
#include <vector>

#include "error_text.h"
#include "model/tensor.h"

namespace qtool::testing {

/// What a model says of an input; an empty symbol list leaves free axes (-1) without names.
inline TensorInfo input(std::string name, ElementType type, std::vector<std::int64_t> shape,
                        std::vector<std::string> symbols = {}) {
  symbols.resize(shape.size());
  return {std::move(name), type, std::move(shape), std::move(symbols), true};
}

/// `text` with every `folder/` left out, so that messages can be compared whatever the folder is.
inline std::string without(std::string text, const std::string& folder) {
  for (std::size_t at; (at = text.find(folder)) != std::string::npos;)
    text.replace(at, folder.size(), "");
  return text;
}

}  // namespace qtool::testing
