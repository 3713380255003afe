#!/usr/bin/env python3
"""Preprocesses real models and compares results with originals on real images.

usage: preprocess_models.py QTOOL CACHE_DIR       (needs the packages of requirements.txt)
The models are those of compare_with_peer.py, and the recogniser of the same package, which has two attentions. Checked:
  outputs    equal within `tolerance` of the original's range: as far as ONNX Runtime's own optimizations move it (docs/numerics.md)
  nodes      at most as many as onnxslim 0.1.98 leaves
  attention  the number of operators, where the fusion is asked for and where the opset has one
  again      a second run changes nothing
"""
import os, subprocess, sys, tempfile
import numpy as np
import onnx
import onnxruntime as ort
from compare_with_peer import fetch, text_images

#         file                                    sizes                     tolerance  nodes  attentions
MODELS = [("ch_PP-OCRv4_det_infer.onnx",          [(320, 480), (320, 320)], 3e-4,      326,   0),
          ("ch_ppocr_mobile_v2.0_cls_infer.onnx", [(48, 192)],              1e-5,      179,   0),
          ("ch_PP-OCRv4_rec_infer.onnx",          [(48, 320), (48, 192)],   5e-5,      393,   2)]
OPTIONS = [([], None), (["--fusions", "attention"], "MultiHeadAttention"), (["--opset", "23"], "Attention")]


def outputs(path, samples):
    session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return [session.run(None, {name: s})[0].astype(np.float64) for s in samples]


def check(qtool, source, sizes, tolerance, nodes, attentions, options, operator, work):
    once, twice = os.path.join(work, "once.onnx"), os.path.join(work, "twice.onnx")
    for a, b in ((source, once), (once, twice)):
        subprocess.run([qtool, "preprocess", a, b, *options, "-q"], check=True, stdout=subprocess.DEVNULL)
    faults, graph = [], onnx.load(once).graph
    if open(once, "rb").read() != open(twice, "rb").read():
        faults.append("a second run changes the model")
    if len(graph.node) > nodes:
        faults.append(f"{len(graph.node)} nodes, expected at most {nodes}")
    found = sum(node.op_type == operator for node in graph.node)
    if operator and found != attentions:
        faults.append(f"{found} {operator}, expected {attentions}")
    samples = list(text_images(sizes, 6, 3))
    error = max(np.abs(x - y).max() / (x.max() - x.min()) for x, y in zip(outputs(source, samples), outputs(once, samples)))
    if not error <= tolerance:
        faults.append(f"outputs differ by {error:.2g}, expected at most {tolerance}")
    print(f"{os.path.basename(source)} {' '.join(options)}: {len(graph.node)} nodes, {found} {operator}, error {error:.2g}", *faults, sep="\n  ")
    return not faults


def main():
    qtool, cache = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.makedirs(cache, exist_ok=True)
    folder, good = fetch(cache), True
    for file, *limits in MODELS:
        for options, operator in OPTIONS:
            with tempfile.TemporaryDirectory() as work:
                good &= check(qtool, os.path.join(folder, file), *limits, options, operator, work)
    sys.exit(not good)


if __name__ == "__main__":
    main()
