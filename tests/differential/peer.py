"""Runs onnxruntime.quantization, once for each model and options: what came out is kept on disk."""
import contextlib
import hashlib
import json
import logging
import os
import signal
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper
from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_dynamic, quantize_static
from onnxruntime.quantization.calibrate import TensorData, TensorsData, save_tensors_data
from onnxruntime.quantization.quantize import update_opset_version

ort.set_default_logger_severity(4)
logging.disable(logging.CRITICAL)
TIME_LIMIT_S = 20
QUANT_TYPES = {str(t)[1:].lower(): t for t in QuantType}
FLOATS = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16)


def session(model, optimize=True):
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    if not optimize:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def float_values(model):
    """Names of the float tensors that nodes make or that are fed."""
    inferred = onnx.shape_inference.infer_shapes(model)
    held = {t.name for t in model.graph.initializer}
    values = [*inferred.graph.input, *inferred.graph.value_info, *inferred.graph.output]
    types = {v.name: v.type.tensor_type.elem_type for v in values if v.type.HasField("tensor_type")}
    return {name: t for name, t in types.items() if t in FLOATS and name not in held}


def observed(model, feeds):
    """All values of every float tensor over the feeds, in the tensor's type."""
    names, values = float_values(model), {}
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    inputs = {i.name for i in model.graph.input}
    del probe.graph.output[:]
    made = [n for n in names if n not in inputs]
    probe.graph.output.extend(onnx.helper.make_tensor_value_info(n, names[n], None) for n in made)
    run = session(probe, optimize=False)
    for feed in feeds:
        results = dict(zip(made, run.run(made, feed))) | {n: feed[n] for n in names if n in feed}
        for name, value in results.items():
            values.setdefault(name, []).append(np.asarray(value).ravel())
    return {name: np.concatenate(v) for name, v in values.items()}


def ranges_of(model, feeds, method, options):
    """As quantize_static measures them: on the model that its own opset upgrade gives."""
    values = observed(model, feeds)
    with contextlib.suppress(Exception):
        upgraded = update_opset_version(model, options["weight_type"], options["activation_type"], tensor_quant_overrides=None, block_size=0)
        if upgraded is not model:
            values |= {n: v for n, v in observed(upgraded, feeds).items() if n not in values}
    found = {}
    for name, v in values.items():
        parts = {"lowest": v.min(), "highest": v.max()}
        if method is CalibrationMethod.Distribution:
            parts = {"avg": v.mean(dtype=np.float64).astype(v.dtype), "std": v.std(dtype=np.float64).astype(v.dtype)} | parts
        found[name] = TensorData(**{k: np.array(p, v.dtype) for k, p in parts.items()})
    return TensorsData(method, found)


def with_types(override, zero_point_type):
    """Numbers of a JSON override as the peer wants them: arrays of the tensor's types."""
    result = {}
    for key, value in override.items():
        if key == "quant_type":
            result[key] = QUANT_TYPES[value]
        elif key == "convert":
            result[key] = with_types(value, zero_point_type)
        elif key == "zero_point":
            result[key] = np.array(value, zero_point_type)
        elif key in ("scale", "rmin", "rmax"):
            result[key] = np.array(value, np.float32)
        else:
            result[key] = value
    return result


def arguments(options):
    """Our keyword arguments in the peer's types."""
    result = dict(options)
    if "quant_format" in options:
        result["quant_format"] = QuantFormat[options["quant_format"]]
    for key in {"activation_type", "weight_type"} & options.keys():
        result[key] = QUANT_TYPES[options[key]]
    extra = dict(options["extra_options"])
    if "TensorQuantOverrides" in extra:
        activation_type = options.get("activation_type", "uint8")
        zero_point_type = activation_type if "int" in activation_type and "4" not in activation_type else "uint8"
        extra["TensorQuantOverrides"] = {name: [with_types(o, zero_point_type) for o in channels]
                                         for name, channels in extra["TensorQuantOverrides"].items()}
    result["extra_options"] = extra
    return result


