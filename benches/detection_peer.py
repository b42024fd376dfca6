"""Detection metrics beside pycocotools and faster-coco-eval on a generated set of COCO's size (5,000 images, 80 classes, about
113,000 detections), and HOG and hashes beside scikit-image and ImageHash on a photo of 500×375 pixels: milliseconds of processor
time, the best of several rounds in turns, everything on one thread. Reading files is timed for ours alone and is not part of the
comparison. All twelve numbers must be the same to 1e-9.

usage: python benches/detection_peer.py --ours target/release/detection_metrics [--photo PHOTO] [--rounds 3]
"""

import argparse
import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

IMAGES, CLASSES = 5000, 80
PEERS = ("pycocotools", "faster_coco_eval")


def draw(folder):
    """Objects as many as COCO's val2017 has per image, some found well, some badly, some not at all."""
    import numpy as np

    rng = np.random.default_rng(1)
    weights = 1 / np.arange(1, CLASSES + 1)
    weights /= weights.sum()
    objects, found = [], []

    def box():
        side = np.exp(rng.uniform(np.log(6), np.log(400), 2))
        return [*(rng.uniform(0, 1, 2) * (640 - side)), *side]

    for image in range(1, IMAGES + 1):
        for _ in range(rng.poisson(7.3)):
            cls, (x, y, w, h) = int(rng.choice(CLASSES, p=weights)) + 1, box()
            area = w * h * rng.uniform(0.4, 1)
            objects.append({"id": len(objects) + 1, "image_id": image, "category_id": cls, "iscrowd": int(rng.random() < 0.01),
                            "bbox": [round(float(v), 2) for v in (x, y, w, h)], "area": round(float(area), 4)})
            for _ in range(rng.integers(0, 4)):
                other = cls if rng.random() < 0.85 else int(rng.integers(1, CLASSES + 1))
                by = rng.normal(0, rng.choice([0.03, 0.1, 0.3]), 4)
                near = (x + by[0] * w, y + by[1] * h, w * np.exp(by[2]), h * np.exp(by[3]))
                found.append((image, other, near, rng.beta(3, 2)))
        for _ in range(rng.poisson(11.7)):
            found.append((image, int(rng.choice(CLASSES, p=weights)) + 1, box(), rng.beta(1, 4)))
    truth = {"images": [{"id": i, "width": 640, "height": 640} for i in range(1, IMAGES + 1)],
             "categories": [{"id": c, "name": f"class {c}"} for c in range(1, CLASSES + 1)], "annotations": objects}
    lines = [{"image_id": i, "category_id": c, "bbox": [round(float(v), 2) for v in b], "score": round(float(s), 5)}
             for i, c, b, s in found]
    for name, value in (("gt", truth), ("dt", lines)):
        (folder / f"{name}.json").write_text(json.dumps(value))
    return len(objects), len(lines)


def work(peer, truth, found):
    """Times one library in this process; prints a JSON object."""
    if peer == "photo":
        return photo(truth)
    if peer == "pycocotools":
        from pycocotools.coco import COCO
        from pycocotools.cocoeval import COCOeval as Evaluation
    else:
        from faster_coco_eval import COCO, COCOeval_faster as Evaluation
    with contextlib.redirect_stdout(io.StringIO()):
        known = COCO(truth)
        evaluation = Evaluation(known, known.loadRes(found), "bbox")
        start, clock = time.process_time(), time.perf_counter()
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
        took = [(time.process_time() - start) * 1e3, (time.perf_counter() - clock) * 1e3]
    summary = [None if v < 0 else float(v) for v in evaluation.stats[:12]]
    print(json.dumps({"ms": took, "summary": summary}))


def photo(path):
    import imagehash
    import numpy as np
    from PIL import Image
    from skimage.feature import hog

    image = Image.open(path)
    pixels = {"hog_grey": np.array(image.convert("L")), "hog_colour": np.array(image)}
    calls = {name: lambda p=p: hog(p, channel_axis=-1 if p.ndim == 3 else None) for name, p in pixels.items()}
    calls["average_hash"] = lambda: imagehash.average_hash(image)
    best = {}
    for name, call in calls.items():
        for _ in range(6):
            start = time.process_time()
            call()
            best[name] = min(best.get(name, float("inf")), (time.process_time() - start) * 1e3)
    print(json.dumps({"ms": best}))


def main():
    if sys.argv[1:2] == ["--worker"]:
        return work(*sys.argv[2:5])
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--ours", required=True)
    arguments.add_argument("--photo")
    arguments.add_argument("--rounds", type=int, default=3)
    given = arguments.parse_args()
    single = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

    def told(command):
        out = subprocess.run(command, env=single, check=True, capture_output=True, text=True).stdout
        return json.loads(out.strip().splitlines()[-1])

    folder = pathlib.Path(tempfile.mkdtemp())
    objects, detections = draw(folder)
    files = [str(folder / name) for name in ("gt.json", "dt.json")]
    extra = []
    if given.photo:
        from PIL import Image

        small = str(folder / "photo.png")
        Image.open(given.photo).convert("RGB").resize((500, 375), Image.BICUBIC).save(small)
        extra = ["--photo", small]
    best, summaries = {}, {}

    def note(name, took):
        best[name] = min(best.get(name, took), took)

    for _ in range(given.rounds):
        own = told([given.ours, *files, *extra])
        summaries["ours"] = own["summary"]
        for name, (took, _) in {**own["ms"], **(own["photo"] or {})}.items():
            note(f"ours, {name}", took)
        note("ours, coco, 2 threads, clock", told([given.ours, *files, "--threads", "2"])["ms"]["coco"][1])
        for peer in PEERS:
            out = told([sys.executable, __file__, "--worker", peer, *files])
            summaries[peer] = out["summary"]
            note(peer, out["ms"][0])
        if extra:
            out = told([sys.executable, __file__, "--worker", "photo", small, ""])
            for name, took in out["ms"].items():
                note(f"peer, {name}", took)
    print(f"{IMAGES} images, {objects} objects, {detections} detections")
    print("| what | ms |\n|---|---|")
    for name, took in best.items():
        print(f"| {name} | {took:.2f} |")
    for peer in PEERS:
        pairs = list(zip(summaries["ours"], summaries[peer]))
        apart = max((abs(a - b) for a, b in pairs if None not in (a, b)), default=0.0)
        same = all((a is None) == (b is None) for a, b in pairs) and apart < 1e-9
        print(f"{peer}: {best[peer] / best['ours, coco']:.1f} times ours; {'same' if same else 'OTHER'} numbers, {apart:.1e} apart")


if __name__ == "__main__":
    main()
