//! Gradients that mislead are found, and only those.

use faultlens_analysis::sweep::{Options, Rows, analyse};

use super::generated::Sweep;

/// Attacks without gradients change the answers to so many of twenty samples, those with them to
/// so many.
fn rows(black: u64, white: u64) -> Rows {
    let mut rows = Sweep::default().rows();
    for row in &mut rows.rows {
        let of = &rows.configurations[row.configuration as usize];
        let sample: u64 = row.sample.parse().unwrap();
        let first = of.epochs == 10 && of.permutation == 0 && of.layers == 18;
        let most = match of.attack.name.as_str() {
            "hop_skip_jump" if first => black,
            _ => white,
        };
        row.changed = sample < most;
    }
    rows
}

#[test]
fn gradients_that_mislead_are_found() {
    let found = analyse(&rows(19, 5), &Options::default()).unwrap();
    // 54 defended models, each at three limits.
    assert_eq!(found.masking_looks, 162);
    // The first model with each of its defences at each limit, and no other.
    assert_eq!(found.masking.len(), 6);
    let one = &found.masking[0];
    assert_eq!((one.norm.as_str(), one.epsilon), ("inf", 0.01));
    assert_eq!((one.asking.events, one.following.events, one.asking.n), (19, 5, 20));
    // 14 samples of which chance would give all to one side, 162 looks.
    assert!((one.p - 162.0 * 0.5_f64.powi(13)).abs() < 1e-9, "{one:?}");
    let text = &found.conclusions.iter().find(|c| c.about == "masking").unwrap().text;
    assert!(text.starts_with("The gradients of resnet18 on digits"), "{text}");
    assert!(text.contains("by changes of at most 0.01 (norm inf) attacks without them"), "{text}");
}

/// Larger changes say nothing about gradients.
#[test]
fn changes_are_compared_at_the_same_size() {
    let mut rows = rows(19, 5);
    for row in &mut rows.rows {
        if rows.configurations[row.configuration as usize].needs == "answers" {
            row.distance_inf = Some(0.05);
        }
    }
    let found = analyse(&rows, &Options::default()).unwrap();
    let limits: Vec<f64> = found.masking.iter().map(|one| one.epsilon).collect();
    assert_eq!(limits, [0.1, 1.0, 0.1, 1.0]);
    for row in &mut rows.rows {
        (row.distance_inf, row.distance_2) = (None, None);
    }
    assert!(analyse(&rows, &Options::default()).unwrap().masking.is_empty());
}

#[test]
fn a_small_difference_or_none_is_not_called_misleading() {
    for (black, white) in [(9, 8), (5, 19), (20, 20)] {
        let found = analyse(&rows(black, white), &Options::default()).unwrap();
        assert!(found.masking.is_empty(), "{black} {white}: {:?}", found.masking);
        let text = &found.conclusions.iter().find(|c| c.about == "masking").unwrap().text;
        assert!(text.starts_with("No model was found whose gradients mislead"));
    }
}
