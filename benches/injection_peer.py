"""Faults in ResNet-20 for CIFAR-10, by PyTorchFI and by faultlens: time per trial, and the rates.

Both hit one element of the output of one convolution (every convolution equally likely, then every
element), or one weight of one convolution, on the same correctly classified images, and count
changed best classes.

usage: python benches/injection_peer.py ASSETS --ours target/release/faultlens
"""

import argparse
import json
import math
import pathlib
import random
import subprocess
import tempfile
import time

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import numpy_helper
from pytorchfi import neuron_error_models, weight_error_models
from pytorchfi.core import fault_injection

MEAN = np.array([0.485, 0.456, 0.406], np.float32)
STD = np.array([0.229, 0.224, 0.225], np.float32)

INPUT = """    input:
      size: [32, 32]
      resize: none
      mean: [0.485, 0.456, 0.406]
      std: [0.229, 0.224, 0.225]
    output: {kind: logits}
"""

# By name: our fault point, and what PyTorchFI does.
POINTS = {
    "random value, -1 to 1": (
        "{fault: random_value, low: -1, high: 1, operators: [Conv], trials: %d}",
        lambda pfi: neuron_error_models.random_neuron_inj(pfi, -1, 1),
    ),
    "random value, -1000 to 1000": (
        "{fault: random_value, low: -1000, high: 1000, operators: [Conv], trials: %d}",
        lambda pfi: neuron_error_models.random_neuron_inj(pfi, -1000, 1000),
    ),
    "zero in outputs": (
        "{fault: zero, operators: [Conv], trials: %d}",
        lambda pfi: zero_neuron(pfi),
    ),
    "zero in weights": (
        "{fault: zero, in: weights, operators: [Conv], values: WEIGHTS, trials: %d}",
        lambda pfi: weight_error_models.zero_func_rand_weight(pfi),
    ),
}


def zero_neuron(pfi):
    layer, c, h, w = neuron_error_models.random_neuron_location(pfi)
    return pfi.declare_neuron_fi(
        batch=[0], layer_num=[layer], dim1=[c], dim2=[h], dim3=[w], value=[0.0]
    )


class Block(torch.nn.Module):
    def __init__(self, take, stride):
        super().__init__()
        self.conv1, self.conv2 = take(stride), take(1)
        self.stride = stride

    def forward(self, x):
        y = self.conv2(torch.relu(self.conv1(x)))
        if self.stride == 2:
            x = x[:, :, ::2, ::2]
            more = (y.shape[1] - x.shape[1]) // 2
            x = torch.nn.functional.pad(x, (0, 0, 0, 0, more, more))
        return torch.relu(y + x)


class ResNet20(torch.nn.Module):
    """The asset's network, from the weights of its ONNX file."""

    def __init__(self, path):
        super().__init__()
        graph = onnx.load(path).graph
        weights = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
        self.weight_names = [n.input[1] for n in graph.node if n.op_type == "Conv"]
        convs = iter([n for n in graph.node if n.op_type == "Conv"])

        def take(stride):
            node = next(convs)
            w, b = (torch.tensor(weights[name].copy()) for name in node.input[1:3])
            conv = torch.nn.Conv2d(w.shape[1], w.shape[0], 3, stride, 1)
            conv.weight.data, conv.bias.data = w, b
            return conv

        self.conv1 = take(1)
        strides = [1, 1, 1, 2, 1, 1, 2, 1, 1]
        self.blocks = torch.nn.Sequential(*[Block(take, stride) for stride in strides])
        gemm = next(n for n in graph.node if n.op_type == "Gemm")
        self.linear = torch.nn.Linear(64, 10)
        self.linear.weight.data = torch.tensor(weights[gemm.input[1]].copy())
        self.linear.bias.data = torch.tensor(weights[gemm.input[2]].copy())

    def forward(self, x):
        x = self.blocks(torch.relu(self.conv1(x)))
        return self.linear(x.mean(dim=(2, 3)))


def wilson(events, n, z=1.959963984540054):
    p, s = events / n, z * z / n
    half = z * math.sqrt(p * (1 - p) / n + s / (4 * n)) / (1 + s)
    centre = (p + s / 2) / (1 + s)
    return centre - half, centre + half


def peer(model, images, inject, trials):
    pfi = fault_injection(model, 1, input_shape=[3, 32, 32], layer_types=[torch.nn.Conv2d], use_cuda=False)
    changed = 0
    start = time.perf_counter()
    with torch.no_grad():
        for image in images:
            golden = model(image).argmax(1)
            for _ in range(trials):
                changed += int((inject(pfi)(image).argmax(1) != golden).item())
    return changed, (time.perf_counter() - start) / (len(images) * trials)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("assets", type=pathlib.Path)
    arguments.add_argument("--ours", required=True)
    arguments.add_argument("--images", type=int, default=50)
    arguments.add_argument("--trials", type=int, default=100)
    arguments = arguments.parse_args()
    torch.set_num_threads(1)
    random.seed(1)
    path = arguments.assets / "models" / "cifar10_resnet20.onnx"
    data = np.load(arguments.assets / "data" / "cifar10_test_1000.npz")
    x = ((data["x"] / np.float32(255) - MEAN) / STD).astype(np.float32).transpose(0, 3, 1, 2)
    model = ResNet20(path).eval()
    reference = onnxruntime.InferenceSession(str(path)).run(None, {"input": x[:50]})[0]
    with torch.no_grad():
        answers = model(torch.tensor(x))
    assert np.abs(answers[:50].numpy() - reference).max() < 1e-3, "not the same network"
    right = np.flatnonzero(answers.argmax(1).numpy() == data["y"])[: arguments.images]
    weights = "[" + ", ".join(f"'{name}'" for name in model.weight_names) + "]"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        np.savez(folder / "right.npz", x=data["x"][right], y=data["y"][right])
        print(f"{'fault':28} {'peer ms':>8} {'ours ms':>8} {'ratio':>6}   peer's rate, our rate")
        for name, (point, inject) in POINTS.items():
            images = [torch.tensor(x[i : i + 1]) for i in right]
            changed, peer_time = peer(model, images, inject, arguments.trials)
            fault = (point % arguments.trials).replace("WEIGHTS", weights)
            text = f"targets:\n  - model: {path.resolve()}\n{INPUT}"
            text += f"cases: {{data: right.npz}}\nfaults:\n  - {fault}\nexamples: 0\nthreads: 1\n"
            (folder / "c.yaml").write_text(text)
            run = folder / name.replace(" ", "_")
            start = time.perf_counter()
            out = subprocess.run(
                [arguments.ours, "run", folder / "c.yaml", "--output", run, "--json"],
                capture_output=True, check=True, text=True,
            )
            our_time = (time.perf_counter() - start) / (len(right) * arguments.trials)
            rate = json.loads(out.stdout)["overall"]["rate"]
            n = len(right) * arguments.trials
            low, high = wilson(changed, n)
            print(
                f"{name:28} {1e3 * peer_time:8.2f} {1e3 * our_time:8.3f} {peer_time / our_time:6.0f}"
                f"   {changed / n:.4f} ({low:.4f} to {high:.4f}), "
                f"{rate['value']:.4f} ({rate['low']:.4f} to {rate['high']:.4f}), n {n}"
            )


if __name__ == "__main__":
    main()
