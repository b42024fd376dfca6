"""A model served by faultlens, and what the same model says without a service between."""

import atexit
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import tempfile

FAULTLENS = os.environ["FAULTLENS"]
CLASSIFIER = "world:signs-shallow"
DETECTOR = "world:detector"

_FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="faultlens-clients-"))
atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)


def scenes():
    """Road scenes of 128×128 pixels, as PNG files."""
    folder = _FOLDER / "scenes"
    if not folder.exists():
        command = [FAULTLENS, "world", "export", str(folder), "--signs", "0", "--scenes", "6"]
        subprocess.run(command, check=True, capture_output=True)
    return sorted(folder.rglob("*.png"))[:6]


def asked(model, image):
    """The answer of `faultlens ask --json`; probabilities of a classifier."""
    command = [FAULTLENS, "ask", model, str(image), "--json", "--top", "1000"]
    if model == CLASSIFIER:
        described = _FOLDER / "probabilities.yaml"
        described.write_text("output: {kind: logits, softmax: true}\n")
        command += ["--input", str(described)]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def single(number):
    """The number in 32 bits, in which models compute."""
    return struct.unpack("f", struct.pack("f", number))[0]


def ranking(image):
    """Names and probabilities of the classifier."""
    places = asked(CLASSIFIER, image)["ranking"]
    return [(place["label"], single(place["score"])) for place in places]


def objects(image):
    """Names, scores and boxes (left, top, right, bottom in pixels) of the detector."""
    found = asked(DETECTOR, image)["objects"]
    return [(o["label"], single(o["score"]), [single(side) for side in o["box"]]) for o in found]


class Serving:
    """`faultlens serve` on a free port for as long as the block lasts."""

    def __init__(self, model, wire, *more):
        command = [FAULTLENS, "serve", model, "--as", wire, "--port", "0", "--json", *more]
        self.command = command

    def __enter__(self):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(self.command, **pipes)
        told = json.loads(self.process.stdout.readline())
        self.url, self.version, self.model = told["address"], told["version"], told["model"]
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=30)
        assert self.process.returncode == 0, self.process.returncode
