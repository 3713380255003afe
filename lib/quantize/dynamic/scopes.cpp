#include "quantize/dynamic/scopes.h"

namespace qtool {

void GraphScopes::enter(const onnx::GraphProto& graph) {
  scopes_.push_back({GraphView(graph), entered_++});
}

void GraphScopes::leave() { scopes_.pop_back(); }

const GraphScopes::Scope* GraphScopes::scope_of(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const GraphView& view = scope->view;
    if (view.producer_of(name) >= 0 || view.is_graph_input(name) || view.initializer(name))
      return &*scope;
  }
  return nullptr;
}

std::optional<GraphScopes::Constant> GraphScopes::constant(std::string_view name) const {
  const Scope* scope = name.empty() ? nullptr : scope_of(name);
  const onnx::TensorProto* tensor = scope ? scope->view.initializer(name) : nullptr;
  if (tensor == nullptr) return std::nullopt;
  return Constant{tensor, scope->number};
}

std::optional<GraphScopes::Producer> GraphScopes::producer(std::string_view name) const {
  const Scope* scope = name.empty() ? nullptr : scope_of(name);
  const int node = scope ? scope->view.producer_of(name) : -1;
  if (node < 0) return std::nullopt;
  return Producer{&scope->view.node(node), scope->number};
}

ElementType GraphScopes::type_of(std::string_view name) const {
  const Scope* scope = name.empty() ? nullptr : scope_of(name);
  return scope ? scope->view.type_of(name) : ElementType::Undefined;
}

std::optional<std::vector<std::int64_t>> GraphScopes::shape_of(std::string_view name) const {
  const Scope* scope = name.empty() ? nullptr : scope_of(name);
  return scope ? scope->view.shape_of(name) : std::nullopt;
}

}  // namespace qtool
