#!/usr/bin/env python3
"""Holds what qtool says of integer kernels against the graph that ONNX Runtime makes of real models.

usage: forecast.py QTOOL CACHE_DIR       (needs the packages of requirements.txt)
Each model is quantized for preset cpu, per tensor and per channel, and for preset onnxruntime. Of every node that has an integer kernel
`inspect` says whether it gets it; the optimized graph shows what became of it, by its name. Counted as wrong: a kernel that is not there,
a kernel where floats were foretold, and integer kernels whose name no forecast has. An operator that only moves values takes whatever it is
given; where an optimization removed it there is nothing to hold the forecast against, and it does not count.
At least 99 of 100 forecasts must be right over all models.
"""
import json, os, subprocess, sys, tempfile
import numpy as np
import onnx
import onnxruntime as ort
from models import fetch, samples_of

LEAST_RIGHT = 0.99
BYTES = (onnx.TensorProto.UINT8, onnx.TensorProto.INT8)
GIVE_FLOATS = ("DequantizeLinear", "MatMulIntegerToFloat", "DynamicQuantizeMatMul")
MOVERS = ("ArgMax DepthToSpace Expand Flatten Gather GatherElements MaxPool ReduceMax ReduceMin Reshape Resize Slice Split Squeeze Tile "
          "Transpose Unsqueeze").split()


def is_integer_operator(op_type):
    return op_type.startswith("QLinear") or op_type in ("QGemm", "MatMulIntegerToFloat")


def graphs_of(graph):
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from graphs_of(attribute.g)


def name_nodes(path):
    """Names are what nodes of the optimized graph are recognized by."""
    model = onnx.load(path)
    for g, graph in enumerate(graphs_of(model.graph)):
        for i, node in enumerate(graph.node):
            node.name = f"{g}/{i}/{node.op_type}"
    onnx.save(model, path)


def integer_values(graph):
    """The values of the graph that are bytes."""
    found = {t.name for t in graph.initializer if t.data_type in BYTES}
    for node in graph.node:
        gives_bytes = (node.op_type == "QuantizeLinear" or is_integer_operator(node.op_type) or
                       (node.op_type in MOVERS and node.input[0] in found))
        has_no_output_scale = node.op_type == "QGemm" and len(node.input) < 8
        if gives_bytes and node.op_type not in GIVE_FLOATS and not has_no_output_scale:
            found.update(node.output)
    return found


def kernels_of(path):
    """Of the optimized graph: the integer operator that each node became, '' for floats, by the node's name."""
    with tempfile.TemporaryDirectory() as work:
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        options.optimized_model_filepath = os.path.join(work, "optimized.onnx")
        options.log_severity_level = 3
        ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        model = onnx.load(options.optimized_model_filepath)
    kernels = {}
    for graph in graphs_of(model.graph):
        integers = integer_values(graph)
        for node in graph.node:
            on_bytes = is_integer_operator(node.op_type) or (node.op_type in MOVERS and node.input[0] in integers)
            kernels[node.name] = node.op_type if on_bytes else ""
    return kernels


def wrong_forecasts(forecast, kernels):
    """Descriptions of the wrong ones, and how many were held against the graph."""
    wrong, count, foretold = [], 0, set()
    for node in forecast:
        expected = node.get("kernel", "")
        foretold.add(node["name"])
        if node["op_type"] in MOVERS and node["name"] not in kernels:
            continue
        count += 1
        found = kernels.get(node["name"], "")
        if found != expected:
            wrong.append(f"{node['name']}: foretold {expected or 'floats, ' + node['reason']}, is {found or 'floats'}")
    for name, kernel in kernels.items():
        if is_integer_operator(kernel) and name not in foretold:
            wrong.append(f"{name}: {kernel}, of no node with a forecast")
    return wrong, count


def quantize(qtool, source, data, out, settings):
    command = [qtool, "static", "-i", source, "-o", out, "--calib-data", data, "--calibrate-method", "minmax", "-q"]
    for setting in settings:
        command += ["--set", setting]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def forecast_of(qtool, path):
    shown = subprocess.run([qtool, "inspect", path, "--json", "-q"], check=True, capture_output=True)
    return json.loads(shown.stdout)["kernel_nodes"]


CONFIGURATIONS = {
    "cpu": ["preset=cpu", "quantization.per_channel=false"],
    "cpu per channel": ["preset=cpu", "quantization.per_channel=true"],
    "onnxruntime": ["preset=onnxruntime"],
}


def check(qtool, name, source, work):
    """(right, all) over the configurations of a model."""
    data = os.path.join(work, "calib")
    for i, feeds in enumerate(samples_of(name, 3)):
        os.makedirs(os.path.join(data, str(i)))
        for value, array in feeds.items():
            np.save(os.path.join(data, str(i), value.replace("/", "%2F") + ".npy"), array)
    right, total = 0, 0
    for title, settings in CONFIGURATIONS.items():
        out = os.path.join(work, "out.onnx")
        quantize(qtool, source, data, out, settings)
        name_nodes(out)
        wrong, count = wrong_forecasts(forecast_of(qtool, out), kernels_of(out))
        right, total = right + count - len(wrong), total + count
        print(f"{name}, {title}: {count - len(wrong)} of {count} right", *wrong, sep="\n  ", flush=True)
    return right, total


def main():
    qtool, cache = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.makedirs(cache, exist_ok=True)
    right, total = 0, 0
    for name, source in fetch(cache).items():
        with tempfile.TemporaryDirectory() as work:
            counts = check(qtool, name, source, work)
        right, total = right + counts[0], total + counts[1]
    print(f"{right} of {total} right, {right / total:.2%}")
    sys.exit(right < LEAST_RIGHT * total)


if __name__ == "__main__":
    main()
