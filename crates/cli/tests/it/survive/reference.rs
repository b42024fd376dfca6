//! What the command prints beside what lifelines found on the same files.

use std::path::Path;

use serde_json::Value;

use super::{estimate, object};
use crate::folder::Folder;

const SETS: [(&str, &str, &str); 4] = [
    ("rossi", "week", "arrest"),
    ("regression_dataset", "T", "E"),
    ("lung_months", "time", "status"),
    ("synth2k", "T", "E"),
];
const MODELS: [&str; 6] = ["exponential", "weibull", "lognormal", "loglogistic", "gengamma", "cox"];

fn fixture(name: &str) -> String {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stats/tests/fixtures/lifelines");
    std::fs::read_to_string(fixtures.join(name)).unwrap()
}

/// The reference lines of a data set, a model and a quantity: names first, then numbers.
fn wanted(set: &str, model: &str, quantity: &str) -> Vec<Vec<String>> {
    let start = format!("{set} {model} {quantity} ");
    let rest = |line: &str| {
        Some(line.strip_prefix(&start)?.split(' ').map(str::to_owned).collect::<Vec<String>>())
    };
    fixture("reference.txt").lines().filter_map(rest).collect()
}

fn value(set: &str, model: &str, quantity: &str) -> f64 {
    wanted(set, model, quantity)[0][0].parse().unwrap()
}

#[test]
fn every_model_as_lifelines() {
    let folder = Folder::new("survive_reference");
    for (set, duration, event) in SETS {
        folder.text("data.csv", &fixture(&format!("{set}.csv")));
        for model in MODELS {
            let args = format!(
                "data.csv --duration {duration} --event {event} --model {model} --resamples 0"
            );
            let got = object(&folder, &args);
            let case = format!("{set} {model}");
            let number = |key: &str| got[key].as_f64().unwrap();
            // lifelines stops some fits short of the maximum.
            let gain = number("log_likelihood") - value(set, model, "log_likelihood");
            assert!(gain > -1e-6 && gain < 4e-4, "{case}: {gain}");
            let lines = wanted(set, model, "coefficient");
            assert_eq!(got["coefficients"].as_array().unwrap().len(), lines.len());
            for line in lines {
                let own = estimate(&got, &line[0], &line[1]);
                let [want, se] = [2, 3].map(|i: usize| line[i].parse::<f64>().unwrap());
                // Its standard errors of the generalised gamma can be six times too large.
                assert!((own - want).abs() < 0.03 * se, "{case} {line:?}: {own}");
            }
            let concordance = value(set, model, "concordance");
            assert!((number("concordance") - concordance).abs() < 5e-4, "{case}");
            let k = got["coefficients"].as_array().unwrap().len() as f64;
            let (aic, bic) = (number("aic"), number("bic"));
            let loss = -2.0 * number("log_likelihood");
            assert!((aic - loss - 2.0 * k).abs() < 1e-9);
            // Censored rows add nothing to a partial likelihood.
            let size = if model == "cox" { "events" } else { "rows" };
            assert!((bic - loss - k * number(size).ln()).abs() < 1e-9);
        }
    }
}

#[test]
fn calibration_as_lifelines() {
    let folder = Folder::new("survive_calibration");
    folder.text("data.csv", &fixture("synth2k.csv")).text("rossi.csv", &fixture("rossi.csv"));
    let cases = [
        ("synth2k", "data.csv --duration T --event E --time 15"),
        // Where lifelines' spline ends left of its knots, it has no bend.
        ("rossi", "rossi.csv --duration week --event arrest --time 30 --smoothing straight"),
    ];
    for (set, args) in cases {
        for model in ["weibull", "lognormal", "loglogistic", "exponential", "gengamma"] {
            let got = object(&folder, &format!("{args} --model {model} --resamples 0"));
            for (key, own) in [("ici", "ici_lifelines"), ("e50", "e50_lifelines")] {
                // Its own spline is told beside whatever smoothing was asked for.
                let own = if args.contains("straight") { key } else { own };
                let off = (got[own].as_f64().unwrap() - value(set, model, key)).abs();
                assert!(off < 1e-3, "{set} {model} {key}: {off}");
            }
        }
    }
}

/// A column of the table, multiplied.
fn in_unit(text: &str, column: &str, factor: f64) -> String {
    let at = text.lines().next().unwrap().split(',').position(|name| name == column).unwrap();
    let line = |(i, line): (usize, &str)| {
        let scaled = |(j, value): (usize, &str)| match (i, j == at) {
            (0, _) | (_, false) => value.to_owned(),
            _ => format!("{:e}", value.parse::<f64>().unwrap() * factor),
        };
        line.split(',').enumerate().map(scaled).collect::<Vec<_>>().join(",")
    };
    text.lines().enumerate().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn days_years_and_nanoseconds_give_the_same_fit() {
    let folder = Folder::new("survive_units");
    let text = fixture("rossi.csv");
    folder.text("weeks.csv", &text);
    let fit = |file: &str, model: &str| {
        object(
            &folder,
            &format!("{file} --duration week --event arrest --model {model} --resamples 0"),
        )
    };
    // From weeks.
    for (file, factor) in
        [("days.csv", 7.0), ("years.csv", 7.0 / 365.25), ("nanoseconds.csv", 604_800e9)]
    {
        folder.text(file, &in_unit(&text, "week", factor));
        for model in MODELS {
            let (weeks, other) = (fit("weeks.csv", model), fit(file, model));
            same(&weeks, &other, factor, &format!("{file} {model}"));
        }
    }
}

/// Only the location's intercept and the likelihood's unit move.
fn same(weeks: &Value, other: &Value, factor: f64, case: &str) {
    for (a, b) in weeks["coefficients"]
        .as_array()
        .unwrap()
        .iter()
        .zip(other["coefficients"].as_array().unwrap())
    {
        let shifts = a["covariate"] == "Intercept"
            && ["lambda", "mu", "alpha"].contains(&a["parameter"].as_str().unwrap())
            && a["parameter"] == weeks["coefficients"][0]["parameter"];
        let moved = if shifts { factor.ln() } else { 0.0 };
        let [a, b, se] = [&a["estimate"], &b["estimate"], &a["se"]].map(|v| v.as_f64().unwrap());
        assert!((a + moved - b).abs() < 1e-5 * se, "{case}: {a} {b}");
    }
    for key in ["concordance", "ici", "e50"] {
        let [a, b] = [weeks, other].map(|of| of[key].as_f64().unwrap());
        assert!((a - b).abs() < 1e-6, "{case} {key}: {a} {b}");
    }
}
