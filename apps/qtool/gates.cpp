#include "gates.h"

#include <string>

#include "report/comparison.h"

namespace qtool::cli {

int exit_code_of(const Run& run, std::span<const Gate> gates) {
  const std::string unmet = unmet_gates_text(gates);
  if (unmet.empty()) return 0;
  run.context.log.error("{}", unmet);
  return 4;
}

}  // namespace qtool::cli
