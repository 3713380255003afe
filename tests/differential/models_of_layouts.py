"""Models about operators that only move values, and whole small networks."""
import numpy as np
import onnx
from onnx import TensorProto, helper

from models_of_operators import IMAGE, conv, dense


def reshape(g, x):
    return g.node("Reshape", [x, g.ints(1, -1)])


def transpose(g, x):
    return g.node("Transpose", x, perm=[0, 2, 3, 1])


def axes_form(op_type):
    """Squeeze or Unsqueeze of axis 0, with axes as the opset has them."""
    def apply(g, x):
        if g.opset >= 13:
            return g.node(op_type, [x, g.ints(0)])
        return g.node(op_type, x, axes=[0])
    return apply


def flatten(g, x):
    return g.node("Flatten", x)


def average_pool(g, x):
    return g.node("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])


def max_pool(g, x):
    return g.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])


def slice_(g, x):
    return g.node("Slice", [x, g.ints(0), g.ints(2), g.ints(1)])


def top_k(g, x):
    return g.node("TopK", [x, g.ints(3)], outputs=2)[0]


def resize(g, x):
    roi, scales = g.constant(np.zeros(0)), g.constant(np.array([1, 1, 2, 2], np.float32))
    return g.node("Resize", [x, roi, scales], mode="nearest")


def resize_linear(g, x):
    roi, scales, sizes = g.constant(np.zeros(0)), g.constant(np.zeros(0, np.float32)), g.ints(1, 3 if x.startswith("x") else 4, 12, 12)
    return g.node("Resize", [x, roi, scales, sizes], mode="linear")


def pad(mode=None, value=None):
    def apply(g, x):
        parts = [x, g.ints(0, 0, 1, 1, 0, 0, 1, 1)] + ([] if value is None else [g.constant(np.float64(value))])
        return g.node("Pad", parts, **({"mode": mode} if mode else {}))
    return apply


def pad_by_input(g, x):
    return g.node("Pad", [x, g.ints(0, 0, 1, 1, 0, 0, 1, 1), g.input([], name="fill")])


def split(g, x):
    if g.opset >= 18:
        return g.node("Split", x, outputs=2, axis=2, num_outputs=2)[1]
    if g.opset >= 13:
        return g.node("Split", [x, g.ints(4, 4)], outputs=2, axis=2)[1]
    return g.node("Split", x, outputs=2, axis=2, split=[4, 4])[1]


def gather(g, x):
    return g.node("Gather", [x, g.ints(1, 0)], axis=1)


def gather_elements(g, x):
    return g.node("GatherElements", [x, g.constant(np.zeros((1, 2, 3, 3), np.int64))], axis=1)


MOVES = {
    "reshape": ("Reshape", reshape),
    "transpose": ("Transpose", transpose),
    "squeeze": ("Squeeze", axes_form("Squeeze")),
    "unsqueeze": ("Unsqueeze", axes_form("Unsqueeze")),
    "flatten": ("Flatten", flatten),
    "average_pool": ("AveragePool", average_pool),
    "max_pool": ("MaxPool", max_pool),
    "slice": ("Slice", slice_),
    "top_k": ("TopK", top_k),
    "resize": ("Resize", resize),
    "resize_linear": ("Resize", resize_linear),
    "pad": ("Pad", pad()),
    "pad_zero": ("Pad", pad("constant", 0)),
    "pad_value": ("Pad", pad("constant", 0.7)),
    "pad_reflect": ("Pad", pad("reflect")),
    "pad_edge": ("Pad", pad("edge")),
    "pad_by_input": ("Pad", pad_by_input),
    "split": ("Split", split),
    "gather": ("Gather", gather),
    "gather_elements": ("GatherElements", gather_elements),
}


def after_conv(move):
    def build(g):
        g.output(move(g, conv(g, g.input(IMAGE))))
    return build


def of_input(move):
    def build(g):
        g.output(move(g, g.input(IMAGE)))
    return build


def after_float(move):
    def build(g):
        g.output(g.node("Tanh", move(g, g.node("Tanh", g.input(IMAGE)))))
    return build


def before_relu(move):
    def build(g):
        g.output(g.node("Relu", move(g, conv(g, g.input(IMAGE)))))
    return build


def after_relu_before_add(move):
    def build(g):
        m = move(g, g.node("Relu", conv(g, g.input(IMAGE))))
        g.output(g.node("Add", [m, g.constant(np.float64(0.25))]))
    return build


