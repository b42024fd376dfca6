"""Writes what ONNX Runtime answers on real models and real images, for comparison.

    python agreement.py ASSETS --out DIR [--variants] [--images]

For each model it writes DIR/<model>.input.bin (all images, float32, row-major),
DIR/<model>.output_<i>.bin and DIR/<model>.json (names, shapes, files, labels). An engine
that reads the same input tensors can then be compared without any doubt about the
preprocessing. Images go through the model one at a time.

--variants also makes quantised and half-precision versions of the classifiers in
DIR/models and records them in the same way. --images also writes the array data sets as
PNG files, for tools that start from image files.
"""

import argparse
import csv
import json
from pathlib import Path

import numpy as np
import onnxruntime as ort
from PIL import Image

IMAGENET_MEAN = np.array([0.485, 0.456, 0.406], np.float32)
IMAGENET_STD = np.array([0.229, 0.224, 0.225], np.float32)

PREPROCESSING_NOTE = """\
# How the inputs of efficientnet_lite0_imagenet were made, in this order
decode: PIL, convert to RGB
crop: {crop: center, side: "round(0.875 * short side)", left: "(width - side) // 2", top: "(height - side) // 2"}
resize: {width: 224, height: 224, filter: bicubic, library: PIL, antialias: true, on: uint8}
scale: "(x - 127) / 128"
layout: NCHW, RGB
"""


# --- images to tensors ------------------------------------------------------------


def chw(image):
    """Height, width, channel to channel, height, width."""
    return np.ascontiguousarray(np.asarray(image, np.float32).transpose(2, 0, 1))


def center_crop(image, share):
    """A square from the middle, `share` of the short side."""
    width, height = image.size
    side = round(share * min(width, height))
    left, top = (width - side) // 2, (height - side) // 2
    return image.crop((left, top, left + side, top + side))


def for_efficientnet(image):
    image = center_crop(image, 0.875).resize((224, 224), Image.Resampling.BICUBIC)
    return (chw(image) - 127) / 128


def for_yolox(image):
    """Shrunk to fit, in the top-left corner of a grey square, BGR."""
    ratio = 416 / max(image.size)
    size = [max(1, int(n * ratio)) for n in image.size]
    canvas = Image.new("RGB", (416, 416), (114, 114, 114))
    canvas.paste(image.resize(size, Image.Resampling.BILINEAR), (0, 0))
    return chw(canvas)[::-1]


def for_fastestdet(image):
    return chw(image.resize((352, 352), Image.Resampling.BILINEAR))[::-1] / 255


def for_ultraface(image):
    return (chw(image.resize((320, 240), Image.Resampling.BILINEAR)) - 127) / 128


def for_cifar(pixels):
    return chw((pixels.astype(np.float32) / 255 - IMAGENET_MEAN) / IMAGENET_STD)


def for_mnist(pixels):
    return pixels.astype(np.float32)[None]


# --- data sets --------------------------------------------------------------------


def from_folder(folder, prepare, label_column=None):
    """Image files in the order of labels.csv, or of their names."""
    table = folder / "labels.csv"
    rows = list(csv.DictReader(table.open())) if table.exists() else None
    files = [r["file"] for r in rows] if rows else sorted(p.name for p in folder.glob("*.jpg"))
    tensors = [prepare(Image.open(folder / f).convert("RGB")) for f in files]
    labels = [int(r[label_column]) for r in rows] if label_column else None
    return np.stack(tensors), files, labels


def from_arrays(path, prepare):
    """A pair of arrays x and y."""
    data = np.load(path)
    return np.stack([prepare(x) for x in data["x"]]), None, [int(y) for y in data["y"]]


def cases(data):
    """Model file stem to a function that loads its inputs."""
    return {
        "efficientnet_lite0_imagenet": lambda: from_folder(data / "imagenet_val", for_efficientnet, "class_index"),
        "cifar10_resnet20": lambda: from_arrays(data / "cifar10_test_1000.npz", for_cifar),
        "mnist_cntk": lambda: from_arrays(data / "mnist_test_2000.npz", for_mnist),
        "yolox_nano_416_coco": lambda: from_folder(data / "coco_val", for_yolox),
        "fastestdet_352_coco": lambda: from_folder(data / "coco_val", for_fastestdet),
        "ultraface_rfb320": lambda: from_folder(data / "utkface", for_ultraface),
    }


# --- asking and recording ---------------------------------------------------------


