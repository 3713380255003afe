"""Builds small models with a name for every node and tensor, and inputs for them, from a seed."""
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

IR_VERSIONS = {11: 6, 12: 7, 13: 7, 15: 8, 17: 8, 19: 9, 21: 10, 22: 10}


class Graph:
    """Collects the parts of one model. `seed` is any text: the same text gives the same numbers."""

    def __init__(self, opset, seed, half=False):
        self.opset, self.half = opset, half
        self.random = np.random.default_rng(zlib.crc32(seed.encode()))
        self.dtype = np.float16 if half else np.float32
        self.nodes, self.inputs, self.outputs, self.initializers, self.counts, self.limits = [], [], [], [], {}, {}
        self.output_shapes = {}

    @property
    def float_type(self):
        return TensorProto.FLOAT16 if self.half else TensorProto.FLOAT

    def unique(self, stem):
        self.counts[stem] = self.counts.get(stem, 0) + 1
        return f"{stem}{self.counts[stem]}"

    def input(self, shape, name=None, type=None, limit=None):
        """A float input, or one of integers below `limit`."""
        name = name or self.unique("x")
        self.inputs.append(helper.make_tensor_value_info(name, type or self.float_type, shape))
        self.limits[name] = limit
        return name

    def constant(self, values, name=None):
        """An initializer; float64 stands for the model's float type."""
        values = np.asarray(values)
        values = values.astype(self.dtype) if values.dtype == np.float64 else values
        name = name or self.unique("c")
        self.initializers.append(numpy_helper.from_array(values, name))
        return name

    def weight(self, shape, name=None, kind="normal", scale=0.3):
        w = self.random.normal(0, scale, shape)
        if kind == "zero_channel":
            w[0] = 0
        elif kind == "negative":
            w = -np.abs(w)
        elif kind == "tiny":
            w = w * 1e-6
        elif kind == "uneven":
            w = w * 10.0 ** -self.random.uniform(0, 3, (shape[0],) + (1,) * (len(shape) - 1))
        elif kind == "positive":
            w = np.abs(w) + 0.1
        return self.constant(w, name or self.unique("w"))

    def bias(self, shape, name=None, scale=0.5):
        shape = shape if isinstance(shape, (list, tuple)) else [shape]
        return self.constant(self.random.normal(0, scale, shape), name or self.unique("b"))

    def ints(self, *values, name=None):
        return self.constant(np.array(values, np.int64), name or self.unique("i"))

    def node(self, op_type, inputs, outputs=1, domain="", out=None, **attributes):
        """Name of its output, or list of names where `outputs` is not 1."""
        name = self.unique(op_type.lower())
        inputs = [inputs] if isinstance(inputs, str) else inputs
        names = [out] if out else [f"{name}_out"] if outputs == 1 else [f"{name}_out{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op_type, inputs, names, name=name, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def output(self, *names, type=None, shape=None):
        for name in names:
            self.outputs.append(helper.make_tensor_value_info(name, type or self.float_type, shape))

    def model(self):
        graph = helper.make_graph(self.nodes, "graph", self.inputs, self.outputs, self.initializers)
        opsets = [helper.make_opsetid("", self.opset)]
        if any(node.domain == "com.microsoft" for node in self.nodes):
            opsets.append(helper.make_opsetid("com.microsoft", 1))
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSIONS.get(self.opset, 8))
        inferred = onnx.shape_inference.infer_shapes(model)
        del model.graph.output[:]
        model.graph.output.extend(inferred.graph.output)
        return model

    def feeds(self, count=4):
        """Inputs to measure ranges on and to compare outputs with."""
        random, held = np.random.default_rng(7), {t.name for t in self.initializers}
        fed = [i for i in self.inputs if i.name not in held]
        return [{i.name: self.values(i, random) for i in fed} for _ in range(count)]

    def values(self, info, random):
        tensor = info.type.tensor_type
        shape = [d.dim_value for d in tensor.shape.dim]
        dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        if tensor.elem_type == TensorProto.BOOL:
            return random.integers(0, 2, shape).astype(bool)
        if self.limits[info.name]:
            return random.integers(0, self.limits[info.name], shape).astype(dtype)
        return random.normal(0, 1, shape).astype(dtype)