def embedding(g):
    words = g.node("Gather", [g.weight([9, 6]), g.input([2, 4], type=TensorProto.INT64, limit=9)])
    g.output(dense(g, words))


def tied_embedding(g):
    table = g.weight([9, 6])
    words = g.node("Gather", [table, g.input([2, 4], type=TensorProto.INT64, limit=9)])
    g.output(g.node("MatMul", [dense(g, words, 6, 6), g.node("Transpose", table, perm=[1, 0])]))


def reference_trace(g):
    c = conv(g, g.input([1, 3, 8, 8]))
    p = g.node("MaxPool", g.node("Relu", c), kernel_shape=[2, 2], strides=[2, 2])
    rows = g.node("Reshape", [p, g.ints(1, 64)])
    g.output(g.node("Add", [dense(g, rows, 64, 5), g.bias(5)]))


def residual(g):
    x = conv(g, g.input(IMAGE))
    inner = g.node("Relu", conv(g, g.node("Relu", conv(g, x, inputs=4)), inputs=4))
    g.output(g.node("Relu", g.node("Add", [x, inner])))


def middle_outputs(g):
    c = conv(g, g.input(IMAGE))
    r = g.node("Relu", c)
    p = g.node("MaxPool", r, kernel_shape=[2, 2])
    g.output(r, p, conv(g, p, inputs=4))


def inception(g):
    x = g.input(IMAGE)
    branches = [conv(g, x), g.node("Relu", conv(g, x, kernel=1)), g.node("MaxPool", x, kernel_shape=[3, 3], pads=[1] * 4),
                g.node("AveragePool", x, kernel_shape=[3, 3], pads=[1] * 4)]
    g.output(conv(g, g.node("Concat", branches, axis=1), inputs=14))


def attention(g):
    x = g.input([2, 5, 6])
    q, k, v = (dense(g, x, 6, 6) for _ in range(3))
    scores = g.node("Mul", [g.node("MatMul", [q, g.node("Transpose", k, perm=[0, 2, 1])]), g.constant(np.float64(0.4))])
    mixed = g.node("MatMul", [g.node("Softmax", scores, axis=-1), v])
    g.output(g.node("Add", [x, g.node("Add", [dense(g, mixed, 6, 6), g.bias(6)])]))


def decoder(g):
    x = g.node("Relu", conv(g, g.input(IMAGE)))
    up = g.node("Resize", [x, g.constant(np.zeros(0)), g.constant(np.array([1, 1, 2, 2], np.float32))], mode="nearest")
    wide = g.node("ConvTranspose", [x, g.weight([4, 4, 2, 2]), g.bias(4)], strides=[2, 2])
    g.output(g.node("Sigmoid", conv(g, g.node("Concat", [up, wide], axis=1), inputs=8)))


def moves_in_a_row(g):
    c = conv(g, g.input(IMAGE))
    t = g.node("Transpose", c, perm=[0, 2, 3, 1])
    r = g.node("Reshape", [t, g.ints(1, 64, 4)])
    parts = axes_form("Unsqueeze")(g, g.node("Slice", [r, g.ints(0), g.ints(32), g.ints(1)]))
    g.output(g.node("MatMul", [axes_form("Squeeze")(g, parts), g.weight([4, 3])]))


def weights_in_constant_nodes(g):
    w = g.random.normal(0, 0.3, [4, 3, 3, 3]).astype(g.dtype)
    made = g.node("Constant", [], value=onnx.numpy_helper.from_array(w, "value"))
    g.output(g.node("Conv", [g.input(IMAGE), made, g.bias(4)]))


def captured_by_if(g):
    c = conv(g, g.input(IMAGE))
    r = g.node("Relu", c)

    def branch(op_type):
        body = helper.make_node(op_type, [r], [op_type + "_body"], name=op_type + "_in_branch")
        return helper.make_graph([body], op_type, [], [helper.make_tensor_value_info(op_type + "_body", g.float_type, [1, 4, 8, 8])])
    choice = g.input([], name="choice", type=TensorProto.BOOL)
    picked = g.node("If", choice, then_branch=branch("Neg"), else_branch=branch("Tanh"))
    g.output(conv(g, picked, inputs=4), conv(g, r, inputs=4))