def open_session(path):
    """Default optimisation, as deployed; one thread, so that runs repeat bit for bit."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def ask(path, inputs):
    """Every output for every image, stacked along the first axis."""
    session = open_session(path)
    given = session.get_inputs()[0]
    dtype = np.float16 if "float16" in given.type else np.float32
    answers = [session.run(None, {given.name: x[None].astype(dtype)}) for x in inputs]
    names = [o.name for o in session.get_outputs()]
    return given.name, {n: np.concatenate([a[i] for a in answers]) for i, n in enumerate(names)}


def write_array(out, name, array):
    """Raw float32; returns what the description says about it."""
    array = np.ascontiguousarray(array, np.float32)
    array.tofile(out / name)
    return {"file": name, "dtype": "float32", "shape": list(array.shape)}


def record(out, name, path, inputs, files, labels, input_file=None):
    """Asks one model and writes its answers; `input_file` shares another model's inputs."""
    input_name, answers = ask(path, inputs)
    described = input_file or write_array(out, f"{name}.input.bin", inputs)
    outputs = [{"name": n, **write_array(out, f"{name}.output_{i}.bin", v)} for i, (n, v) in enumerate(answers.items())]
    first = next(iter(answers.values()))
    description = {
        "model": str(path), "onnxruntime": ort.__version__, "input": {"name": input_name, **described},
        "outputs": outputs, "files": files, "labels": labels,
        "top1": float(np.mean(first.argmax(-1) == np.array(labels))) if labels else None,
    }
    (out / f"{name}.json").write_text(json.dumps(description, indent=1))
    top1 = f", top-1 {description['top1']:.4f}" if labels else ""
    print(f"{name}: {len(inputs)} images{top1}", flush=True)
    return described


# --- quantised and half-precision versions ----------------------------------------


def calibration(input_name, inputs):
    """A reader in the shape that the quantiser wants."""
    from onnxruntime.quantization import CalibrationDataReader

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.rest = iter(inputs)

        def get_next(self):
            x = next(self.rest, None)
            return None if x is None else {input_name: x[None]}

    return Reader()


def quantise(source, target, inputs, operators, per_channel):
    """Static quantisation, as boxes of QuantizeLinear/DequantizeLinear or as integer operators."""
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    prepared = target.with_suffix(".prepared.onnx")
    quant_pre_process(str(source), str(prepared), skip_symbolic_shape=True)
    quantize_static(
        str(prepared), str(target), calibration(open_session(source).get_inputs()[0].name, inputs),
        quant_format=QuantFormat.QOperator if operators else QuantFormat.QDQ, per_channel=per_channel,
        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
    )
    prepared.unlink()


def quantise_dynamically(source, target):
    """Weights in eight bits, activations quantised on the way."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(str(source), str(target), weight_type=QuantType.QUInt8)


def halve(source, target):
    """Everything in float16, inputs and outputs too."""
    import onnx
    from onnxruntime.transformers.float16 import convert_float_to_float16

    onnx.save(convert_float_to_float16(onnx.load(source)), target)


def make_variants(source, folder, inputs):
    """The versions made of one model, by name; every 10th image calibrates."""
    stem, some = source.stem, inputs[::10]
    made = {}
    if stem in ("cifar10_resnet20", "efficientnet_lite0_imagenet"):
        per_channel = stem.startswith("efficientnet")
        for kind in ("qdq", "qoperator"):
            made[f"{stem}.{kind}"] = lambda to, k=kind: quantise(source, to, some, k == "qoperator", per_channel)
    if stem == "cifar10_resnet20":
        made[f"{stem}.fp16"] = lambda to: halve(source, to)
    if stem == "mnist_cntk":
        made[f"{stem}.dynamic"] = lambda to: quantise_dynamically(source, to)
    folder.mkdir(exist_ok=True)
    for name, make in made.items():
        make(folder / f"{name}.onnx")
    return list(made)


# --- images ------------------------------------------------------------------------


def write_images(path, folder):
    """An array data set as numbered PNG files and labels.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    data = np.load(path)
    with (folder / "labels.csv").open("w", newline="") as table:
        rows = csv.writer(table)
        rows.writerow(["file", "label"])
        for i, (x, y) in enumerate(zip(data["x"], data["y"])):
            Image.fromarray(x).save(folder / f"{i:04d}.png")
            rows.writerow([f"{i:04d}.png", int(y)])


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("assets", type=Path, help="folder with models/ and data/")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", help="only models whose name starts so")
    parser.add_argument("--variants", action="store_true", help="quantised and half-precision versions too")
    parser.add_argument("--images", action="store_true", help="array data sets as PNG files too")
    return parser.parse_args()


def main():
    args = parse()
    args.out.mkdir(parents=True, exist_ok=True)
    for stem, load in cases(args.assets / "data").items():
        if args.only and not stem.startswith(args.only):
            continue
        inputs, files, labels = load()
        source = args.assets / "models" / f"{stem}.onnx"
        described = record(args.out, stem, source, inputs, files, labels)
        for name in make_variants(source, args.out / "models", inputs) if args.variants else []:
            record(args.out, name, args.out / "models" / f"{name}.onnx", inputs, files, labels, described)
    (args.out / "efficientnet.input.yaml").write_text(PREPROCESSING_NOTE)
    if args.images:
        write_images(args.assets / "data/cifar10_test_1000.npz", args.out / "images/cifar10")
        write_images(args.assets / "data/mnist_test_2000.npz", args.out / "images/mnist")


if __name__ == "__main__":
    main()
