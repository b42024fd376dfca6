"""Image faults beside imagecorruptions and albumentations: milliseconds of one thread's processor
time on one photo, severity 3, the best of several rounds in turns.

Both libraries want different versions of numpy, so that each has its interpreter:

usage: python benches/image_peer.py PHOTO --ours target/release/image_faults
           --imagecorruptions VENV/bin/python --albumentations VENV/bin/python [--size 1920x1080]
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

NAMES = (
    "gaussian_noise shot_noise impulse_noise speckle_noise gaussian_blur defocus_blur glass_blur "
    "motion_blur zoom_blur snow frost fog brightness contrast saturate elastic_transform pixelate "
    "jpeg_compression spatter"
).split()
# Too slow to time often.
SLOW = {"glass_blur"}


def albumented():
    """What comes closest to each fault at severity 3."""
    import albumentations as A

    always = {"p": 1.0}
    return {
        "gaussian_noise": A.GaussNoise(std_range=(0.18, 0.18), **always),
        "shot_noise": A.ShotNoise(scale_range=(1 / 12, 1 / 12), **always),
        "impulse_noise": A.SaltAndPepper(amount=(0.09, 0.09), **always),
        "speckle_noise": A.MultiplicativeNoise(
            multiplier=(0.65, 1.35), elementwise=True, per_channel=True, **always
        ),
        "gaussian_blur": A.GaussianBlur(sigma_limit=(3, 3), blur_limit=0, **always),
        "defocus_blur": A.Defocus(radius=(6, 6), alias_blur=(0.5, 0.5), **always),
        "glass_blur": A.GlassBlur(sigma=1.0, max_delta=2, iterations=3, **always),
        "motion_blur": A.MotionBlur(blur_limit=(15, 15), **always),
        "zoom_blur": A.ZoomBlur(max_factor=(1.21, 1.21), step_factor=(0.02, 0.02), **always),
        "snow": A.RandomSnow(**always),
        "fog": A.RandomFog(**always),
        "brightness": A.RandomBrightnessContrast((0.3, 0.3), (0, 0), **always),
        "contrast": A.RandomBrightnessContrast((0, 0), (-0.8, -0.8), **always),
        "saturate": A.HueSaturationValue((0, 0), (50, 50), (0, 0), **always),
        "elastic_transform": A.ElasticTransform(alpha=21, sigma=4, **always),
        "pixelate": A.Downscale(scale_range=(0.4, 0.4), **always),
        "jpeg_compression": A.ImageCompression(quality_range=(15, 15), **always),
        "spatter": A.Spatter(mode="rain", **always),
    }


def work(which, photo, names, repeats):
    """Times one library in this process; prints a JSON object."""
    import numpy as np
    from PIL import Image

    pixels = np.array(Image.open(photo).convert("RGB"))
    if which == "imagecorruptions":
        from imagecorruptions import corrupt

        calls = {n: (lambda n=n: corrupt(pixels, corruption_name=n, severity=3)) for n in names}
    else:
        import cv2

        cv2.setNumThreads(1)
        made = albumented()
        calls = {n: (lambda n=n: made[n](image=pixels)) for n in names if n in made}
    best = {}
    for name, call in calls.items():
        call()
        for _ in range(1 if name in SLOW else repeats):
            start = time.process_time()
            call()
            took = (time.process_time() - start) * 1e3
            best[name] = min(took, best.get(name, took))
    print(json.dumps(best))


def resized(photo, size):
    from PIL import Image

    width, height = (int(side) for side in size.split("x"))
    path = pathlib.Path(tempfile.mkdtemp()) / "photo.png"
    Image.open(photo).convert("RGB").resize((width, height), Image.BICUBIC).save(path)
    return str(path)


def main():
    if sys.argv[1:2] == ["--worker"]:
        which, photo, names, repeats = sys.argv[2:6]
        return work(which, photo, names.split(","), int(repeats))
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("photo")
    arguments.add_argument("--ours", required=True)
    arguments.add_argument("--imagecorruptions", required=True)
    arguments.add_argument("--albumentations", required=True)
    arguments.add_argument("--size", default="500x375")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--repeats", type=int, default=5)
    given = arguments.parse_args()
    photo = resized(given.photo, given.size)
    single = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    best = {which: {} for which in ("ours", "imagecorruptions", "albumentations")}

    def told(which, command):
        out = subprocess.run(command, env=single, check=True, capture_output=True, text=True).stdout
        for name, took in json.loads(out.strip().splitlines()[-1]).items():
            best[which][name] = min(took, best[which].get(name, took))

    for turn in range(given.rounds):
        names = [name for name in NAMES if turn == 0 or name not in SLOW]
        faults = [word for name in names for word in ("--fault", name)]
        told("ours", [given.ours, photo, "--repeats", str(4 * given.repeats), *faults])
        for which in ("imagecorruptions", "albumentations"):
            worker = [getattr(given, which), __file__, "--worker", which, photo]
            told(which, [*worker, ",".join(names), str(given.repeats)])
    print("| fault | ours ms | imagecorruptions ms | times | albumentations ms | times |")
    print("|---|---|---|---|---|---|")
    for name in NAMES:
        own, first = best["ours"][name], best["imagecorruptions"][name]
        second = best["albumentations"].get(name)
        beside = f"{second:.2f} | {second / own:.1f}" if second else "– | –"
        print(f"| {name} | {own:.2f} | {first:.2f} | {first / own:.1f} | {beside} |")


if __name__ == "__main__":
    main()