@contextlib.contextmanager
def time_limit(seconds):
    def stop(*_):
        raise TimeoutError("does not end")
    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def cosine_and_sqnr(reference, outputs):
    """Of the worst float output: cosine, and signal to noise in dB; (-1, -inf) where the shapes differ or values are not finite."""
    worst = (1.0, np.inf)
    for want, got in zip(reference, outputs):
        want, got = np.asarray(want), np.asarray(got)
        if want.dtype.kind != "f":
            continue
        if want.shape != got.shape or not np.isfinite(got.astype(np.float64)).all():
            return -1.0, -np.inf
        a, b = want.astype(np.float64).ravel(), got.astype(np.float64).ravel()
        power, noise = a @ a, (a - b) @ (a - b)
        similar = 1.0 if power == 0 and b @ b == 0 else float(a @ b / max(np.sqrt(power * (b @ b)), 1e-30))
        sqnr = np.inf if noise == 0 else float(10 * np.log10(max(power, 1e-30) / noise))
        worst = (min(worst[0], similar), min(worst[1], sqnr))
    return worst


def run_outputs(model, feeds):
    """Each output over all feeds, one after the other."""
    run = session(model)
    results = [run.run(None, feed) for feed in feeds]
    return [np.concatenate([np.ravel(r[i]) for r in results]) for i in range(len(results[0]))]


class Peer:
    """The peer's answers for one model."""

    def __init__(self, model, feeds, folder):
        self.model, self.feeds, self.folder = model, feeds, folder
        self.bytes = model.SerializeToString(deterministic=True)
        self.reference = run_outputs(model, feeds)
        self.ranges = {}

    def cache_text(self, options):
        """The calibration cache that both tools read."""
        method = CalibrationMethod.Distribution if "float8e4m3fn" in (options["activation_type"], options["weight_type"]) else CalibrationMethod.MinMax
        key = (method, options["activation_type"], options["weight_type"])
        if key not in self.ranges:
            data = ranges_of(self.model, self.feeds, method, arguments(options))
            with tempfile.TemporaryDirectory() as work:
                save_tensors_data(data, os.path.join(work, "cache.json"))
                with open(os.path.join(work, "cache.json"), encoding="utf-8") as file:
                    self.ranges[key] = (method, file.read())
        return self.ranges[key]

    def answer(self, options):
        """{'error': ...} or {'model': ..., 'load_error': ... or None, 'cosine': ..., 'sqnr': ...}"""
        method, cache = self.cache_text(options) if "quant_format" in options else (None, "dynamic")
        words = [ort.__version__, json.dumps(options, sort_keys=True), cache]
        key = hashlib.sha256(self.bytes + "\0".join(words).encode()).hexdigest()
        place = os.path.join(self.folder, key[:2], key)
        if not os.path.exists(place + ".json"):
            os.makedirs(os.path.dirname(place), exist_ok=True)
            found = self.compute(options, method, cache, place + ".onnx")
            with open(place + ".part", "w", encoding="utf-8") as file:
                json.dump(found, file)
            os.rename(place + ".part", place + ".json")
        with open(place + ".json", encoding="utf-8") as file:
            found = json.load(file)
        if found.get("error") is None:
            found["model"] = onnx.load(place + ".onnx")
        return found

    def compute(self, options, method, cache, target):
        try:
            with time_limit(TIME_LIMIT_S), tempfile.TemporaryDirectory() as work:
                source, cache_file = os.path.join(work, "m.onnx"), os.path.join(work, "cache.json")
                onnx.save(self.model, source)
                if method is None:
                    quantize_dynamic(source, target, **arguments(options))
                    return {"error": None} | measured(onnx.load(target), self.feeds, self.reference)
                with open(cache_file, "w", encoding="utf-8") as file:
                    file.write(cache)
                quantize_static(source, target, None, calibrate_method=method, calibration_cache_path=cache_file, **arguments(options))
        except Exception as e:
            return {"error": f"{type(e).__name__}: {str(e)[:300]}"}
        return {"error": None} | measured(onnx.load(target), self.feeds, self.reference)


def measured(model, feeds, reference):
    """Whether a model loads and runs, and how near it is to the reference."""
    try:
        cosine, sqnr = cosine_and_sqnr(reference, run_outputs(model, feeds))
        return {"load_error": None, "cosine": cosine, "sqnr": sqnr}
    except Exception as e:
        return {"load_error": f"{type(e).__name__}: {str(e)[:300]}", "cosine": None, "sqnr": None}
