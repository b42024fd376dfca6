"""Visual change beside pyiqa, piq and sewar: milliseconds of one thread's processor time on a photo of 576×384 pixels with
noise on it, grey and in colour, the best of several rounds in turns. Everything is asked to one thread.

pyiqa's `vif` is the wavelet form, as ours; piq and sewar have the pixel form.

usage: python benches/visual_peer.py PHOTO --ours target/release/visual_change [--rounds 3]
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

PEERS = ("pyiqa", "piq", "sewar")
WIDTH, HEIGHT = 576, 384


def call_of(peer, original, changed):
    import numpy as np

    if peer == "sewar":
        from sewar.full_ref import vifp

        luma = [pixels.astype(float) @ np.array([0.299, 0.587, 0.114]) for pixels in (original, changed)]
        return lambda: vifp(*luma)
    import torch

    torch.set_num_threads(1)
    tensors = [torch.tensor(pixels / 255).permute(2, 0, 1)[None].float() for pixels in (original, changed)]
    if peer == "pyiqa":
        import pyiqa

        metric = pyiqa.create_metric("vif", device="cpu")
        return lambda: float(metric(tensors[1], tensors[0]))
    import piq

    return lambda: float(piq.vif_p(tensors[1], tensors[0]))


def work(peer, original, changed, repeats):
    """Times one library in this process; prints a JSON object."""
    import numpy as np
    from PIL import Image

    pixels = [np.array(Image.open(path).convert("RGB")) for path in (original, changed)]
    call = call_of(peer, *pixels)
    value, best = call(), float("inf")
    for _ in range(repeats):
        start = time.process_time()
        call()
        best = min(best, (time.process_time() - start) * 1e3)
    print(json.dumps({"ms": best, "value": float(np.real(value))}))


def pairs(photo):
    """The photo and its noisy version, grey and in colour."""
    import numpy as np
    from PIL import Image

    folder = pathlib.Path(tempfile.mkdtemp())
    colour = Image.open(photo).convert("RGB").resize((WIDTH, HEIGHT), Image.BICUBIC)
    for name, image in (("grey", colour.convert("L").convert("RGB")), ("colour", colour)):
        pixels = np.array(image)
        shape = pixels.shape if name == "colour" else (*pixels.shape[:2], 1)
        noise = np.random.default_rng(1).normal(0, 10, shape)
        noisy = np.clip(np.rint(pixels + noise), 0, 255).astype(np.uint8)
        paths = [str(folder / f"{name}_{part}.png") for part in ("original", "changed")]
        for path, part in zip(paths, (pixels, noisy)):
            Image.fromarray(part).save(path)
        yield name, paths


def main():
    if sys.argv[1:2] == ["--worker"]:
        peer, original, changed, repeats = sys.argv[2:6]
        return work(peer, original, changed, int(repeats))
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("photo")
    arguments.add_argument("--ours", required=True)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--repeats", type=int, default=3)
    given = arguments.parse_args()
    single = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

    def told(command):
        out = subprocess.run(command, env=single, check=True, capture_output=True, text=True).stdout
        return json.loads(out.strip().splitlines()[-1])

    print("| image | what | ms | times ours | value |\n|---|---|---|---|---|")
    for name, paths in pairs(given.photo):
        best, values = {}, {}
        for _ in range(given.rounds):
            own = told([given.ours, *paths, "--repeats", str(8 * given.repeats)])
            values.update({"visual change": own["vif"], "vif_p": own["vif_p"]})
            rows = dict(own["ms"])
            for peer in PEERS:
                out = told([sys.executable, __file__, "--worker", peer, *paths, str(given.repeats)])
                rows[peer], values[peer] = out["ms"], out["value"]
            best = {row: min(took, best.get(row, took)) for row, took in rows.items()}
        for row, took in best.items():
            beside = "visual change" if row == "pyiqa" else "vif_p"
            times = f"{took / best[beside]:.1f}" if row in PEERS else "–"
            value = f"{values[row]:.6f}" if row in values else "–"
            print(f"| {name} | {row} | {took:.2f} | {times} | {value} |")
        both = best["original prepared"] + best["visual change"]
        print(f"| {name} | pyiqa beside both steps of ours | {both:.2f} | {best['pyiqa'] / both:.1f} | – |")


if __name__ == "__main__":
    main()
