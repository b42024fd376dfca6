#!/usr/bin/env bash
# Trains the shipped models again, into this folder. The same program gives the same models,
# byte for byte; cards also tell how long it took.
set -euo pipefail
cd "$(dirname "$0")"
faultlens() { cargo run --release --quiet -- "$@"; }

faultlens train convnet:16,32,64 --data world:signs --epochs 8 --rate 0.1 -o signs-shallow.onnx
faultlens train convnet:16x2,32x2,64x2 --data world:signs --epochs 8 --rate 0.1 -o signs-middle.onnx
faultlens train convnet:12x3,24x3,48x3 --data world:signs --epochs 8 --rate 0.1 -o signs-deep.onnx
faultlens train detector:12,24x2,48x3 --data world:scenes --epochs 10 --batch 16 --rate 0.02 -o detector.onnx
faultlens train unet:8,3 --data world:scenes:1200 --epochs 8 --batch 8 --rate 0.1 -o segmenter.onnx
faultlens train pilotnet:0.4 --data world:scenes --epochs 25 --batch 16 --rate 0.01 -o steering.onnx
