//! The data sets and values in `fixtures/lifelines`; its README says where they come from.

use faultlens_stats::survival::Lifetimes;

pub(crate) const SETS: [&str; 4] = ["rossi", "regression_dataset", "lung_months", "synth2k"];

const REFERENCE: &str = include_str!("../../fixtures/lifelines/reference.txt");

/// A data set with its duration and event column found by name.
pub(crate) fn load(name: &str) -> Lifetimes {
    let (text, duration, event) = match name {
        "rossi" => (include_str!("../../fixtures/lifelines/rossi.csv"), "week", "arrest"),
        "lung_months" => {
            (include_str!("../../fixtures/lifelines/lung_months.csv"), "time", "status")
        }
        "synth2k" => (include_str!("../../fixtures/lifelines/synth2k.csv"), "T", "E"),
        _ => (include_str!("../../fixtures/lifelines/regression_dataset.csv"), "T", "E"),
    };
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let rows: Vec<Vec<f64>> =
        lines.map(|l| l.split(',').map(|v| v.parse().unwrap()).collect()).collect();
    let column = |name: &str| {
        let at = names.iter().position(|n| *n == name).unwrap();
        rows.iter().map(|r| r[at]).collect::<Vec<f64>>()
    };
    let observed = column(event).iter().map(|&e| e == 1.0).collect();
    let mut data = Lifetimes::new(column(duration), observed).unwrap();
    for name in names.iter().filter(|n| **n != duration && **n != event) {
        data = data.covariate(name, column(name)).unwrap();
    }
    data
}

/// Every reference line of a data set, a model and a quantity: names first, then numbers.
pub(crate) fn lines(set: &str, model: &str, quantity: &str) -> Vec<Vec<&'static str>> {
    let found = REFERENCE
        .lines()
        .map(|line| line.split(' ').collect::<Vec<_>>())
        .filter(|parts| parts[..3] == [set, model, quantity]);
    found.map(|parts| parts[3..].to_vec()).collect()
}

/// A quantity of which there is one.
pub(crate) fn value(set: &str, model: &str, quantity: &str) -> f64 {
    let found = lines(set, model, quantity);
    assert_eq!(found.len(), 1, "{set} {model} {quantity}");
    found[0][0].parse().unwrap()
}

/// |got − want| in units of |want|.
pub(crate) fn relative(got: f64, want: f64) -> f64 {
    (got - want).abs() / want.abs()
}
