"""Times plain forward passes of ONNX Runtime, PyTorch and, on request, Faultlens.

    python peers.py MODEL.onnx... --threads 1,2 --repeats 20 --rounds 5
    python peers.py MODEL.onnx... --ours "CMD {model} {threads} {repeats}"

All runners take turns within a round, because a ratio only means something when both
sides met the same machine at the same time: clocks and neighbours drift over minutes.
CMD prints one JSON object, {"best_ms": ..., "median_ms": ...}, for one image per pass;
"rten_best_ms" and "rten_median_ms" in it become a column of their own.

PyTorch runs torchvision's model of the same architecture (with random weights), found
by the file's name; models it does not know are timed without it.
"""

import argparse
import json
import shlex
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnxruntime as ort

ARCHITECTURES = ["resnet18", "resnet50", "squeezenet1_1", "vgg16", "mobilenet_v2"]
WARM_UP = 3
PAUSE_S = 0.2
NUMPY_TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(uint8)": np.uint8}


# --- runners: each is a function from a number of repeats to milliseconds ----------


def time_passes(forward, repeats):
    """Milliseconds of each pass, after a warm-up that the other runners made necessary."""
    for _ in range(WARM_UP):
        forward()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        forward()
        times.append((time.perf_counter() - start) * 1000)
    return {"best_ms": min(times), "median_ms": statistics.median(times)}


def random_feeds(session):
    """One random image per input; free dimensions are 1."""
    rng = np.random.default_rng(0)
    feeds = {}
    for given in session.get_inputs():
        shape = [n if isinstance(n, int) and n > 0 else 1 for n in given.shape]
        feeds[given.name] = rng.standard_normal(shape).astype(NUMPY_TYPES[given.type])
    return feeds


def onnxruntime_runner(path, threads):
    """ONNX Runtime with its default optimisations."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    feeds = random_feeds(session)
    return lambda repeats: time_passes(lambda: session.run(None, feeds), repeats)


def architecture(path):
    """The torchvision architecture that the file's name begins with, if any."""
    return next((name for name in ARCHITECTURES if path.stem.startswith(name)), None)


def torch_runner(path, threads):
    """The same architecture in PyTorch, or None where it is unknown or not installed."""
    name = architecture(path)
    try:
        import torch
        import torchvision
    except ImportError:
        return None
    if name is None:
        return None
    model = getattr(torchvision.models, name)(weights=None).eval()
    image = torch.randn(1, 3, 224, 224)

    def run(repeats):
        torch.set_num_threads(threads)
        with torch.inference_mode():
            return time_passes(lambda: model(image), repeats)

    return run


def our_runner(command, path, threads):
    """A shell command that times itself."""

    def run(repeats):
        line = command.format(model=shlex.quote(str(path)), threads=threads, repeats=repeats)
        done = subprocess.run(line, shell=True, check=True, capture_output=True, text=True)
        return json.loads(done.stdout)

    return run


def runners(path, threads, ours):
    """The runners for one model, in the order in which they take turns."""
    found = {"onnxruntime": onnxruntime_runner(path, threads), "pytorch": torch_runner(path, threads)}
    if ours:
        found["ours"] = our_runner(ours, path, threads)
    return {name: run for name, run in found.items() if run}


# --- measuring ----------------------------------------------------------------------


def take_turns(named_runners, rounds, repeats):
    """All results by runner: one list entry per round."""
    results = {name: [] for name in named_runners}
    for _ in range(rounds):
        for name, run in named_runners.items():
            time.sleep(PAUSE_S)  # the threads of the runner before go on spinning for a while
            results[name].append(run(repeats))
    return results


def summarise(results):
    """Best of all rounds, and the median of the rounds' medians."""
    summary = {name: combine(rounds, "") for name, rounds in results.items()}
    if "rten_best_ms" in results.get("ours", [{}])[0]:
        summary["rten"] = combine(results["ours"], "rten_")
    return summary


def combine(rounds, prefix):
    """One runner's rounds as one result."""
    best = min(r[f"{prefix}best_ms"] for r in rounds)
    medians = [r[f"{prefix}median_ms"] for r in rounds if f"{prefix}median_ms" in r]
    return {"best_ms": best, "median_ms": statistics.median(medians) if medians else None}


def measure(path, threads, args):
    """One row: a model at a number of threads."""
    results = take_turns(runners(path, threads, args.ours), args.rounds, args.repeats)
    return {"model": path.stem, "threads": threads, **summarise(results)}


# --- showing ------------------------------------------------------------------------


def milliseconds(result):
    """Best and median in one cell."""
    if result is None:
        return "–"
    median = "–" if result["median_ms"] is None else f"{result['median_ms']:.2f}"
    return f"{result['best_ms']:.2f} / {median}"


def ratio(row, peer):
    """Our best time over the peer's."""
    if "ours" not in row or peer not in row:
        return "–"
    return f"{row['ours']['best_ms'] / row[peer]['best_ms']:.2f}"


def markdown(rows):
    """A table; the ratio columns appear when there is something of ours."""
    columns = [n for n in ("onnxruntime", "pytorch", "rten", "ours") if any(n in r for r in rows)]
    peers = [n for n in columns if n != "ours"] if "ours" in columns else []
    header = ["model", "threads", *[f"{n} ms (best / median)" for n in columns], *[f"ours/{n}" for n in peers]]
    lines = [header, ["---"] * len(header)]
    for row in rows:
        times = [milliseconds(row.get(n)) for n in columns]
        lines.append([row["model"], str(row["threads"]), *times, *[ratio(row, n) for n in peers]])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", type=Path, help="ONNX files, or folders of them")
    parser.add_argument("--threads", default="1,2", help="thread counts, separated by commas")
    parser.add_argument("--repeats", type=int, default=20, help="timed passes per runner and round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ours", help="command template with {model} {threads} {repeats}")
    parser.add_argument("--json", action="store_true", help="JSON instead of a Markdown table")
    return parser.parse_args()


def model_files(paths):
    """Folders stand for the models in them."""
    files = [f for p in paths for f in (sorted(p.glob("*.onnx")) if p.is_dir() else [p])]
    missing = [str(f) for f in files if not f.is_file()]
    if missing or not files:
        raise SystemExit(f"no such model: {', '.join(missing) or 'the folders hold none'}")
    return files


def versions():
    """The peers' versions, as far as they took part."""
    known = {"onnxruntime": ort, "torch": sys.modules.get("torch")}
    return {name: module.__version__ for name, module in known.items() if module}


def main():
    args = parse()
    rows = []
    for path in model_files(args.models):
        for threads in map(int, args.threads.split(",")):
            rows.append(measure(path, threads, args))
            print(f"{path.stem}, {threads} threads: done", file=sys.stderr)
    print(json.dumps({"versions": versions(), "rows": rows}, indent=1) if args.json else markdown(rows))


if __name__ == "__main__":
    main()
