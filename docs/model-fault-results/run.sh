#!/usr/bin/env bash
# Runs the campaigns of the fault-injection study, each into a folder of its own; what is done is
# not done again:
#
#     docs/model-fault-results/run.sh FAULTLENS FOLDER [NAME…]
#
# FOLDER holds models/ (from train.sh) and mnist/ (the four idx files); runs go to FOLDER/runs. A
# campaign is a set of models and cases put before a list of faults: both are files beside this one.
set -euo pipefail

if (($# < 2)); then
    sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
faultlens=$1 folder=$2 here=$(cd "$(dirname "$0")" && pwd)
shift 2

campaigns() {
    local faults
    for faults in modes rates amounts layers; do
        echo "mnist-$faults" set-mnist.yaml $faults.yaml
        echo "signs-$faults" set-signs.yaml $faults.yaml
    done
    echo mnist-sparsity set-mnist.yaml sparsity.yaml
    echo signs-sparsity set-signs-few.yaml sparsity-few.yaml
    echo signs-first-conv set-signs-few.yaml first-conv-few.yaml
    echo mnist-first-conv set-mnist-conv.yaml first-conv.yaml
    echo mnist-width width.yaml
    echo masks masks.yaml
    echo generator generator.yaml
    echo steering steering.yaml
}

while read -r name parts; do
    if (($#)) && [[ " $* " != *" $name "* ]]; then
        continue
    fi
    (cd "$here" && cat $parts) >"$folder/$name.yaml"
    "$faultlens" run "$folder/$name.yaml" --output "$folder/runs/$name"
done < <(campaigns)
