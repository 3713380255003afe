#!/usr/bin/env python3
"""Writes tests/unit/calibrate/peer_model_expected.h: what calibrators of onnxruntime.quantization
make of a small model on seeded samples.

    peer_calibration.py > tests/unit/calibrate/peer_model_expected.h

Needs onnxruntime 1.32 and numpy 2. The values are those of peer_values.h beside it; the model adds
and multiplies by powers of two, so that every optimization computes the same bits.
"""
import contextlib
import io
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import parser
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, create_calibrator

from peer_histograms import number, peer_values

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
g (float[N] x) => (float[N] y) <float w = {-2}> {
  a = Relu (x)
  m = Mul (x, w)
  y = Add (a, m)
}"""
SAMPLES = 6
COUNT = 400
METHODS = {
    "minmax": CalibrationMethod.MinMax,
    "entropy": CalibrationMethod.Entropy,
    "percentile": CalibrationMethod.Percentile,
    "distribution": CalibrationMethod.Distribution,
}


class Samples(CalibrationDataReader):
    """The values of sample i: shape `scattered`, seed 100 + i, times i + 1."""

    def __init__(self, begin, end):
        self.samples = iter(
            {"x": (peer_values("scattered", 100 + i, COUNT) * np.float32(i + 1)).astype(np.float32)}
            for i in range(begin, end)
        )

    def get_next(self):
        return next(self.samples, None)


def calibrated(folder, method, options, stride):
    model = Path(folder) / "model.onnx"
    onnx.save(onnx.shape_inference.infer_shapes(parser.parse_model(MODEL)), model)
    calibrator = create_calibrator(
        model, ["Relu", "Mul", "Add"], str(Path(folder) / "augmented.onnx"), METHODS[method], extra_options=options
    )
    with contextlib.redirect_stdout(io.StringIO()):
        for begin in range(0, SAMPLES, stride):
            calibrator.collect_data(Samples(begin, begin + stride))
        return calibrator.compute_data()


def rows(folder, method, options, stride=SAMPLES):
    data = calibrated(folder, method, options, stride)
    percentile = options.get("percentile", 99.999)
    for name in ("x", "a", "m", "y"):
        tensor = data[name]
        low, high = (float(np.ravel(v)[0]) for v in tensor.range_value)
        spread = [number(tensor.avg), number(tensor.std)] if method == "distribution" else ["0.0F", "0.0F"]
        print(
            f'    {{"{method}", {options.get("num_bins", 2048)}, {options.get("num_quantized_bins", 128)}, {percentile!r}, '
            f'{str(options.get("symmetric", False)).lower()}, {str(options.get("moving_average", False)).lower()}, '
            f'{options.get("averaging_constant", 0.01)!r}, {stride}, "{name}", {number(low)}, {number(high)}, {", ".join(spread)}}},'
        )


def main():
    print("// Written by tests/oracle/peer_calibration.py from onnxruntime 1.32 and numpy 2.4.")
    print("#pragma once\n\n#include <cstdint>\n\nnamespace qtool {\n")
    print(f"constexpr std::size_t kPeerSamples = {SAMPLES};\nconstexpr std::size_t kPeerSampleValues = {COUNT};\n")
    print("struct PeerModelCase {")
    print("  const char* method;\n  std::int64_t bins;\n  std::int64_t levels;\n  double percentile;\n  bool is_symmetric;")
    print("  bool moving_average;\n  double constant;\n  std::int64_t stride;\n  const char* tensor;")
    print("  float low;\n  float high;\n  float average;\n  float deviation;\n};\n")
    print("// clang-format off\nconstexpr PeerModelCase kPeerModelCases[] = {")
    with tempfile.TemporaryDirectory() as folder:
        for symmetric in (False, True):
            for stride in (6, 3, 2, 1):
                rows(folder, "minmax", {"symmetric": symmetric}, stride)
                for constant in (0.01, 0.5):
                    average = {"symmetric": symmetric, "moving_average": True, "averaging_constant": constant}
                    rows(folder, "minmax", average, stride)
            for percentile in (99.0, 99.999):
                rows(folder, "percentile", {"symmetric": symmetric, "num_bins": 2048, "percentile": percentile})
        for bins in (128, 512):
            rows(folder, "entropy", {"num_bins": bins, "num_quantized_bins": 128})
        rows(folder, "distribution", {"num_bins": 2048})
    print("};\n// clang-format on\n\n}  // namespace qtool")


if __name__ == "__main__":
    main()
