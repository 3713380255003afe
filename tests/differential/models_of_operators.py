"""Models about one operator: weighted ones, elementwise ones, normalizations. Each is a function of a Graph."""
import numpy as np
from onnx import TensorProto

IMAGE = [1, 3, 8, 8]


def conv(g, x, channels=4, inputs=3, kernel=3, bias=True, kind="normal", **attributes):
    """A Conv that keeps height and width."""
    parts = [x, g.weight([channels, inputs // attributes.get("group", 1), kernel, kernel], kind=kind)]
    if bias:
        parts.append(g.bias(channels))
    return g.node("Conv", parts, pads=[kernel // 2] * 4, **attributes)


def dense(g, x, inputs=6, outputs=5):
    return g.node("MatMul", [x, g.weight([inputs, outputs])])


def one_conv(**options):
    def build(g):
        g.output(conv(g, g.input(IMAGE), **options))
    return build


def conv_then(op_type, *constants, **attributes):
    """Conv, then an operator on its output."""
    def build(g):
        c = conv(g, g.input(IMAGE))
        g.output(g.node(op_type, [c] + [g.constant(v) if v is not None else "" for v in constants], **attributes))
    return build


def alone(op_type, shape=IMAGE, **attributes):
    """An operator on a graph input."""
    def build(g):
        g.output(g.node(op_type, g.input(shape), **attributes))
    return build


def tiny_weights_large_bias(g):
    x = g.input(IMAGE)
    g.output(g.node("Conv", [x, g.weight([4, 3, 3, 3], kind="tiny"), g.bias(4, scale=50)]))


def shared_weight(g):
    w, b = g.weight([3, 3, 3, 3]), g.bias(3)
    first = g.node("Conv", [g.input(IMAGE), w, b], pads=[1] * 4)
    g.output(g.node("Conv", [first, w, b], pads=[1] * 4))


def shared_bias(g):
    x, b = g.input(IMAGE), g.bias(4)
    outs = [g.node("Conv", [x, g.weight([4, 3, 3, 3]), b], pads=[1] * 4) for _ in range(3)]
    g.output(g.node("Add", [g.node("Add", outs[:2]), outs[2]]))


def bias_also_added(g):
    b = g.bias([1, 4, 1, 1])
    flat = g.bias(4, name="flat_bias")
    c = g.node("Conv", [g.input(IMAGE), g.weight([4, 3, 3, 3]), flat], pads=[1] * 4)
    d = g.node("Gemm", [g.node("Flatten", g.node("GlobalAveragePool", c)), g.weight([4, 4]), flat])
    g.output(g.node("Add", [c, b]), g.node("Add", [d, flat]))


def dynamic_weight(g):
    x, w = g.input(IMAGE), g.input([4, 3, 3, 3], name="w_in")
    g.output(g.node("Conv", [x, w, g.bias(4)]))


def dynamic_bias(g):
    x, b = g.input(IMAGE), g.input([4], name="b_in")
    g.output(g.node("Conv", [x, g.weight([4, 3, 3, 3]), b]))


def conv_1d(g):
    g.output(g.node("Conv", [g.input([2, 3, 16]), g.weight([4, 3, 3]), g.bias(4)]))


def conv_transpose(group=1, bias=True):
    def build(g):
        parts = [g.input([1, 4, 5, 5]), g.weight([4, 6 // group, 3, 3])] + ([g.bias(6)] if bias else [])
        g.output(g.node("ConvTranspose", parts, group=group))
    return build


def gemm(bias=(5,), b_is_input=False, bias_is_input=False, **attributes):
    def build(g):
        shape = [5, 6] if attributes.get("transB") else [6, 5]
        x = g.input([6, 2] if attributes.get("transA") else [2, 6])
        parts = [x, g.input(shape, name="B") if b_is_input else g.weight(shape)]
        if bias_is_input:
            parts.append(g.input([5], name="C"))
        elif bias is not None:
            parts.append(g.bias(list(bias)))
        g.output(g.node("Gemm", parts, **attributes))
    return build


def two_gemms(g):
    hidden = g.node("Relu", g.node("Gemm", [g.input([2, 6]), g.weight([8, 6]), g.bias(8)], transB=1))
    g.output(g.node("Gemm", [hidden, g.weight([8, 4], kind="uneven"), g.bias(4)]))


def matmul_constant_b(shape):
    def build(g):
        g.output(g.node("MatMul", [g.input([2, 3, 6]), g.weight(shape)]))
    return build


def matmul_constant_a(g):
    g.output(g.node("MatMul", [g.weight([4, 3]), g.input([2, 3, 6])]))


def matmul_dynamic(g):
    g.output(g.node("MatMul", [g.input([2, 3, 6]), g.input([2, 6, 4])]))


def matmul_shared_weight(g):
    x, w = g.input([2, 6]), g.weight([6, 6])
    g.output(g.node("MatMul", [g.node("MatMul", [x, w]), w]))


def binary(op_type, *, constant=None, same=False):
    def build(g):
        x = g.input(IMAGE)
        y = x if same else g.constant(g.random.normal(0, 1, constant)) if constant is not None else g.input(IMAGE)
        g.output(g.node(op_type, [x, y]))
    return build


def constant_first(op_type):
    def build(g):
        g.output(g.node(op_type, [g.weight([3, 1, 1]), conv(g, g.input(IMAGE), channels=3)]))
    return build


def between_convs(op_type, **attributes):
    def build(g):
        first = conv(g, g.input(IMAGE), channels=3)
        g.output(conv(g, g.node(op_type, first, **attributes)))
    return build


def concat(g):
    x = g.input(IMAGE)
    g.output(g.node("Concat", [conv(g, x), g.node("Relu", conv(g, x)), g.weight([1, 2, 8, 8])], axis=1))


def arg_max(g):
    g.output(g.node("ArgMax", conv(g, g.input(IMAGE)), axis=1, keepdims=0), type=TensorProto.INT64)


def cumsum(g):
    g.output(g.node("CumSum", [conv(g, g.input(IMAGE)), g.constant(np.int64(1))]))


def clip(low, high):
    def build(g):
        parts = [conv(g, g.input(IMAGE))] + [g.constant(np.float64(v)) if v is not None else "" for v in (low, high)]
        g.output(g.node("Clip", parts))
    return build


def clip_by_inputs(g):
    high = g.node("Abs", g.input([], name="limit"))
    g.output(g.node("Clip", [conv(g, g.input(IMAGE)), g.node("Neg", high), high]))


def relu_chain(g):
    c = conv(g, g.input(IMAGE))
    six = g.constant(np.float64(6))
    zero = g.constant(np.float64(0))
    g.output(g.node("Relu", g.node("Clip", [g.node("Relu", c), zero, six])))


def relu_two_readers(g):
    c = conv(g, g.input(IMAGE))
    g.output(g.node("Add", [g.node("Relu", c), c]))


def relu_input_is_output(g):
    c = conv(g, g.input(IMAGE))
    g.output(c, g.node("Relu", c))


def relu_of_input(g):
    g.output(conv(g, g.node("Relu", g.input(IMAGE))))


def relu_of_add(g):
    g.output(g.node("Relu", g.node("Add", [g.input(IMAGE), g.input(IMAGE)])))


def layer_norm(bias=True, rank=1):
    def build(g):
        shape = [6] if rank == 1 else [3, 6]
        parts = [dense(g, g.input([2, 3, 6]), 6, 6), g.weight(shape, kind="positive")] + ([g.bias(shape)] if bias else [])
        g.output(g.node("LayerNormalization", parts, axis=-rank))
    return build


def instance_norm(g):
    g.output(g.node("InstanceNormalization", [conv(g, g.input(IMAGE)), g.weight([4], kind="positive"), g.bias(4)]))


def batch_norm(g):
    mean, variance = g.bias(4), g.weight([4], kind="positive")
    parts = [conv(g, g.input(IMAGE)), g.weight([4], kind="positive"), g.bias(4), mean, variance]
    g.output(g.node("BatchNormalization", parts))


def embed_layer_norm(g):
    ids, segments = (g.input([2, 4], type=TensorProto.INT32, limit=n) for n in (9, 2))
    parts = [ids, segments, g.weight([9, 8]), g.weight([4, 8]), g.weight([2, 8]), g.weight([8], kind="positive"), g.bias(8)]
    out, _ = g.node("EmbedLayerNormalization", parts, outputs=2, domain="com.microsoft")
    g.output(g.node("MatMul", [out, g.weight([8, 4])]), shape=[2, 4, 4])


def where(x_quantized=True, y_quantized=True):
    def build(g):
        condition = g.input([1, 4, 8, 8], name="mask", type=TensorProto.BOOL)
        x, y = g.input(IMAGE), g.input([1, 4, 8, 8])
        a = conv(g, x)
        b = g.node("Add", [y, g.bias([4, 1, 1])]) if y_quantized else g.node("Tanh", y)
        g.output(g.node("Where", [condition, a if x_quantized else g.node("Tanh", a), b]))
    return build


def where_constant(fill):
    def build(g):
        condition = g.input([1, 4, 8, 8], name="mask", type=TensorProto.BOOL)
        g.output(g.node("Softmax", g.node("Where", [condition, conv(g, g.input(IMAGE)), g.constant(np.float64(fill))]), axis=-1))
    return build


OPERATORS = {
    "conv": ("Conv", one_conv()),
    "conv_no_bias": ("Conv", one_conv(bias=False)),
    "conv_zero_channel": ("Conv", one_conv(kind="zero_channel")),
    "conv_negative": ("Conv", one_conv(kind="negative")),
    "conv_uneven": ("Conv", one_conv(kind="uneven")),
    "conv_depthwise": ("Conv", one_conv(channels=3, group=3)),
    "conv_tiny_weights": ("Conv", tiny_weights_large_bias),
    "conv_1d": ("Conv", conv_1d),
    "conv_shared_weight": ("Conv", shared_weight),
    "conv_shared_bias": ("Conv", shared_bias),
    "conv_bias_also_added": ("Conv", bias_also_added),
    "conv_dynamic_weight": ("Conv", dynamic_weight),
    "conv_dynamic_bias": ("Conv", dynamic_bias),
    "conv_transpose": ("ConvTranspose", conv_transpose()),
    "conv_transpose_no_bias": ("ConvTranspose", conv_transpose(bias=False)),
    "conv_transpose_groups": ("ConvTranspose", conv_transpose(group=2)),
    "gemm": ("Gemm", gemm()),
    "gemm_no_bias": ("Gemm", gemm(bias=None)),
    "gemm_trans_b": ("Gemm", gemm(transB=1)),
    "gemm_trans_a": ("Gemm", gemm(transA=1)),
    "gemm_alpha": ("Gemm", gemm(alpha=0.5)),
    "gemm_beta": ("Gemm", gemm(beta=2.0)),
    "gemm_beta_0": ("Gemm", gemm(beta=0.0)),
    "gemm_beta_1": ("Gemm", gemm(beta=1.0, alpha=1.0)),
    "gemm_bias_1_n": ("Gemm", gemm(bias=(1, 5))),
    "gemm_bias_m_n": ("Gemm", gemm(bias=(2, 5))),
    "gemm_bias_1": ("Gemm", gemm(bias=(1,))),
    "gemm_bias_scalar": ("Gemm", gemm(bias=())),
    "gemm_dynamic_b": ("Gemm", gemm(b_is_input=True)),
    "gemm_dynamic_bias": ("Gemm", gemm(bias_is_input=True)),
    "gemm_twice": ("Gemm", two_gemms),
    "matmul": ("MatMul", matmul_constant_b([6, 5])),
    "matmul_rank_3": ("MatMul", matmul_constant_b([2, 6, 5])),
    "matmul_constant_a": ("MatMul", matmul_constant_a),
    "matmul_dynamic": ("MatMul", matmul_dynamic),
    "matmul_shared_weight": ("MatMul", matmul_shared_weight),
    "add": ("Add", binary("Add")),
    "add_constant": ("Add", binary("Add", constant=[3, 1, 1])),
    "add_scalar": ("Add", binary("Add", constant=[])),
    "add_same": ("Add", binary("Add", same=True)),
    "add_after_conv": ("Add", constant_first("Add")),
    "mul": ("Mul", binary("Mul")),
    "mul_constant": ("Mul", binary("Mul", constant=[1, 3, 1, 1])),
    "mul_after_conv": ("Mul", constant_first("Mul")),
    "sub": ("Sub", binary("Sub", constant=[1])),
    "concat": ("Concat", concat),
    "sigmoid": ("Sigmoid", alone("Sigmoid")),
    "sigmoid_between_convs": ("Sigmoid", between_convs("Sigmoid")),
    "leaky_relu": ("LeakyRelu", conv_then("LeakyRelu", alpha=0.2)),
    "leaky_relu_between_convs": ("LeakyRelu", between_convs("LeakyRelu")),
    "softmax": ("Softmax", alone("Softmax", [2, 6], axis=1)),
    "softmax_after_conv": ("Softmax", conv_then("Softmax", axis=3)),
    "softmax_flattens": ("Softmax", conv_then("Softmax", axis=1)),
    "global_average_pool": ("GlobalAveragePool", conv_then("GlobalAveragePool")),
    "global_average_pool_alone": ("GlobalAveragePool", alone("GlobalAveragePool")),
    "arg_max": ("ArgMax", arg_max),
    "cumsum": ("CumSum", cumsum),
    "embed_layer_norm": ("EmbedLayerNormalization", embed_layer_norm),
    "relu": ("Relu", conv_then("Relu")),
    "relu_alone": ("Relu", alone("Relu")),
    "relu_of_input": ("Relu", relu_of_input),
    "relu_of_add": ("Relu", relu_of_add),
    "relu_between_convs": ("Relu", between_convs("Relu")),
    "relu_two_readers": ("Relu", relu_two_readers),
    "relu_input_is_output": ("Relu", relu_input_is_output),
    "relu_chain": ("Relu", relu_chain),
    "clip_6": ("Clip", clip(0, 6)),
    "clip_both": ("Clip", clip(-1, 1)),
    "clip_above_0": ("Clip", clip(1, 6)),
    "clip_low_only": ("Clip", clip(0, None)),
    "clip_by_inputs": ("Clip", clip_by_inputs),
    "layer_norm": ("LayerNormalization", layer_norm()),
    "layer_norm_no_bias": ("LayerNormalization", layer_norm(bias=False)),
    "layer_norm_rank_2": ("LayerNormalization", layer_norm(rank=2)),
    "instance_norm": ("InstanceNormalization", instance_norm),
    "batch_norm": ("BatchNormalization", batch_norm),
    "where": ("Where", where()),
    "where_one_quantized": ("Where", where(y_quantized=False)),
    "where_none_quantized": ("Where", where(False, False)),
    "where_constant": ("Where", where_constant(-3.0)),
    "where_mask": ("Where", where_constant(-1e9)),
}
