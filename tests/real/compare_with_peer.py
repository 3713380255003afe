#!/usr/bin/env python3
"""Quantizes real models with qtool and with onnxruntime.quantization on the same real inputs and compares the results.

usage: compare_with_peer.py QTOOL CACHE_DIR       (needs the packages of requirements.txt)
The models come from the PyPI package rapidocr-onnxruntime, the images from scikit-learn. Checked, per tensor and per channel:
  activations   every range that the peer stores is ours within 1e-5 of the range
  weights       the integers are equal, and so are the scales (all-zero channels apart: their scale is free);
                scales of normalizations are not compared, qtool leaves them in float
  outputs       the cosine to FP32 over all samples, before a final Softmax, is at most 0.002 below the peer's
The peer's per-channel output of a model below opset 13 does not load; its numbers are compared all the same.
"""
import json, os, subprocess, sys, tempfile, zipfile
import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper as nh
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from PIL import Image, ImageDraw, ImageFont
from sklearn.datasets import load_sample_images

PACKAGE = "rapidocr-onnxruntime==1.4.4"
WORDS = "invoice total amount customer order shipping receipt 2024 17% museum coffee bridge winter number street".split()
MODELS = {
    "det": ("ch_PP-OCRv4_det_infer.onnx", [(320, 480), (256, 384), (320, 320)]),
    "cls": ("ch_ppocr_mobile_v2.0_cls_infer.onnx", [(48, 192)]),
}


def fetch(cache):
    folder = os.path.join(cache, "rapidocr")
    if not os.path.isdir(folder):
        subprocess.run([sys.executable, "-m", "pip", "-q", "download", "--no-deps", "-d", cache, PACKAGE], check=True)
        wheel = next(f for f in os.listdir(cache) if f.startswith("rapidocr") and f.endswith(".whl"))
        with zipfile.ZipFile(os.path.join(cache, wheel)) as z:
            z.extractall(folder + ".part")
        os.rename(folder + ".part", folder)
    return os.path.join(folder, "rapidocr_onnxruntime", "models")


