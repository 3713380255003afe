#pragma once

#include <string>
#include <string_view>

namespace qtool {

/// How words of a command line become the value of a key.
enum class WordForm {
  Json,    ///< one word: a number, an object …
  Switch,  ///< one word: true or false
  Text,    ///< the word itself: a string, path or choice
  List,    ///< words, one an element
  Pairs,   ///< NAME=VALUE for each entry of a section or map
};

/// What help texts and option tables say of a key.
struct KeyInfo {
  std::string doc;  ///< one sentence
  WordForm form = WordForm::Json;
};

/// Looks up a dotted key; a `Usage` error where there is none.
KeyInfo key_info(std::string_view dotted);

}  // namespace qtool
