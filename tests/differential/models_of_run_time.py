"""Models about what is quantized at run time: recurrent operators, attention, and tensors that several operators read."""
import numpy as np
from onnx import TensorProto


def recurrent(op_type, gates, directions=1, bias=True, states=0, **attributes):
    """`states` initial states; only the whole sequence and the last state are outputs."""
    def build(g):
        x, hidden = g.input([5, 2, 6]), 4
        parts = [x, g.weight([directions, gates * hidden, 6]), g.weight([directions, gates * hidden, hidden])]
        parts += [g.bias([directions, 2 * gates * hidden]) if bias else ""] * (bias or states > 0)
        if states:
            parts += [""] + [g.input([directions, 2, hidden]) for _ in range(states)]
        if directions == 2:
            attributes["direction"] = "bidirectional"
        g.output(*g.node(op_type, parts, outputs=2, hidden_size=hidden, **attributes))
    return build


def lstm_behind_gather(g):
    x = g.node("Gather", [g.weight([20, 6]), g.input([5, 2], type=TensorProto.INT64, limit=20)])
    g.output(g.node("LSTM", [x, g.weight([1, 16, 6]), g.weight([1, 16, 4])], outputs=2, hidden_size=4)[0])


def shared_lstm_weights(g):
    w, r, x = g.weight([1, 16, 4]), g.weight([1, 16, 4]), g.input([5, 2, 4])
    first = g.node("LSTM", [x, w, r], outputs=2, hidden_size=4)[0]
    again = g.node("Squeeze", [first, g.ints(1)]) if g.opset >= 13 else g.node("Squeeze", first, axes=[1])
    g.output(g.node("LSTM", [again, w, r], outputs=2, hidden_size=4)[0])


def attention_node(inputs=3, **attributes):
    """com.microsoft's, of two heads."""
    def build(g):
        parts = [g.input([2, 3, 8]), g.weight([8, 24]), g.bias(24)]
        if inputs > 3:
            parts.append(g.constant(np.array([3, 2], np.int32)))
        if inputs > 4:
            parts += ["", g.input([2, 2, 3, 3])]
        y = g.node("Attention", parts, domain="com.microsoft", num_heads=2, **attributes)
        g.output(g.node("MatMul", [y, g.weight([8, 4])]), shape=[2, 3, 4])
    return build


def gather_into_matmul(g):
    x = g.node("Gather", [g.weight([20, 6]), g.input([2, 3], type=TensorProto.INT64, limit=20)])
    g.output(g.node("MatMul", [x, g.weight([6, 5])]))


def gather_moved(g):
    x = g.node("Gather", [g.weight([20, 6]), g.input([2, 3], type=TensorProto.INT64, limit=20)])
    g.output(g.node("MatMul", [g.node("Transpose", x, perm=[1, 0, 2]), g.weight([6, 5])]), x)


def gather_twice(g):
    w, i = g.weight([20, 6]), g.input([2, 3], type=TensorProto.INT64, limit=20)
    g.output(g.node("Add", [g.node("Gather", [w, i]), g.node("Gather", [w, g.node("Abs", i)])]))


def float_reader(late=True):
    """A weight that an Add reads too, behind or before the MatMul."""
    def build(g):
        x, w = g.input([6, 6]), g.weight([6, 6])
        if late:
            g.output(g.node("Add", [g.node("MatMul", [x, w]), w]))
        else:
            g.output(g.node("MatMul", [g.node("Add", [x, w]), w]))
    return build


def product_of_transposed(g):
    """The weight of a Gather, transposed, as the second factor."""
    w, i = g.weight([20, 6]), g.input([2, 3], type=TensorProto.INT64, limit=20)
    g.output(g.node("MatMul", [g.node("Gather", [w, i]), g.node("Transpose", w)]))


def gemms_with_one_weight(g):
    w, x = g.weight([6, 6]), g.input([4, 6])
    first = g.node("Gemm", [x, w, g.bias(6)], transB=1)
    g.output(g.node("Gemm", [first, w], transB=1), g.node("Gemm", [g.node("Relu", first), w]))


def gemm_in_if(g):
    from onnx import helper
    w, b, x = g.weight([6, 5]), g.bias(5), g.input([4, 6])
    body = lambda name, node: helper.make_graph([node], name, [], [helper.make_tensor_value_info(node.output[0], g.float_type, [4, 5])])
    then = body("then", helper.make_node("Gemm", [x, w, b], ["then_y"], name="gemm_then"))
    other = body("else", helper.make_node("MatMul", [x, w], ["else_y"], name="matmul_else"))
    flag = g.constant(np.array(True), "flag")
    g.output(g.node("If", [flag], then_branch=then, else_branch=other), shape=[4, 5])


def gemm_chain(g):
    x = g.input([4, 6])
    for inputs, outputs in ((6, 8), (8, 8), (8, 3)):
        x = g.node("Relu", g.node("Gemm", [x, g.weight([outputs, inputs]), g.bias(outputs)], transB=1))
    g.output(x)


def unnamed_products(g):
    x, w = g.input([4, 6]), g.weight([6, 6])
    g.output(g.node("Add", [g.node("MatMul", [x, w]), g.node("MatMul", [x, w])]))
    for node in g.nodes:
        node.name = ""


RUN_TIME = {
    "lstm": ("LSTM", recurrent("LSTM", 4)),
    "lstm_bidirectional": ("LSTM", recurrent("LSTM", 4, directions=2)),
    "lstm_no_bias": ("LSTM", recurrent("LSTM", 4, bias=False)),
    "lstm_states": ("LSTM", recurrent("LSTM", 4, states=2)),
    "lstm_behind_gather": ("LSTM", lstm_behind_gather),
    "lstm_shared_weights": ("LSTM", shared_lstm_weights),
    "gru": ("GRU", recurrent("GRU", 3)),
    "rnn": ("RNN", recurrent("RNN", 1)),
    "attention_node": ("Attention", attention_node()),
    "attention_mask": ("Attention", attention_node(inputs=4)),
    "attention_unidirectional": ("Attention", attention_node(unidirectional=1)),
    "attention_bias_input": ("Attention", attention_node(inputs=6)),
    "gather_into_matmul": ("Gather", gather_into_matmul),
    "gather_moved": ("Gather", gather_moved),
    "gather_twice": ("Gather", gather_twice),
    "float_reader_late": ("MatMul", float_reader()),
    "float_reader_early": ("MatMul", float_reader(late=False)),
    "product_of_transposed": ("MatMul", product_of_transposed),
    "unnamed_products": ("MatMul", unnamed_products),
    "gemms_with_one_weight": ("Gemm", gemms_with_one_weight),
    "gemm_in_if": ("Gemm", gemm_in_if),
    "gemm_chain": ("Gemm", gemm_chain),
}
