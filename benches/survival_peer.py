"""Survival fits beside lifelines: milliseconds of one thread's processor time for a whole fit with
standard errors, the best of several in turns on the same rows; reading the table is not counted.

usage: python benches/survival_peer.py --ours target/release/survival [--rows 2000,20000]
           [--alone 200000,1000000]
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

MODELS = "exponential weibull lognormal loglogistic gengamma cox concordance calibration".split()
COVARIATES = 8


def write(rows, path):
    """Weibull durations on eight covariates, half of them binary, about a third censored."""
    import numpy as np

    draw = np.random.default_rng(rows)
    columns = [draw.normal(size=rows) if k % 2 == 0 else draw.integers(0, 2, rows) for k in range(COVARIATES)]
    location = sum(0.1 * k * column for k, column in enumerate(columns))
    times = np.exp(location) * draw.weibull(1.4, rows)
    ends = 15 * draw.uniform(size=rows)
    table = np.column_stack([np.minimum(times, ends), times <= ends, *columns])
    names = ",".join(["T", "E", *(f"x{k}" for k in range(COVARIATES))])
    np.savetxt(path, table, delimiter=",", header=names, comments="", fmt="%.10g")


def fits(table):
    """What each model is in lifelines, as a call that fits it."""
    import autograd.numpy as np
    import lifelines
    from lifelines.calibration import survival_probability_calibration
    from lifelines.fitters import ParametricRegressionFitter
    from lifelines.utils import concordance_index

    class ExponentialAFT(ParametricRegressionFitter):
        _fitted_parameter_names = ["lambda_"]

        def _cumulative_hazard(self, params, T, Xs):
            return T / np.exp(np.dot(Xs["lambda_"], params["lambda_"]))

    covariates = " + ".join(f"x{k}" for k in range(COVARIATES))
    gamma = {"mu_": covariates, "sigma_": "1", "lambda_": "1"}
    fitted = lifelines.WeibullAFTFitter().fit(table, "T", "E")
    medians = fitted.predict_median(table)
    middle = float(np.median(table["T"][table["E"] == 1]))
    return {
        "exponential": lambda: ExponentialAFT().fit(table, "T", "E", regressors={"lambda_": covariates}),
        "weibull": lambda: lifelines.WeibullAFTFitter().fit(table, "T", "E"),
        "lognormal": lambda: lifelines.LogNormalAFTFitter().fit(table, "T", "E"),
        "loglogistic": lambda: lifelines.LogLogisticAFTFitter().fit(table, "T", "E"),
        "gengamma": lambda: lifelines.GeneralizedGammaRegressionFitter().fit(table, "T", "E", regressors=gamma),
        "cox": lambda: lifelines.CoxPHFitter().fit(table, "T", "E"),
        "concordance": lambda: concordance_index(table["T"], medians, table["E"]),
        "calibration": lambda: survival_probability_calibration(fitted, table, middle),
    }


def work(path, repeats):
    """Times lifelines in this process; prints a JSON object."""
    import contextlib
    import matplotlib
    import pandas

    matplotlib.use("Agg")
    warnings.simplefilter("ignore")
    best = {}
    for name, call in fits(pandas.read_csv(path)).items():
        for _ in range(repeats):
            start = time.process_time()
            try:
                with contextlib.redirect_stdout(None):
                    call()
            except Exception as error:  # A fit that fails has no time.
                print(f"{name}: {error}".splitlines()[0][:200], file=sys.stderr)
                break
            took = (time.process_time() - start) * 1e3
            best[name] = min(took, best.get(name, took))
    print(json.dumps(best))


def main():
    if sys.argv[1:2] == ["--worker"]:
        return work(sys.argv[2], int(sys.argv[3]))
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--ours", required=True)
    arguments.add_argument("--rows", default="2000,20000")
    arguments.add_argument("--alone", default="")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--repeats", type=int, default=2)
    given = arguments.parse_args()
    single = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    folder = pathlib.Path(tempfile.mkdtemp())

    def told(command, best):
        out = subprocess.run(command, env=single, check=True, stdout=subprocess.PIPE, text=True).stdout
        for name, took in json.loads(out.strip().splitlines()[-1]).items():
            best[name] = min(took, best.get(name, took))

    print("| rows | model | lifelines ms | ours ms | times faster |\n|---|---|---|---|---|")
    for rows in (int(n) for n in given.rows.split(",") if n):
        path = folder / f"{rows}.csv"
        write(rows, path)
        own, peer = {}, {}
        for _ in range(given.rounds):
            told([given.ours, str(path), "--repeats", str(3 * given.repeats)], own)
            told([sys.executable, __file__, "--worker", str(path), str(given.repeats)], peer)
        for name in MODELS:
            beside = f"{peer[name]:.0f} | {own[name]:.2f} | {peer[name] / own[name]:.0f}" if name in peer else f"– | {own[name]:.2f} | –"
            print(f"| {rows:,} | {name} | {beside} |", flush=True)
    for rows in (int(n) for n in given.alone.split(",") if n):
        path, own = folder / f"{rows}.csv", {}
        write(rows, path)
        for _ in range(given.rounds):
            told([given.ours, str(path), "--repeats", "1"], own)
        print(f"| {rows:,} | " + ", ".join(f"{name} {own[name]:,.0f} ms" for name in MODELS) + " |", flush=True)


if __name__ == "__main__":
    main()
