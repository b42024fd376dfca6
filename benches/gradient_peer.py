"""Times training steps and input gradients of PyTorch and Faultlens, turn by turn.

    python gradient_peer.py training --threads 1 --ours ../target/release/gradients
    python gradient_peer.py input --side 224 --batch 1 --threads 2 --ours ../target/release/gradients

Both sides run in processes of their own, several rounds in turns; the ratio of the best times
and each side's peak memory are printed. PyTorch runs torchvision's ResNet-18, with the 3x3 stem
for small images, on the same batch.
"""

import argparse
import json
import resource
import subprocess
import sys
import time


def peer(arguments):
    import torch
    import torchvision

    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    net = torchvision.models.resnet18(num_classes=10)
    if arguments.side < 96:
        net.conv1 = torch.nn.Conv2d(3, 64, 3, 1, 1, bias=False)
        net.maxpool = torch.nn.Identity()
    x = torch.randn(arguments.batch, 3, arguments.side, arguments.side)
    y = torch.zeros(arguments.batch, dtype=torch.long)
    if arguments.channels_last:
        net, x = net.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
    loss_of = torch.nn.CrossEntropyLoss()
    if arguments.work == "training":
        net.train()
        sgd = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9, weight_decay=5e-4)

        def step():
            sgd.zero_grad(set_to_none=True)
            loss_of(net(x), y).backward()
            sgd.step()
    else:
        net.eval()
        for weight in net.parameters():
            weight.requires_grad_(False)
        x.requires_grad_(True)

        def step():
            x.grad = None
            loss_of(net(x), y).backward()

    for _ in range(3):
        step()
    times = []
    for _ in range(arguments.repeats):
        start = time.perf_counter()
        step()
        times.append((time.perf_counter() - start) * 1e3)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"best_ms": min(times), "peak_mb": peak}))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", choices=["training", "input"])
    parser.add_argument("--side", type=int, default=32)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--ours", default="../target/release/gradients")
    parser.add_argument("--channels-last", action="store_true", help="PyTorch's other layout")
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peer:
        return peer(arguments)
    sizes = [f"--{name}={getattr(arguments, name)}" for name in ["side", "batch", "threads", "repeats"]]
    layout = ["--channels-last"] if arguments.channels_last else []
    runs = {
        "ours": [arguments.ours, arguments.work, *sizes],
        "torch": [sys.executable, __file__, arguments.work, "--peer", *sizes, *layout],
    }
    best = {name: {"best_ms": float("inf"), "peak_mb": 0.0} for name in runs}
    for _ in range(arguments.rounds):
        for name, command in runs.items():
            found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            best[name]["best_ms"] = min(best[name]["best_ms"], found["best_ms"])
            best[name]["peak_mb"] = max(best[name]["peak_mb"], found["peak_mb"])
    ratio = best["ours"]["best_ms"] / best["torch"]["best_ms"]
    print(json.dumps({**best, "ratio": round(ratio, 3)}))


main()
