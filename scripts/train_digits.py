#!/usr/bin/env python3
"""Trains the demo model on scikit-learn's digits and writes calib_samples/digits: model.onnx, calib/*.npy, eval/*.npy and labels.json.

    python3 -m venv venv
    venv/bin/pip install numpy==2.2.6 onnx==1.23.2 scikit-learn==1.7.2
    venv/bin/python scripts/train_digits.py

A small residual CNN, written and trained with numpy alone. All randomness comes from one seed; the weights may still differ in the
last bits between builds of numpy.
"""

import json
import os
import pathlib
import shutil

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the matrices are small, and the order of sums stays the same

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

SEED = 7
EPOCHS = 20
BATCH = 50
LEARNING_RATE = 3e-3
CALIBRATION_SAMPLES = 100
EVALUATION_SAMPLES = 300
FOLDER = pathlib.Path(__file__).resolve().parent.parent / "calib_samples" / "digits"


class Parameter:
    """A trained array with its gradient and Adam's two running means."""

    def __init__(self, value):
        self.value = value.astype(np.float32)
        self.gradient = np.zeros_like(self.value)
        self.mean = np.zeros_like(self.value)
        self.square = np.zeros_like(self.value)

    def step(self, rate, count):
        self.mean = 0.9 * self.mean + 0.1 * self.gradient
        self.square = 0.999 * self.square + 0.001 * self.gradient**2
        mean = self.mean / (1 - 0.9**count)
        square = self.square / (1 - 0.999**count)
        self.value -= rate * mean / (np.sqrt(square) + 1e-8)


class Conv:
    """3 x 3 convolution, padding 1, no bias: a batch normalization follows."""

    def __init__(self, name, inputs, outputs, rng):
        self.name = name
        self.weight = Parameter(rng.normal(0, np.sqrt(2 / (9 * inputs)), (outputs, inputs, 3, 3)))
        self.parameters = [self.weight]

    def forward(self, x, training):
        batch, channels, height, width = x.shape
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
        self.columns = windows.transpose(0, 2, 3, 1, 4, 5).reshape(batch * height * width, channels * 9)
        self.shape = x.shape
        y = self.columns @ self.weight.value.reshape(len(self.weight.value), -1).T
        return y.reshape(batch, height, width, -1).transpose(0, 3, 1, 2)

    def backward(self, dy):
        batch, channels, height, width = self.shape
        rows = dy.transpose(0, 2, 3, 1).reshape(batch * height * width, -1)
        self.weight.gradient = (rows.T @ self.columns).reshape(self.weight.value.shape)
        columns = rows @ self.weight.value.reshape(len(self.weight.value), -1)
        columns = columns.reshape(batch, height, width, channels, 3, 3)
        dx = np.zeros((batch, channels, height + 2, width + 2), np.float32)
        for i in range(3):
            for j in range(3):
                dx[:, :, i : i + height, j : j + width] += columns[..., i, j].transpose(0, 3, 1, 2)
        return dx[:, :, 1:-1, 1:-1]

    def export(self, graph, x):
        return graph.add("Conv", self.name, [x, graph.constant(f"{self.name}.weight", self.weight.value)], kernel_shape=[3, 3], pads=[1, 1, 1, 1])


class BatchNorm:
    def __init__(self, name, channels):
        self.name = name
        self.scale = Parameter(np.ones(channels))
        self.shift = Parameter(np.zeros(channels))
        self.running_mean = np.zeros(channels, np.float32)
        self.running_variance = np.ones(channels, np.float32)
        self.parameters = [self.scale, self.shift]

    def forward(self, x, training):
        mean, variance = self.running_mean, self.running_variance
        if training:
            mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
            self.running_mean = 0.95 * self.running_mean + 0.05 * mean
            self.running_variance = 0.95 * self.running_variance + 0.05 * variance
        self.deviation = np.sqrt(variance + 1e-5)[:, None, None]
        self.normalized = (x - mean[:, None, None]) / self.deviation
        return self.scale.value[:, None, None] * self.normalized + self.shift.value[:, None, None]

    def backward(self, dy):
        self.scale.gradient = (dy * self.normalized).sum((0, 2, 3))
        self.shift.gradient = dy.sum((0, 2, 3))
        d = dy * self.scale.value[:, None, None]
        mean = d.mean((0, 2, 3), keepdims=True)
        along = (d * self.normalized).mean((0, 2, 3), keepdims=True)
        return (d - mean - self.normalized * along) / self.deviation

    def export(self, graph, x):
        values = {"scale": self.scale.value, "bias": self.shift.value, "mean": self.running_mean, "var": self.running_variance}
        return graph.add("BatchNormalization", self.name, [x] + [graph.constant(f"{self.name}.{k}", v) for k, v in values.items()], epsilon=1e-5)


class Relu:
    parameters = []

    def __init__(self, name):
        self.name = name

    def forward(self, x, training):
        self.open = x > 0
        return x * self.open

    def backward(self, dy):
        return dy * self.open

    def export(self, graph, x):
        return graph.add("Relu", self.name, [x])


