#!/usr/bin/env python3
"""Writes tests/unit/quantize/peer_params_expected.h: scales, zero points and stored integers that
onnxruntime.quantization gives seeded tensors, ranges and biases.

    peer_params.py > tests/unit/quantize/peer_params_expected.h

Needs onnxruntime 1.32 and numpy 2. Tensors hold the values of tests/unit/calibrate/peer_values.h
times a power of two. Of scales, zero points and data the header has a hash (FNV-1a, 64 bits).
"""
import logging
import random
import re
from types import SimpleNamespace

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnxruntime.quantization.qdq_quantizer import QDQQuantizer
from onnxruntime.quantization.quant_utils import (
    compute_data_quant_params,
    compute_scale_zp,
    compute_scale_zp_blocked,
    get_qmin_qmax_for_qType,
    quantize_onnx_initializer,
    snap_zero_point_to_uint8,
)

from peer_histograms import peer_values

TYPES = {
    "Int8": TensorProto.INT8,
    "UInt8": TensorProto.UINT8,
    "Int16": TensorProto.INT16,
    "UInt16": TensorProto.UINT16,
    "Int4": TensorProto.INT4,
    "UInt4": TensorProto.UINT4,
    "Float8E4M3FN": TensorProto.FLOAT8E4M3FN,
}
DTYPES = {"Float": np.float32, "Float16": np.float16}
SHAPES = ((7,), (5, 9), (64, 6), (6, 64), (3, 4, 5), (1, 37), (2, 3, 3, 3), (0,))
BLOCKED_SHAPES = ((5, 9), (64, 6), (6, 64), (1, 37), (70, 33))
KINDS = ("even", "squared", "scattered", "positive", "sparse", "constant")


