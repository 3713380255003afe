#!/usr/bin/env python3
"""What `qtool static` costs beside plain inference and onnxruntime.quantization, on real models and in one run.

usage: calibration_cost.py QTOOL CACHE_DIR [REPEAT]   (needs the packages of tests/real/requirements.txt, and GNU time)
A row per model and method: CPU seconds of the whole process, as a multiple of plain FP32 inference of the same samples (graph optimizations off, one
thread), and the most memory it took, beside what plain inference takes. REPEAT presents every sample so often (default 8, about 2 s of
inference); the peer keeps all activations of `percentile` and `entropy`, so it gets each sample once and its time is multiplied.
"""
import os, re, subprocess, sys, tempfile
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "real"))
import numpy as np
import onnx
import compare_with_peer as real

METHODS = {"minmax": "MinMax", "percentile": "Percentile", "entropy": "Entropy", "mse": None, "auto": None}
SIZES = {"det": [(320, 480)], "cls": [(48, 192)]}       # of one shape: the peer's histograms take no other

PLAIN = """
import glob, sys, time, numpy as np, onnxruntime as ort
options = ort.SessionOptions()
options.intra_op_num_threads, options.graph_optimization_level = 1, ort.GraphOptimizationLevel.ORT_DISABLE_ALL
session, seconds = ort.InferenceSession(sys.argv[1], options), 0
for path in sorted(glob.glob(sys.argv[2] + "/*.npy")):
    feed = {session.get_inputs()[0].name: np.load(path)}
    before = time.process_time()
    session.run(None, feed)
    seconds += time.process_time() - before
print(seconds)
"""

PEER = """
import glob, sys, numpy as np
sys.path.insert(0, sys.argv[5])
from compare_with_peer import Reader
from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static
import onnx
samples = [np.load(path) for path in sorted(glob.glob(sys.argv[2] + "/*.npy"))]
quantize_static(sys.argv[1], sys.argv[3], Reader(onnx.load(sys.argv[1]).graph.input[0].name, samples), quant_format=QuantFormat.QDQ,
                per_channel=False, activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
                calibrate_method=getattr(CalibrationMethod, sys.argv[4]))
"""


def measured(command):
    """Output, CPU seconds and peak MB of a process; it is started by a small one, or it would begin at our own peak."""
    done = subprocess.run(["/usr/bin/time", "-f", "cost %U %S %M", *command], capture_output=True, text=True)
    cost = re.search(r"cost ([\d.]+) ([\d.]+) (\d+)", done.stderr)
    if done.returncode or not cost:
        raise RuntimeError(f"{command[0]}: {done.stderr.strip()[-300:]}")
    user, system, peak = cost.groups()
    return done.stdout, float(user) + float(system), int(peak) / 1024


def write_samples(folder, samples, repeat):
    os.makedirs(folder)
    for i, sample in enumerate(samples):
        np.save(f"{folder}/{i}_0.npy", sample)
        for k in range(1, repeat):
            os.link(f"{folder}/{i}_0.npy", f"{folder}/{i}_{k}.npy")


def rows_of(qtool, title, source, sizes, repeat, work):
    model = os.path.join(work, "model.onnx")
    real.constants_to_initializers(source, model)
    samples = list(real.text_images(sizes, 24, 1))
    many, once = os.path.join(work, "many"), os.path.join(work, "once")
    write_samples(many, samples, repeat)
    write_samples(once, samples, 1)
    bare = measured([sys.executable, "-c", "import onnxruntime, numpy"])[2]
    text, _, peak = measured([sys.executable, "-c", PLAIN, model, many])
    plain = float(text)
    yield f"{title}: plain inference of {len(samples) * repeat} samples takes {plain:.2f} s and {peak - bare:.0f} MB beyond a bare process"
    for method, peer_method in METHODS.items():
        output = os.path.join(work, "out.onnx")
        _, cpu, ours = measured([qtool, "static", "-i", model, "-o", output, "--calib-data", many, "--calibrate-method", method,
                                 "--set", "preprocess.enabled=false", "--no-progress", "-q"])
        row = f"  {method:10}  qtool {cpu / plain:6.2f}x {ours:6.0f} MB"
        if peer_method:
            _, cpu, theirs = measured([sys.executable, "-W", "ignore", "-c", PEER, model, once, output, peer_method, os.path.join(HERE, "..", "tests", "real")])
            row += f"    onnxruntime.quantization {cpu * repeat / plain:7.2f}x {theirs:6.0f} MB"
        yield row


def main():
    qtool, cache = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    repeat = int(sys.argv[3]) if len(sys.argv) > 3 else 8
    os.makedirs(cache, exist_ok=True)
    folder = real.fetch(cache)
    for name, (file, _) in real.MODELS.items():
        with tempfile.TemporaryDirectory() as work:
            for row in rows_of(qtool, file, os.path.join(folder, file), SIZES[name], repeat, work):
                print(row, flush=True)


if __name__ == "__main__":
    main()
