#!/usr/bin/env python3
"""Writes the models of `quantised`, `text` and `pictures`: small networks of random weights, each
for an output or an operator that no model of the embedded world has. Needs nothing but Python;
the ONNX fields are numbered as in onnx.proto3."""

import os
import random
import struct

FLOAT, UINT8, INT8, INT32, INT64 = 1, 2, 3, 6, 7
PACKED = {FLOAT: "f", UINT8: "B", INT8: "b", INT32: "i", INT64: "q"}


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def field(at, content):
    """A field of a message: a whole number, text, or another message."""
    if isinstance(content, int):
        return varint(at << 3) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return varint(at << 3 | 2) + varint(len(content)) + content


def tensor(name, kind, dims, numbers):
    raw = struct.pack(f"<{len(numbers)}{PACKED[kind]}", *numbers)
    return b"".join(field(1, dim) for dim in dims) + field(2, kind) + field(8, name) + field(9, raw)


def node(kind, inputs, outputs, **attributes):
    message = b"".join(field(1, name) for name in inputs)
    message += b"".join(field(2, name) for name in outputs)
    message += field(3, outputs[0]) + field(4, kind)
    for name, value in attributes.items():
        attribute = field(1, name)
        if isinstance(value, list):
            attribute += b"".join(field(8, item) for item in value) + field(20, 7)
        else:
            attribute += field(3, value) + field(20, 2)
        message += field(5, attribute)
    return message


def value(name, dims):
    shape = b"".join(field(1, field(1, dim)) for dim in dims)
    return field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, shape)))


def model(name, inputs, outputs, nodes, weights):
    graph = b"".join(field(1, one) for one in nodes) + field(2, name)
    graph += b"".join(field(5, one) for one in weights)
    graph += b"".join(field(11, value(*one)) for one in inputs)
    graph += b"".join(field(12, value(*one)) for one in outputs)
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17))


def quantised(draw):
    """A classifier with eight-bit convolutions, whose last steps look the best score up by its place."""
    whole = lambda count, most: [draw.randint(-most, most) for _ in range(count)]
    weights = [
        tensor("in_scale", FLOAT, [], [1 / 255]), tensor("in_zero", UINT8, [], [0]),
        tensor("first.weight", INT8, [8, 3, 5, 5], whole(600, 90)),
        tensor("first.scale", FLOAT, [], [0.01]), tensor("first.zero", INT8, [], [0]),
        tensor("first.bias", INT32, [8], whole(8, 900)),
        tensor("mid_scale", FLOAT, [], [0.05]), tensor("mid_zero", UINT8, [], [100]),
        tensor("second.weight", INT8, [14, 8, 3, 3], whole(1008, 90)),
        tensor("second.scale", FLOAT, [], [0.01]), tensor("second.zero", INT8, [], [0]),
        tensor("out_scale", FLOAT, [], [0.4]), tensor("out_zero", UINT8, [], [128]),
    ]
    nodes = [
        node("QuantizeLinear", ["image", "in_scale", "in_zero"], ["fed"]),
        node("QLinearConv", ["fed", "in_scale", "in_zero", "first.weight", "first.scale", "first.zero",
                             "mid_scale", "mid_zero", "first.bias"], ["first"], strides=[4, 4]),
        node("QLinearConv", ["first", "mid_scale", "mid_zero", "second.weight", "second.scale",
                             "second.zero", "out_scale", "out_zero"], ["second"], strides=[2, 2]),
        node("DequantizeLinear", ["second", "out_scale", "out_zero"], ["real"]),
        node("GlobalAveragePool", ["real"], ["mean"]),
        node("Flatten", ["mean"], ["flat"]),
        # As a float on its way, so that a fault can make it point beyond the scores.
        node("ArgMax", ["flat"], ["index"], axis=1),
        node("Cast", ["index"], ["real_index"], to=FLOAT),
        node("Cast", ["real_index"], ["place"], to=INT64),
        node("GatherElements", ["flat", "place"], ["best"], axis=1),
        node("Sub", ["flat", "best"], ["scores"]),
    ]
    return model("quantised", [("image", [1, 3, 48, 48])], [("scores", [1, 14])], nodes, weights)


def text(draw):
    """Eight steps from left to right, each a letter of five or none."""
    normal = lambda count, size: [draw.gauss(0, size) for _ in range(count)]
    weights = [
        tensor("weight", FLOAT, [6, 3, 48, 6], normal(6 * 3 * 48 * 6, 0.05)),
        tensor("bias", FLOAT, [6], normal(6, 0.1)),
        tensor("shape", INT64, [3], [1, 6, 8]),
    ]
    nodes = [
        node("Conv", ["image", "weight", "bias"], ["steps"], strides=[6, 6]),
        node("Reshape", ["steps", "shape"], ["letters"]),
    ]
    return model("text", [("image", [1, 3, 48, 48])], [("letters", [1, 6, 8])], nodes, weights)


def pictures(draw):
    """Pictures of eight by eight pixels from vectors of six numbers."""
    normal = lambda count, size: [draw.gauss(0, size) for _ in range(count)]
    weights = [
        tensor("weight", FLOAT, [6, 192], normal(6 * 192, 0.5)),
        tensor("shape", INT64, [4], [1, 3, 8, 8]),
    ]
    nodes = [
        node("MatMul", ["vector", "weight"], ["pixels"]),
        node("Tanh", ["pixels"], ["bounded"]),
        node("Reshape", ["bounded", "shape"], ["picture"]),
    ]
    return model("pictures", [("vector", [1, 6])], [("picture", [1, 3, 8, 8])], nodes, weights)


for make in (quantised, text, pictures):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), make.__name__, "model.onnx")
    with open(path, "wb") as file:
        file.write(make(random.Random(1)))
