#!/usr/bin/env python3
"""Writes tests/unit/calibrate/peer_expected.h: what onnxruntime.quantization makes of seeded values.

    peer_histograms.py > tests/unit/calibrate/peer_expected.h

Needs onnxruntime 1.32 and numpy 2. The values are those of peer_values.h beside it: integers
from a generator, then arithmetic without rounding, so that C++ makes the same ones.
"""
import contextlib
import io

import numpy as np
from onnxruntime.quantization.calibrate import HistogramCollector

SHAPES = ("even", "squared", "scattered", "positive", "sparse", "constant")
MASK = (1 << 64) - 1


def peer_values(shape, seed, count):
    out = np.empty(count, np.float64)
    state = seed
    for i in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) & MASK
        whole = (state >> 40) - (1 << 23)  # [-2^23, 2^23)
        x = whole * 2.0**-23
        if shape == "squared":
            x = x * abs(x)
        elif shape == "scattered":
            x = x * 2.0 ** -((state >> 20) % 12)
        elif shape == "positive":
            x = abs(x) + 0.25
        elif shape == "sparse":
            x = (whole % 7) * 0.5 - 1.0
        elif shape == "constant":
            x = 3.0
        out[i] = x
    return out.astype(np.float32)


def collected(values, method, symmetric, bins, levels, percentile, scenario="same"):
    collector = HistogramCollector(method, symmetric, bins, levels, percentile, scenario)
    with contextlib.redirect_stdout(io.StringIO()):
        collector.collect({"t": values})
        return collector.histogram_dict["t"], collector.compute_collection_result()["t"]


def number(x):
    # Equal values have a variance of about 0; where rounding makes it negative the peer has NaN.
    x = 0.0 if np.isnan(x) else x
    return float(x).hex() + "F"


def row(shape, seed, count, method, symmetric, bins, levels, percentile):
    values = peer_values(shape, seed, count)
    histogram, (low, high, *_) = collected(values, method, symmetric, bins, levels, percentile)
    counts, edges = histogram[0], histogram[1].astype(np.float32)
    places = np.arange(1, bins + 1, dtype=np.int64)
    bits = int(edges.view(np.uint32).astype(np.uint64).sum())
    print(
        f'    {{"{shape}", {seed}, {count}, {str(method == "entropy").lower()}, {str(symmetric).lower()}, '
        f"{bins}, {levels}, {percentile!r}, {int((counts * places).sum())}, {bits}U, {number(low)}, {number(high)}}},"
    )


def spread_row(shape, seed, count, bins, scenario):
    values = peer_values(shape, seed, count)
    _, data = collected(values, "distribution", False, bins, 128, 99.999, scenario)
    roots = str(scenario == "p3").lower()
    print(f'    {{"{shape}", {seed}, {count}, {bins}, {roots}, {number(data.avg)}, {number(data.std)}}},')


def main():
    print("// Written by tests/oracle/peer_histograms.py from onnxruntime 1.32 and numpy 2.4.")
    print("#pragma once\n\n#include <cstdint>\n\nnamespace qtool {\n")
    print("struct PeerCase {")
    print("  const char* shape;\n  std::uint64_t seed;\n  std::size_t count;\n  bool is_entropy;\n  bool is_symmetric;")
    print("  std::int64_t bins;\n  std::int64_t levels;\n  double percentile;")
    print("  std::int64_t places;      ///< sum of the number of each value's bin, from 1")
    print("  std::uint64_t edge_bits;  ///< sum of the bits of the edges")
    print("  float low;\n  float high;\n};\n")
    print("// clang-format off\nconstexpr PeerCase kPeerCases[] = {")
    for seed, shape in enumerate(SHAPES, 1):
        for symmetric in (False, True):
            for percentile in (90.0, 99.9, 99.999):
                row(shape, seed, 5000, "percentile", symmetric, 2048, 128, percentile)
        row(shape, seed, 777, "percentile", True, 777, 128, 99.0)
        for bins, levels in ((128, 128), (257, 128), (512, 128), (777, 64), (130, 16)):
            row(shape, seed, 5000, "entropy", False, bins, levels, 99.999)
    print("};\n// clang-format on\n")
    print("struct PeerSpreadCase {")
    print("  const char* shape;\n  std::uint64_t seed;\n  std::size_t count;\n  std::size_t bins;\n  bool is_of_roots;")
    print("  float average;\n  float deviation;\n};\n")
    print("// clang-format off\nconstexpr PeerSpreadCase kPeerSpreadCases[] = {")
    for seed, shape in enumerate(SHAPES, 1):
        for scenario in ("same", "p3"):
            for bins in (512, 777, 2048):
                spread_row(shape, seed, 5000, bins, scenario)
    print("};\n// clang-format on\n\n}  // namespace qtool")


if __name__ == "__main__":
    main()