def text_images(sizes, count, seed):
    """Lines of text over real photographs, every other one upside down, normalized as the models expect."""
    rng = np.random.default_rng(seed)
    photos = [Image.fromarray(a) for a in load_sample_images().images]
    for i in range(count):
        h, w = sizes[i % len(sizes)]
        photo = photos[i % len(photos)]
        x, y = rng.integers(0, photo.width - w // 2), rng.integers(0, photo.height - h // 2)
        image = photo.crop((x, y, min(x + 2 * w, photo.width), min(y + 2 * h, photo.height))).resize((w, h))
        draw = ImageDraw.Draw(image)
        for top in range(4, h - 36, 72):
            words = " ".join(rng.choice(WORDS, 3))
            font = ImageFont.load_default(size=int(rng.integers(22, 34)))
            draw.rectangle((2, top, 8 + draw.textlength(words, font), top + 40), fill=(245, 245, 235))
            draw.text((5, top), words, fill=(20, 20, 30), font=font)
        if i % 2:
            image = image.rotate(180)
        yield (np.asarray(image, np.float32).transpose(2, 0, 1)[None] / 127.5 - 1).astype(np.float32)


def constants_to_initializers(source, target):
    """The peer takes weights in Constant nodes for activations; as initializers both tools see the same weights."""
    model = onnx.load(source)
    for node in [n for n in model.graph.node if n.op_type == "Constant"]:
        tensor = model.graph.initializer.add()
        tensor.CopyFrom(node.attribute[0].t)
        tensor.name = node.output[0]
        model.graph.node.remove(node)
    onnx.save(model, target)


class Reader(CalibrationDataReader):
    def __init__(self, name, samples):
        self.rest = iter([{name: s} for s in samples])

    def get_next(self):
        return next(self.rest, None)


def initializers(path):
    return {t.name: nh.to_array(t) for t in onnx.load(path).graph.initializer}


def range_of(tensors, name):
    scale, zero = float(tensors[name + "_scale"]), int(tensors[name + "_zero_point"])
    return -zero * scale, (255 - zero) * scale


def normalization_parameters(path):
    """Scales and biases that stay float on purpose (docs/operators.md)."""
    nodes = onnx.load(path).graph.node
    return {n.input[1] for n in nodes if n.op_type in ("BatchNormalization", "InstanceNormalization", "LayerNormalization")}


def compare(ours, peer, stays_float):
    """Faults, and how many ranges and weights were compared."""
    faults, ranges, weights = [], 0, 0
    for name in sorted(peer):
        base = name.removesuffix("_quantized").removesuffix("_zero_point")
        if name.endswith("_zero_point") and peer[name].ndim == 0 and peer[name].dtype == np.uint8:
            if base + "_quantized" in peer or name not in ours or ours[name].ndim or ours[name].dtype != np.uint8:
                continue
            (a, b), (c, d) = range_of(ours, base), range_of(peer, base)
            ranges += 1
            # A zero point is rounded: where the two ranges straddle a half they may differ by one step.
            if max(abs(a - c), abs(b - d)) > max(1e-5 * (d - c), 1.001 * abs(float(ours[base + "_scale"])) * (ours[name] != peer[name])):
                faults.append(f"range of {base}: [{a}, {b}], the peer has [{c}, {d}]")
        if name.endswith("_quantized") and peer[name].dtype == np.int8 and base not in stays_float:
            if name not in ours:
                faults.append(f"{name} is missing")
                continue
            weights += 1
            if not np.array_equal(ours[name], peer[name]):
                faults.append(f"{name}: {int((ours[name] != peer[name]).sum())} integers differ")
            zero = peer[base + "_scale"] == 1
            # A scale raised for its bias is rounded at other places: one unit in the last place.
            if not np.allclose(np.where(zero, 1, ours[base + "_scale"]), peer[base + "_scale"], rtol=1.3e-7, atol=0):
                faults.append(f"{base}_scale differs")
    return faults, ranges, weights


def expose_logits(path):
    """Makes the input of a final Softmax the output: behind it one sample near the boundary outweighs all others."""
    model = onnx.load(path)
    made = {o: n for n in model.graph.node for o in n.output}
    last = made[model.graph.output[0].name]
    # Raised to opset 13, a Softmax of unknown rank stands between Flatten and Reshape.
    while last.op_type in ("Identity", "DequantizeLinear", "QuantizeLinear", "Reshape"):
        last = made[last.input[0]]
    if last.op_type == "Softmax":
        before = last.input[0]
        if before in made and made[before].op_type == "Flatten":
            before = made[before].input[0]
        model.graph.output[0].CopyFrom(onnx.helper.make_tensor_value_info(before, onnx.TensorProto.FLOAT, None))
    return model.SerializeToString()


def outputs(path, name, samples):
    session = ort.InferenceSession(expose_logits(path), providers=["CPUExecutionProvider"])
    return [session.run(None, {name: s})[0].astype(np.float64).ravel() for s in samples]


def cosine(reference, other):
    """Over all samples at once: two logits alone flip sign where the model is undecided."""
    a, b = np.concatenate(reference), np.concatenate(other)
    return float(a @ b / max(np.linalg.norm(a) * np.linalg.norm(b), 1e-30))


def check(qtool, source, sizes, per_channel, work):
    plain = os.path.join(work, "model.onnx")
    constants_to_initializers(source, plain)
    source, title = plain, os.path.basename(source)
    name = onnx.load(source).graph.input[0].name
    samples, held_out = list(text_images(sizes, 12, 1)), list(text_images(sizes, 40, 2))
    data = os.path.join(work, "calib")
    os.makedirs(data, exist_ok=True)
    for i, sample in enumerate(samples):
        np.save(os.path.join(data, f"{i}.npy"), sample)
    ours, peer = os.path.join(work, "ours.onnx"), os.path.join(work, "peer.onnx")
    subprocess.run([qtool, "static", "-i", source, "-o", ours, "--calib-data", data, "--set", "preset=onnxruntime",
                    "--activation-type", "uint8", "--weight-type", "int8", "--set", "preprocess.enabled=false",
                    "--set", f"quantization.per_channel={json.dumps(per_channel)}", "-q"], check=True, stdout=subprocess.DEVNULL)
    quantize_static(source, peer, Reader(name, samples), quant_format=QuantFormat.QDQ, per_channel=per_channel,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
    faults, ranges, weights = compare(initializers(ours), initializers(peer), normalization_parameters(source))
    if ranges < 20 or weights < 10:
        faults.append(f"only {ranges} ranges and {weights} weights to compare")
    reference = outputs(source, name, held_out)
    mine, theirs = cosine(reference, outputs(ours, name, held_out)), None
    try:
        theirs = cosine(reference, outputs(peer, name, held_out))
    except Exception:                                     # opset 11 or 12 per channel
        pass
    if theirs is not None and mine < theirs - 0.002:
        faults.append(f"cosine {mine:.5f}, the peer has {theirs:.5f}")
    print(f"{title} per_channel={per_channel}: {ranges} ranges, {weights} weights, "
          f"cosine {mine:.5f} (peer {'does not load' if theirs is None else f'{theirs:.5f}'})", *faults[:10], sep="\n  ")
    return not faults


def main():
    qtool, cache = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.makedirs(cache, exist_ok=True)
    folder, good = fetch(cache), True
    for file, sizes in MODELS.values():
        for per_channel in (False, True):
            with tempfile.TemporaryDirectory() as work:
                good &= check(qtool, os.path.join(folder, file), sizes, per_channel, work)
    sys.exit(not good)


if __name__ == "__main__":
    main()
