#include "model/messages.h"

#include "base/text.h"

namespace qtool {

std::string in_quotes(std::string_view name) {
  std::string out = printable(name, 200);
  out.insert(out.begin(), '\'');
  out += '\'';
  return out;
}

}  // namespace qtool
