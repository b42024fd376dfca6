//! Gradients that mislead are found, and only those.

use faultlens_grid::Rows;
use faultlens_grid::analysis::{Options, analyse};

use super::generated::Study;

/// Attacks without gradients change the answers to so many of twenty samples, those with them to
/// so many.
fn rows(black: u64, white: u64) -> Rows {
    let mut rows = Study::default().rows();
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
    // The first model with each of its defences, and no other.
    assert_eq!(found.masking.len(), 2);
    let one = &found.masking[0];
    assert_eq!((one.black_box.changed.events, one.white_box.changed.events), (19, 5));
    assert!(one.p < 0.02, "{one:?}");
    let text = &found.conclusions.iter().find(|c| c.about == "masking").unwrap().text;
    assert!(text.starts_with("The gradients of resnet18 on digits"), "{text}");
    assert!(text.contains("mislead: hop_skip_jump"), "{text}");
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