def fnv(data):
    out = 0xCBF29CE484222325
    for byte in bytes(data):
        out = (out ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return f"0x{out:016x}U"


def flag(value):
    return str(bool(value)).lower()


def number(value):
    return re.sub(r"\.?0*p", "p", float(value).hex())


def optional(value):
    return "{}" if value is None else number(value)


def tensor(kind, seed, shape, exponent, dtype):
    values = peer_values(kind, seed, int(np.prod(shape)))
    return np.ldexp(values, exponent).astype(np.float32).astype(DTYPES[dtype]).reshape(shape)


def parameters(data, case):
    if case.block:
        return compute_scale_zp_blocked(data, TYPES[case.type], case.axis, case.block, case.symmetric)

    def of(values):
        return compute_data_quant_params(
            values.flatten(), TYPES[case.type], case.symmetric, case.reduced, case.minimum, case.rmin, case.rmax
        )

    if case.axis < 0:
        return of(data)
    each = [of(data.take(i, case.axis)) for i in range(data.shape[case.axis])]
    return np.asarray([zero for zero, _ in each]), np.asarray([scale for _, scale in each])


def constant_row(case):
    data = tensor(case.kind, case.seed, case.shape, case.exponent, case.dtype)
    with np.errstate(all="ignore"):
        zero, scale = parameters(data, case)
    if not np.all(np.isfinite(scale)) or np.any(scale == 0):
        return None  # the peer has no parameters for these
    stored = quantize_onnx_initializer(
        numpy_helper.from_array(data, "w"),
        TYPES[case.type],
        zero,
        scale,
        None if case.axis < 0 else case.axis,
        block_size=case.block,
    )
    zeros = np.asarray(zero).astype(np.int32)
    dims = ", ".join(str(dim) for dim in case.shape)
    return (
        f'    {{"{case.kind}", {case.seed}, {{{dims}}}, {case.exponent}, ElementType::{case.dtype}, '
        f"ElementType::{case.type}, {flag(case.symmetric)}, {flag(case.reduced)}, {optional(case.minimum)}, "
        f"{case.axis}, {case.block}, {optional(case.rmin)}, {optional(case.rmax)}, {number(scale.ravel()[0])}F, "
        f"{fnv(scale.tobytes())}, {fnv(zeros.tobytes())}, {fnv(stored.raw_data)}}},"
    )


def random_constant(rng, index):
    type_name = list(TYPES)[index % len(TYPES)]
    is_float8 = type_name == "Float8E4M3FN"
    dtype = rng.choice(list(DTYPES))
    block = 0 if is_float8 or rng.random() < 0.65 else rng.choice((2, 16, 32, 1000))
    shape = rng.choice(BLOCKED_SHAPES if block else SHAPES)
    axis = rng.randrange(len(shape)) if block or (shape[0] > 0 and rng.random() < 0.5) else -1
    exponents = (0, 0, -6, -20, 8, -140) if dtype == "Float" else (0, 0, -6, -12, -19, 8, 15)
    exponent = rng.choice((0, -3) if is_float8 else exponents)
    kind = rng.choice(KINDS)
    if exponent == 15 and (block or kind not in ("even", "squared", "scattered")):
        exponent = 12
    given = not block and not is_float8 and axis < 0 and rng.random() < 0.2
    return SimpleNamespace(
        kind=kind,
        seed=1000 + index,
        shape=shape,
        exponent=exponent,
        dtype=dtype,
        type=type_name,
        symmetric=rng.random() < 0.5,
        reduced=not is_float8 and rng.random() < 0.25,
        minimum=rng.choice((None, None, 1e-4, 5.0)),
        axis=axis,
        block=block,
        rmin=rng.choice((None, -0.3, 0.1)) if given else None,
        rmax=rng.choice((None, 0.7, -0.2)) if given else None,
    )


def constants():
    rng = random.Random(20)
    rows = (constant_row(random_constant(rng, i)) for i in range(260))
    return [row for row in rows if row]


def range_rows():
    rng = random.Random(21)
    for index in range(120):
        type_name = list(TYPES)[index % 6]
        restricted = type_name == "UInt8" and rng.random() < 0.7
        dtype = "Float" if restricted else rng.choice(list(DTYPES))
        symmetric = not restricted and rng.random() < 0.4
        minimum = rng.choice((None, None, 1e-4, 0.5))
        ends = [DTYPES[dtype](rng.choice((0.0, rng.uniform(-3, 3), rng.uniform(-1e-3, 1e-3)))) for _ in range(2)]
        low, high = min(ends), max(ends)
        qmin, qmax = get_qmin_qmax_for_qType(TYPES[type_name], False, symmetric)
        if restricted:
            zero, scale = snap_zero_point_to_uint8(low, high, qmin, qmax, minimum)
        else:
            zero, scale = compute_scale_zp(low, high, qmin, qmax, symmetric, minimum)
        yield (
            f"    {{{number(low)}F, {number(high)}F, ElementType::{dtype}, ElementType::{type_name}, "
            f"{flag(symmetric)}, {flag(restricted)}, {optional(minimum)}, {number(scale)}F, {int(zero)}}},"
        )


class Recorder:
    """Stands where the quantizer keeps its model: holds the bias, and what is made of it."""

    def __init__(self, bias):
        self.made = {}
        self.bias = bias

    def initializer(self):
        return [self.bias]

    def initializer_extend(self, tensors):
        self.made.update({each.name: each for each in tensors})


def quantized_bias(bias, input_scale, weight_scale, beta):
    quantizer = SimpleNamespace(
        model=Recorder(numpy_helper.from_array(bias, "b")), weight_qType=TensorProto.INT8, quantized_value_map={}
    )
    scales = {"x": input_scale, "w": weight_scale}
    quantizer._get_tensor_quantization_scale = lambda name, _: scales[name]
    quantizer.quantize_bias_static_impl = lambda *args, **named: QDQQuantizer.quantize_bias_static_impl(
        quantizer, *args, **named
    )
    info = SimpleNamespace(weight_name="w", input_name="x", node_name="n", beta=beta)
    QDQQuantizer.quantize_bias_static(quantizer, "b", info)
    made = quantizer.model.made
    return made["b_quantized_scale"], made["b_quantized"]


def adjusted(bias, input_scale, weight_scale, per_channel):
    scale = weight_scale.copy()
    bias_tensor = numpy_helper.from_array(bias, "b")
    _, scale = QDQQuantizer._adjust_weight_scale_for_int32_bias(
        None, input_scale, scale, "w", bias_tensor, per_channel
    )
    return scale


def bias_rows():
    rng = random.Random(22)
    for index in range(80):
        dtype = rng.choice(list(DTYPES))
        channels = rng.choice((1, 1, 3, 8))
        exponent = rng.choice((0, 0, 6, -5))
        bias = tensor(rng.choice(("even", "scattered", "sparse")), 3000 + index, (max(channels, 5),), exponent, dtype)
        if channels > 1:
            bias = bias[:channels]
        kind_scale = DTYPES[dtype]
        input_scale = np.array(rng.choice((0.02, 3e-4, 1.3)), dtype=kind_scale)
        small = (0.007, 2e-4, 3e-6) if dtype == "Float16" else (0.007, 2e-4, 1e-9, 1e-12)
        weight_scale = np.array([rng.choice(small) * (1 + c) for c in range(channels)], dtype=kind_scale)
        if channels == 1:
            weight_scale = weight_scale.reshape(())
        beta = rng.choice((1.0, 1.0, float(np.float32(0.3)), 2.5))
        raised = adjusted(bias, input_scale, weight_scale, channels > 1)
        scale, stored = quantized_bias(bias, input_scale, weight_scale, beta)
        values = ", ".join(number(b) + "F" for b in bias)
        weights = ", ".join(number(s) + "F" for s in weight_scale.ravel())
        wanted = ", ".join(number(s) for s in raised.ravel())
        scales = ", ".join(number(s) + "F" for s in numpy_helper.to_array(scale).ravel())
        kept = scale.data_type == bias_type(dtype)
        yield (
            f"    {{ElementType::{dtype}, {{{values}}}, {number(input_scale)}F, {{{weights}}}, {number(beta)}F, "
            f"{{{wanted}}}, {flag(kept)}, {{{scales}}}, {fnv(stored.raw_data)}}},"
        )


def bias_type(dtype):
    return onnx.helper.np_dtype_to_tensor_dtype(np.dtype(DTYPES[dtype]))


def table(kind, name, rows):
    print(f"inline const std::vector<{kind}> {name} = {{")
    for row in rows:
        print(row)
    print("};\n")


def main():
    logging.disable(logging.WARNING)
    print("// Written by tests/oracle/peer_params.py.")
    print("#pragma once\n\n#include <vector>\n")
    print('#include "peer_params_rows.h"\n\n// clang-format off\nnamespace qtool {\n')
    table("PeerConstant", "kPeerConstants", constants())
    table("PeerRange", "kPeerRanges", range_rows())
    table("PeerBias", "kPeerBiases", bias_rows())
    print("}  // namespace qtool\n// clang-format on")


main()