class MaxPool:
    """2 x 2, stride 2."""

    parameters = []

    def __init__(self, name):
        self.name = name

    def forward(self, x, training):
        batch, channels, height, width = x.shape
        blocks = x.reshape(batch, channels, height // 2, 2, width // 2, 2)
        y = blocks.max((3, 5), keepdims=True)
        self.is_max = blocks == y
        self.is_max = self.is_max / self.is_max.sum((3, 5), keepdims=True)
        return y[:, :, :, 0, :, 0]

    def backward(self, dy):
        dx = self.is_max * dy[:, :, :, None, :, None]
        batch, channels, height, _, width, _ = dx.shape
        return dx.reshape(batch, channels, height * 2, width * 2).astype(np.float32)

    def export(self, graph, x):
        return graph.add("MaxPool", self.name, [x], kernel_shape=[2, 2], strides=[2, 2])


class Residual:
    """Adds what its layers make of the input to the input."""

    def __init__(self, name, layers):
        self.name = name
        self.layers = layers
        self.parameters = [p for layer in layers for p in layer.parameters]

    def forward(self, x, training):
        y = x
        for layer in self.layers:
            y = layer.forward(y, training)
        return x + y

    def backward(self, dy):
        dx = dy
        for layer in reversed(self.layers):
            dx = layer.backward(dx)
        return dx + dy

    def export(self, graph, x):
        y = x
        for layer in self.layers:
            y = layer.export(graph, y)
        return graph.add("Add", self.name, [x, y])


class Classifier:
    """Flatten and a fully connected layer."""

    def __init__(self, name, inputs, classes, rng):
        self.name = name
        self.weight = Parameter(rng.normal(0, np.sqrt(1 / inputs), (classes, inputs)))
        self.bias = Parameter(np.zeros(classes))
        self.parameters = [self.weight, self.bias]

    def forward(self, x, training):
        self.shape = x.shape
        self.flat = x.reshape(len(x), -1)
        return self.flat @ self.weight.value.T + self.bias.value

    def backward(self, dy):
        self.weight.gradient = dy.T @ self.flat
        self.bias.gradient = dy.sum(0)
        return (dy @ self.weight.value).reshape(self.shape)

    def export(self, graph, x):
        flat = graph.add("Flatten", f"{self.name}.flatten", [x], axis=1)
        constants = [graph.constant(f"{self.name}.weight", self.weight.value), graph.constant(f"{self.name}.bias", self.bias.value)]
        return graph.add("Gemm", self.name, [flat] + constants, transB=1)


class Graph:
    """Collects nodes and initializers for the ONNX file."""

    def __init__(self):
        self.nodes = []
        self.initializers = []

    def constant(self, name, value):
        self.initializers.append(numpy_helper.from_array(value.astype(np.float32), name))
        return name

    def add(self, op_type, name, inputs, **attributes):
        self.nodes.append(helper.make_node(op_type, inputs, [f"{name}.out"], name=name, **attributes))
        return f"{name}.out"


def make_network(rng):
    return [
        Conv("conv1", 1, 24, rng),
        BatchNorm("norm1", 24),
        Relu("relu1"),
        Conv("conv2", 24, 40, rng),
        BatchNorm("norm2", 40),
        Relu("relu2"),
        MaxPool("pool"),
        Residual("add", [Conv("conv3", 40, 40, rng), BatchNorm("norm3", 40), Relu("relu3"), Conv("conv4", 40, 40, rng), BatchNorm("norm4", 40)]),
        Relu("relu4"),
        Classifier("classifier", 40 * 4 * 4, 10, rng),
    ]


def run(network, x, training=False):
    for layer in network:
        x = layer.forward(x, training)
    return x


def shifted(x, rng):
    """Each image moved by at most one pixel: 1400 images are few."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    moves = rng.integers(0, 3, (len(x), 2))
    return np.stack([image[:, i : i + 8, j : j + 8] for image, (i, j) in zip(padded, moves)])


def train(network, images, labels, rng):
    count = 0
    parameters = [p for layer in network for p in layer.parameters]
    steps = EPOCHS * (len(images) // BATCH)
    for _ in range(EPOCHS):
        order = rng.permutation(len(images))
        for chosen in np.split(order[: len(order) // BATCH * BATCH], len(order) // BATCH):
            logits = run(network, shifted(images[chosen], rng), training=True)
            probability = np.exp(logits - logits.max(1, keepdims=True))
            probability /= probability.sum(1, keepdims=True)
            gradient = (probability - np.eye(10, dtype=np.float32)[labels[chosen]]) / BATCH
            for layer in reversed(network):
                gradient = layer.backward(gradient)
            count += 1
            for parameter in parameters:
                parameter.step(LEARNING_RATE * 0.5 * (1 + np.cos(np.pi * count / steps)), count)


def write_model(network, path):
    graph = Graph()
    name = "image"
    for layer in network:
        name = layer.export(graph, name)
    graph.nodes[-1].output[0] = "logits"
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 8, 8])
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 10])
    model = helper.make_model(
        helper.make_graph(graph.nodes, "digits", [image], [logits], graph.initializers),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
        producer_name="train_digits.py",
    )
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def write_samples(folder, images):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for i, image in enumerate(images):
        np.save(folder / f"{i:03d}.npy", image[None])


def main():
    rng = np.random.default_rng(SEED)
    digits = load_digits()
    order = rng.permutation(len(digits.target))
    images = (digits.images[order, None] / 16).astype(np.float32)
    labels = digits.target[order]
    held_out = slice(0, EVALUATION_SAMPLES)
    seen = slice(EVALUATION_SAMPLES, None)

    network = make_network(rng)
    train(network, images[seen], labels[seen], rng)
    top1 = (run(network, images[held_out]).argmax(1) == labels[held_out]).mean()

    write_samples(FOLDER / "calib", images[seen][:CALIBRATION_SAMPLES])
    write_samples(FOLDER / "eval", images[held_out])
    (FOLDER / "eval" / "labels.json").write_text(json.dumps(labels[held_out].tolist()) + "\n")
    write_model(network, FOLDER / "model.onnx")
    print(f"top-1 on {EVALUATION_SAMPLES} samples not trained on: {top1:.4f}; model.onnx: {(FOLDER / 'model.onnx').stat().st_size} bytes")


main()
