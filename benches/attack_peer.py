"""Attacks on the network for digits beside the Adversarial Robustness Toolbox and foolbox:
milliseconds of one thread's processor time for a sample, processes in turns, the best of several;
the share of samples whose answer changed, and their mean distance.

usage: python benches/attack_peer.py crates/faults/tests/fixtures/attacks --ours target/release/attacks
           [--rounds 3] [--only pgd,deepfool]
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

# By label: samples, our attack and its settings, the peers that do the same, and by what they are
# measured.
WORKS = {
    "fgm": (100, "fgm:epsilon=0.15", ["art", "foolbox"], "linf"),
    "pgd": (100, "pgd:epsilon=0.15,step=0.03", ["art", "foolbox"], "linf"),
    "auto_pgd": (100, "auto_pgd:epsilon=0.12,iterations=100", ["art"], "linf"),
    "deepfool": (100, "deepfool:", ["art", "foolbox"], "l2"),
    "hop_skip_jump": (100, "hop_skip_jump:", ["art"], "l2"),
    "hop_skip_jump_7": (100, "hop_skip_jump:iterations=7", ["art"], "l2"),
    "square": (100, "square:epsilon=0.15,queries=300", ["art"], "linf"),
    "pixel_5": (5, "pixel:pixels=5", ["art"], "l0"),
    "pixel_10": (5, "pixel:pixels=10", ["art"], "l0"),
    "threshold_cma": (5, "threshold:threshold=38", ["art"], "linf"),
    "threshold_de": (5, "threshold:threshold=38,search=differential_evolution", ["art"], "linf"),
}
# What takes a peer minutes is asked for once.
SLOW = {"hop_skip_jump", "hop_skip_jump_7", "pixel_5", "pixel_10", "threshold_cma", "threshold_de"}


def network(folder):
    """The network in PyTorch, with the weights of the ONNX file."""
    import onnx
    import torch
    from torch import nn

    layers = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, 10),
    )  # fmt: skip
    file = onnx.load(folder / "digits_cnn.onnx")
    weights = {w.name: torch.tensor(onnx.numpy_helper.to_array(w)) for w in file.graph.initializer}
    layers.load_state_dict({name.removeprefix("f."): weight for name, weight in weights.items()})
    return layers.eval()


def art_attack(label, model):
    """The attack with ART, as a call from images to images."""
    import torch
    from art.attacks import evasion
    from art.estimators.classification import PyTorchClassifier

    loss = torch.nn.CrossEntropyLoss()
    victim = PyTorchClassifier(model, loss=loss, input_shape=(1, 16, 16), nb_classes=10, clip_values=(0, 1))
    quiet = {"verbose": False}
    attack = {
        "fgm": lambda: evasion.FastGradientMethod(victim, eps=0.15, batch_size=128),
        "pgd": lambda: evasion.ProjectedGradientDescent(victim, eps=0.15, eps_step=0.03, max_iter=10, batch_size=128, **quiet),
        "auto_pgd": lambda: evasion.AutoProjectedGradientDescent(victim, eps=0.12, eps_step=0.24, max_iter=100, nb_random_init=1, batch_size=128, loss_type="cross_entropy", **quiet),
        "deepfool": lambda: evasion.DeepFool(victim, max_iter=10, epsilon=1e-6, nb_grads=10, batch_size=128, **quiet),
        "hop_skip_jump": lambda: evasion.HopSkipJump(victim, norm=2, max_iter=10, max_eval=1000, init_eval=100, **quiet),
        "hop_skip_jump_7": lambda: evasion.HopSkipJump(victim, norm=2, max_iter=10, max_eval=1000, init_eval=100, **quiet),
        "square": lambda: evasion.SquareAttack(victim, eps=0.15, max_iter=300, p_init=0.8, nb_restarts=1, batch_size=128, **quiet),
        "pixel_5": lambda: evasion.PixelAttack(victim, th=5, es=1),
        "pixel_10": lambda: evasion.PixelAttack(victim, th=10, es=1),
        "threshold_cma": lambda: evasion.ThresholdAttack(victim, th=38, es=0),
        "threshold_de": lambda: evasion.ThresholdAttack(victim, th=38, es=1),
    }[label]()
    return lambda images: attack.generate(x=images)


def foolbox_attack(label, model):
    """The attack with foolbox, as a call from images to images."""
    import eagerpy
    import foolbox
    import torch

    victim = foolbox.PyTorchModel(model, bounds=(0, 1))
    attack, epsilon = {
        "fgm": lambda: (foolbox.attacks.FGSM(random_start=False), 0.15),
        "pgd": lambda: (foolbox.attacks.LinfPGD(steps=10, abs_stepsize=0.03, random_start=False), 0.15),
        "deepfool": lambda: (foolbox.attacks.L2DeepFoolAttack(steps=10, candidates=10), None),
    }[label]()

    def call(images):
        images = torch.tensor(images)
        with torch.no_grad():
            classes = model(images).argmax(1)
        found = attack.run(victim, eagerpy.astensor(images), eagerpy.astensor(classes), **({"epsilon": epsilon} if epsilon else {}))
        return found.numpy()

    return call


def work(peer, label, folder, repeats):
    """Times a peer in this process; prints a JSON object."""
    import logging
    import warnings

    import numpy as np
    import torch

    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.manual_seed(1)
    np.random.seed(1)
    model = network(folder)
    images = np.load(folder / "images.npy")[: WORKS[label][0]]
    asked = 0

    def count(_, inputs):
        nonlocal asked
        asked += len(inputs[0])
        return (inputs[0].float(),)  # HopSkipJump of ART asks in doubles.

    call = {"art": art_attack, "foolbox": foolbox_attack}[peer](label, model)
    # ART calls the layers one by one.
    model[0].register_forward_pre_hook(count)
    best = float("inf")
    if label not in SLOW:
        call(images)  # Libraries prepare themselves on the first call.
    for _ in range(repeats):
        asked = 0
        start = time.process_time()
        found = call(images)
        best = min(best, (time.process_time() - start) * 1e3 / len(images))
    queries = asked / len(images)
    with torch.no_grad():
        clean = model(torch.tensor(images)).argmax(1).numpy()
        changed = model(torch.tensor(found)).argmax(1).numpy() != clean
    moved = (found - images).reshape(len(images), -1)[changed]
    mean = lambda values: float(values.mean()) if len(values) else 0.0
    print(json.dumps({
        "ms": best,
        "reached": float(changed.mean()),
        "l0": mean((moved != 0).sum(1)),
        "l2": mean(np.sqrt((moved**2).sum(1))),
        "linf": mean(np.abs(moved).max(1)) if len(moved) else 0.0,
        "queries": queries,
    }))  # fmt: skip


def main():
    if sys.argv[1:2] == ["--worker"]:
        return work(sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4]), int(sys.argv[5]))
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("data")
    arguments.add_argument("--ours", required=True)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--repeats", type=int, default=3)
    arguments.add_argument("--only", default="")
    given = arguments.parse_args()
    single = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

    def told(command):
        out = subprocess.run(command, env=single, check=True, stdout=subprocess.PIPE, text=True).stdout
        return json.loads(out.strip().splitlines()[-1])

    def better(best, new):
        return new if best is None or new["ms"] < best["ms"] else best

    print("| attack | peer | peer ms | ours ms | times faster | peer reached | ours | peer distance | ours | peer questions | ours |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for label in given.only.split(",") if given.only else WORKS:
        samples, attack, peers, norm = WORKS[label]
        rounds = 1 if label in SLOW else given.rounds
        repeats = 1 if label in SLOW else given.repeats
        own, best = None, dict.fromkeys(peers)
        for _ in range(rounds):
            ours = told([given.ours, given.data, f"{label}:{samples}:{attack}", "--repeats", str(given.repeats)])
            own = better(own, ours[label])
            for peer in peers:
                best[peer] = better(best[peer], told([sys.executable, __file__, "--worker", peer, label, given.data, str(repeats)]))
            if label in SLOW:
                own = better(own, told([given.ours, given.data, f"{label}:{samples}:{attack}", "--repeats", str(given.repeats)])[label])
        for peer, other in best.items():
            print(
                f"| {label} | {peer} | {other['ms']:.3g} | {own['ms']:.3g} | {other['ms'] / own['ms']:.1f} "
                f"| {other['reached']:.2f} | {own['reached']:.2f} | {other[norm]:.4g} ({norm}) | {own[norm]:.4g} "
                f"| {other['queries']:.0f} | {own['queries']:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
