"""What the words of a combination mean for its model, as keyword arguments of quantize_static and as a config of qtool."""
import json

import onnx

from combinations import OVERRIDES, RUN_TIME_SELECTIONS, SELECTIONS

FLOATS = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16)
BIASED = ("Conv", "ConvTranspose", "Gemm")


def tensor_at(place, model):
    """The tensor that an override of the tables means in this model, or None."""
    floats = {t.name: t for t in model.graph.initializer if t.data_type in FLOATS}
    nodes = [n for n in model.graph.node if n.op_type != "Constant"]
    biases = [n.input[2] for n in nodes if n.op_type in BIASED and len(n.input) > 2]
    candidates = {
        "made": [n.output[0] for n in nodes],
        "last": [n.output[0] for n in reversed(nodes)],
        "input": [i.name for i in model.graph.input if i.type.tensor_type.elem_type in FLOATS and i.name not in floats],
        "weight": [n for n, t in floats.items() if len(t.dims) > 1],
        "bias": [b for b in biases if b in floats],
    }[place]
    return candidates[0] if candidates else None


def is_written_as_matmul(node):
    """Whether the peer has another node in its place before it looks at names."""
    return node.op_type == "Gemm" and not {a.name for a in node.attribute} & {"alpha", "beta", "transA"}


def keyword_arguments(combination, model):
    """Of quantize_static or quantize_dynamic, with words in place of its enumerations; None where the option means nothing for this model."""
    c, names = combination, [n.name for n in model.graph.node]
    result = {"quant_format": c.quant_format, "activation_type": c.activation_type, "weight_type": c.weight_type,
              "per_channel": c.per_channel, "reduce_range": c.reduce_range, "extra_options": c.extra_options}
    if c.command == "dynamic":
        del result["quant_format"], result["activation_type"]
    for key, value in dict(SELECTIONS + RUN_TIME_SELECTIONS).get(c.option, {}).items():
        if key == "op_types_to_quantize":
            result[key] = value
        elif len(names) < 2:
            return None
        else:
            first = names[0] + "_MatMul" if is_written_as_matmul(model.graph.node[0]) and c.command == "dynamic" else names[0]
            result["nodes_to_exclude" if key == "exclude_first" else "nodes_to_quantize"] = [first]
    for place, override in dict(OVERRIDES).get(c.option, {}).items():
        name = tensor_at(place, model)
        if name is None:
            return None
        result["extra_options"]["TensorQuantOverrides"] = {name: [override]}
    return result


def config(options, source, target, cache, method, preset):
    """The same as JSON for qtool; `cache` and `method` are None where nothing is calibrated."""
    parts = {"preset": preset, "model": {"input": source, "output": target}, "preprocess": {"enabled": False}, "quantization": options,
             "report": {"manifest": False}}
    return json.dumps(parts | ({"calibration": {"cache": cache, "method": method}} if cache else {}))
