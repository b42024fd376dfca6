//! Brier scores beside scikit-survival; `fixtures/hare` says how the data were made.

use faultlens_stats::survival::{
    Lifetimes, SurvivalError, brier_horizon, brier_score, integrated_brier_score,
};

use crate::survival::data::relative;

const REFERENCE: &str = include_str!("../../fixtures/hare/brier.txt");

fn rows(name: &str) -> (Lifetimes, Vec<f64>) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/hare");
    let text = std::fs::read_to_string(format!("{folder}/{name}.csv")).unwrap();
    let numbers = |line: &str| line.split(',').map(|v| v.parse().unwrap()).collect();
    let rows: Vec<Vec<f64>> = text.lines().skip(1).map(numbers).collect();
    let times = rows.iter().map(|row| row[0]).collect();
    let observed = rows.iter().map(|row| row[1] == 1.0).collect();
    (Lifetimes::new(times, observed).unwrap(), rows.iter().map(|row| row[2]).collect())
}

#[test]
fn scores_as_scikit_survival() {
    for line in REFERENCE.lines() {
        let (name, numbers) = line.split_once(' ').unwrap();
        let numbers: Vec<f64> = numbers.split(' ').map(|n| n.parse().unwrap()).collect();
        let [time, at_time, horizon, integrated] = numbers[..] else { panic!("{line}") };
        let (data, chances) = rows(name);
        let got = brier_score(&data, &chances, time).unwrap();
        // Where an event and a censoring share a time, scikit-survival lets the censoring come first.
        assert!(relative(got, at_time) < 1e-5, "{name}: {got} {at_time}");
        let got = integrated_brier_score(&data, horizon, |t| {
            let power = (t / time).powf(1.5);
            Ok(chances.iter().map(|p| 1.0 - (1.0 - p).powf(power)).collect())
        })
        .unwrap();
        assert!(relative(got, integrated) < 1e-5, "{name}: {got} {integrated}");
    }
}

/// Without censoring it is the mean squared difference; copies are weights.
#[test]
fn scores_by_hand() {
    let times = vec![1.0, 2.0, 3.0, 4.0];
    let chances = [0.9, 0.5, 0.4, 0.1];
    let data = Lifetimes::new(times.clone(), vec![true; 4]).unwrap();
    let want = (0.01 + 0.25 + 0.16 + 0.01) / 4.0;
    assert!((brier_score(&data, &chances, 2.5).unwrap() - want).abs() < 1e-15);
    let weighted = data.clone().weights(vec![3.0, 1.0, 1.0, 1.0]).unwrap();
    let want = (3.0 * 0.01 + 0.25 + 0.16 + 0.01) / 6.0;
    assert!((brier_score(&weighted, &chances, 2.5).unwrap() - want).abs() < 1e-15);
    // The second row is censored before 2.5: it says nothing, and the two that stay count half
    // more, by a chance of 2/3 not to be censored.
    let censored = Lifetimes::new(times.clone(), vec![true, false, true, true]).unwrap();
    let want = (0.01 + 1.5 * (0.16 + 0.01)) / 4.0;
    assert!((brier_score(&censored, &chances, 2.5).unwrap() - want).abs() < 1e-15);
    assert_eq!(brier_horizon(&data), 3.7);
    let late = data.clone().late_entry(vec![0.0, 0.5, 0.0, 0.0]).unwrap();
    assert_eq!(brier_score(&late, &chances, 2.5), Err(SurvivalError::LateEntries));
    assert!(brier_score(&data, &chances[..2], 2.5).is_err());
    assert!(brier_score(&data, &[2.0; 4], 2.5).is_err());
    assert!(brier_score(&data, &chances, 0.0).is_err());
}
