"""The first difference between two models, and both of them side by side."""
import numpy as np
import onnx
from onnx import helper, numpy_helper


def attribute_text(attribute):
    if attribute.type == onnx.AttributeProto.GRAPH:
        return "graph{" + "; ".join(map(node_text, attribute.g.node)) + "}"
    if attribute.type == onnx.AttributeProto.TENSOR:
        return tensor_text(attribute.t)
    return str(helper.get_attribute_value(attribute))


def attributes(node):
    return {a.name: attribute_text(a) for a in node.attribute}


def domain(node):
    return "" if node.domain == "ai.onnx" else node.domain


def node_text(node):
    kind = (domain(node) + "." if domain(node) else "") + node.op_type
    extra = "".join(f" {k}={v}" for k, v in sorted(attributes(node).items()))
    return f"{kind} {node.name}: ({', '.join(node.input)}) -> ({', '.join(node.output)}){extra}"


def decoded(tensor):
    """Its values; what ml_dtypes holds (4 bits, float8) as bytes."""
    array = numpy_helper.to_array(tensor)
    return array if array.dtype.kind in "fiub" else array.astype(np.float32)


def tensor_text(tensor):
    values = decoded(tensor).ravel()
    shown = ", ".join(f"{v:.9g}" if values.dtype.kind == "f" else str(v) for v in values[:6])
    kind = onnx.TensorProto.DataType.Name(tensor.data_type).lower()
    return f"{kind}{list(tensor.dims)} {{{shown}{', ...' if values.size > 6 else ''}}}"


def same_values(a, b):
    x, y = decoded(a), decoded(b)
    return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()


def opsets(model):
    return {("" if o.domain == "ai.onnx" else o.domain): o.version for o in model.opset_import}


def node_difference(ours, theirs):
    """(category, text) or None"""
    a, b = list(ours.graph.node), list(theirs.graph.node)
    if [node_text(n) for n in a] == [node_text(n) for n in b]:
        return None
    mine, others = ({n.name: n for n in nodes} for nodes in (a, b))
    for name, node in others.items():
        if name not in mine:
            return f"missing {node.op_type}", f"the peer also has {node_text(node)}"
    for name, node in mine.items():
        if name not in others:
            return f"extra {node.op_type}", f"the peer has no {node_text(node)}"
    for name, node in others.items():
        if node_text(node) != node_text(mine[name]):
            return part_that_differs(mine[name], node), f"{node_text(mine[name])}, the peer has {node_text(node)}"
    if len(a) != len(b):
        return "number of nodes", f"{len(a)}, the peer has {len(b)}"
    at = next(i for i, (x, y) in enumerate(zip(a, b)) if x.name != y.name)
    return "order of nodes", f"node {at} is {a[at].name}, the peer has {b[at].name}"


def part_that_differs(a, b):
    for part, get in (("op_type", lambda n: n.op_type), ("domain", domain), ("inputs", lambda n: list(n.input)),
                      ("outputs", lambda n: list(n.output)), ("attributes", attributes)):
        if get(a) != get(b):
            return f"{part} of {b.op_type}"
    return "node"


def initializer_difference(ours, theirs):
    mine, others = ({t.name: t for t in m.graph.initializer} for m in (ours, theirs))
    for name in others:
        if name not in mine:
            return "missing initializer", f"the peer also has {name} = {tensor_text(others[name])}"
    for name in mine:
        if name not in others:
            return "extra initializer", f"the peer has no {name} = {tensor_text(mine[name])}"
    for name, b in others.items():
        a = mine[name]
        for part, get in (("type", lambda t: t.data_type), ("dims", lambda t: list(t.dims))):
            if get(a) != get(b):
                return f"{part} of {role(name)}", f"{name} = {tensor_text(a)}, the peer has {tensor_text(b)}"
        if not same_values(a, b):
            return f"values of {role(name)}", f"{name} = {tensor_text(a)}, the peer has {tensor_text(b)}"
    a, b = ([t.name for t in m.graph.initializer] for m in (ours, theirs))
    if a != b:
        at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        return "order of initializers", f"{a[at:at + 1]} at {at}, the peer has {b[at:at + 1]}"
    return None


def role(name):
    for suffix in ("_quantized_scale", "_quantized_zero_point", "_zero_point", "_scale", "_quantized"):
        if name.endswith(suffix):
            return suffix[1:].replace("_", " ")
    return "initializer"


def difference(ours, theirs):
    """(category, text) of the first difference, or None."""
    if opsets(ours) != opsets(theirs):
        return "opsets", f"{opsets(ours)}, the peer has {opsets(theirs)}"
    for what in ("input", "output"):
        a, b = ([(v.name, v.type.tensor_type.elem_type) for v in getattr(m.graph, what)] for m in (ours, theirs))
        if a != b:
            return f"graph {what}s", f"{a}, the peer has {b}"
    return node_difference(ours, theirs) or initializer_difference(ours, theirs)


def side_by_side(ours, theirs):
    """Lines of both models: '<' only ours, '>' only the peer's."""
    import difflib
    lines = [[f"opset {opsets(m)}, ir {m.ir_version}", *map(node_text, m.graph.node),
              *(f"{t.name} = {tensor_text(t)}" for t in m.graph.initializer)] for m in (ours, theirs)]
    marks = {"-": "<", "+": ">", " ": " "}
    return "\n".join(f"{marks[d[0]]} {d[2:]}" for d in difflib.ndiff(*lines) if d[0] in marks)