def quantized_already(g):
    x = g.input(IMAGE)
    scale, zero = g.constant(np.array(0.02, np.float32)), g.constant(np.uint8(128))
    q = g.node("DequantizeLinear", [g.node("QuantizeLinear", [x, scale, zero]), scale, zero])
    c = conv(g, q)
    d = g.node("DequantizeLinear", [g.node("QuantizeLinear", [c, scale, zero]), scale, zero])
    g.output(conv(g, d, inputs=4))


def unused_initializer(g):
    g.weight([3, 3], name="unused")
    g.output(conv(g, g.input(IMAGE)))


def weight_is_input_too(g):
    g.output(conv(g, g.input(IMAGE)))
    g.inputs.append(helper.make_tensor_value_info("w1", g.float_type, [4, 3, 3, 3]))


def network_head(g):
    p = g.node("GlobalAveragePool", g.node("Relu", conv(g, g.input(IMAGE), channels=6)))
    f = g.node("Flatten", p)
    g.output(g.node("Softmax", g.node("Gemm", [f, g.weight([10, 6]), g.bias(10)], transB=1), axis=1))


def squeeze_and_excite(g):
    c = conv(g, g.input(IMAGE))
    gate = g.node("Sigmoid", conv(g, g.node("GlobalAveragePool", c), inputs=4, kernel=1))
    g.output(g.node("Mul", [c, gate]))


def swish(g):
    c = conv(g, g.input(IMAGE))
    g.output(conv(g, g.node("Mul", [c, g.node("Sigmoid", c)]), inputs=4))


def unlisted_operators(g):
    c = conv(g, g.input(IMAGE))
    t = g.node("Tanh", g.node("Sub", [c, g.constant(np.float64(0.1))]))
    g.output(conv(g, g.node("Div", [t, g.constant(np.float64(2))]), inputs=4))


def computed_scales(g):
    c = conv(g, g.input(IMAGE))
    one = g.node("Div", [g.input([2], name="height_and_width"), "height_and_width"])
    scales = g.node("Concat", [one, g.node("Add", [one, one])], axis=0)
    g.output(conv(g, g.node("Resize", [c, g.constant(np.zeros(0, np.float32)), scales], mode="nearest"), inputs=4))


def sizes_through_floor(g):
    c = conv(g, g.input(IMAGE))
    wide = g.node("Mul", [g.node("Cast", g.node("Shape", c), to=TensorProto.FLOAT), g.constant(np.array([1, 1, 1.3, 1.7]))])
    sizes = g.node("Cast", g.node("Floor", wide), to=TensorProto.INT64)
    roi, scales = g.constant(np.zeros(0)), g.constant(np.zeros(0, np.float32))
    g.output(conv(g, g.node("Resize", [c, roi, scales, sizes], mode="nearest"), inputs=4))


NETWORKS = {
    "computed_scales": ("network", computed_scales),
    "sizes_through_floor": ("network", sizes_through_floor),
    "embedding": ("Gather", embedding),
    "tied_embedding": ("Gather", tied_embedding),
    "reference_trace": ("network", reference_trace),
    "residual": ("network", residual),
    "middle_outputs": ("network", middle_outputs),
    "inception": ("network", inception),
    "attention": ("network", attention),
    "decoder": ("network", decoder),
    "moves_in_a_row": ("network", moves_in_a_row),
    "weights_in_constant_nodes": ("network", weights_in_constant_nodes),
    "captured_by_if": ("network", captured_by_if),
    "quantized_already": ("network", quantized_already),
    "unused_initializer": ("network", unused_initializer),
    "weight_is_input_too": ("network", weight_is_input_too),
    "network_head": ("network", network_head),
    "squeeze_and_excite": ("network", squeeze_and_excite),
    "swish": ("network", swish),
    "unlisted_operators": ("network", unlisted_operators),
}


def layouts():
    """Every move in every surrounding, then the networks."""
    found = {}
    for name, (op_type, move) in MOVES.items():
        found[f"{name}_after_conv"] = (op_type, after_conv(move))
        found[f"{name}_of_input"] = (op_type, of_input(move))
    for name in ("reshape", "transpose", "max_pool", "pad", "split", "gather", "resize", "top_k"):
        op_type, move = MOVES[name]
        found[f"{name}_after_float"] = (op_type, after_float(move))
        found[f"{name}_before_relu"] = (op_type, before_relu(move))
        found[f"{name}_after_relu_before_add"] = (op_type, after_relu_before_add(move))
    return found | NETWORKS
