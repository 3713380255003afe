#include "model/einsum.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "base/error.h"
#include "model/messages.h"
#include "model/model.h"
#include "model/node_walk.h"

namespace qtool {
namespace {

/// Letters, and one ellipsis at most.
bool is_term(std::string_view term) {
  const auto dots = term.find("...");
  std::string letters(term.substr(0, dots));
  if (dots != std::string_view::npos) letters += term.substr(dots + 3);
  return std::ranges::all_of(letters,
                             [](unsigned char c) { return c < 128 && std::isalpha(c) != 0; });
}

/// `ij,jk->ik`; the part from the arrow on may be missing.
bool is_equation(std::string equation) {
  std::erase(equation, ' ');
  std::string_view rest = equation;
  const auto arrow = rest.find("->");
  if (arrow != std::string_view::npos) {
    if (!is_term(rest.substr(arrow + 2))) return false;
    rest = rest.substr(0, arrow);
  }
  while (true) {
    const auto comma = rest.find(',');
    if (!is_term(rest.substr(0, comma))) return false;
    if (comma == std::string_view::npos) return true;
    rest.remove_prefix(comma + 1);
  }
}

/// Names of attributes that an Einsum may take its equation from: in a function it can be an
/// attribute of the caller.
std::set<std::string> equation_names(const onnx::ModelProto& model) {
  std::set<std::string> names{"equation"};
  std::size_t known = 0;
  while (known != names.size()) {
    known = names.size();
    for_each_node(model, [&](const onnx::NodeProto& node) {
      for (const auto& attribute : node.attribute()) {
        if (!attribute.ref_attr_name().empty() && names.contains(attribute.name()))
          names.insert(attribute.ref_attr_name());
      }
    });
  }
  return names;
}

void check_attribute(const onnx::AttributeProto& attribute, const std::string& owner) {
  if (is_equation(attribute.s())) return;
  throw Error(ErrorKind::Input, owner + ": malformed equation " + in_quotes(attribute.s()) +
                                    ", expected terms like 'ij,jk->ik'");
}

}  // namespace

void check_einsum(const onnx::ModelProto& model, const std::string& where) {
  const auto names = equation_names(model);
  for_each_node(model, [&](const onnx::NodeProto& node) {
    const bool may_call = !is_default_domain(node.domain()) && model.functions_size() > 0;
    if (node.op_type() != "Einsum" && !may_call) return;
    for (const auto& attribute : node.attribute()) {
      if (names.contains(attribute.name()))
        check_attribute(attribute, where + ": " + describe(node));
    }
  });
  for (const auto& function : model.functions()) {
    for (const auto& attribute : function.attribute_proto()) {
      if (names.contains(attribute.name()))
        check_attribute(attribute, where + ": function " + in_quotes(function.name()));
    }
  }
}

}  // namespace qtool
