//! What a made-up run says about human tolerance.

use crate::fixture::HOSTILE;
use faultlens_analysis::{
    AtEnd, BatchMean, BatchNumbers, BatchRule, ChangeBin, Diagnosis, Distance, Mean, Missing,
    Preserved, PreservedReason, Ranks, ScoreDifference, Verdict, WorstClass,
};

fn mean(value: f64, n: u64) -> Mean {
    Mean { value: Some(value), low: value - 0.1, high: value + 0.05, n }
}

fn one(target: &str, reached: f64, verdict: Verdict, place: u64) -> Preserved {
    let bin = |at: u64| ChangeBin {
        from: 0.05 * at as f64,
        to: 0.05 * (at + 1) as f64,
        n: 40 - 2 * at,
        score: mean(0.95 - 0.03 * at as f64, 40 - 2 * at),
        people: (at < 14).then_some(0.967),
    };
    let distance = 0.91 - reached;
    Preserved {
        name: None,
        requirement: format!("correctness preserved where people do ({HOSTILE})"),
        what: "correctness".into(),
        target: target.into(),
        fault: "frost".into(),
        metric: "accuracy".into(),
        tolerance: HOSTILE.into(),
        source: HOSTILE.into(),
        tolerated: 0.61,
        tolerated_interval: Some((0.45, 0.72)),
        ends: [(0.45, Verdict::Inconclusive), (0.72, verdict)]
            .map(|(at_most, verdict)| AtEnd {
                at_most,
                tried_up_to: 0.44,
                difference: None,
                verdict,
                part_tried: false,
            })
            .to_vec(),
        both_ends: false,
        population: "new_images",
        rule: "images",
        required: Some(0.91),
        reached: Some(reached),
        difference: Some(ScoreDifference {
            value: -distance,
            low: Some(-distance - 0.041),
            high: Some(-distance + 0.041),
        }),
        margin: 0.02,
        alpha: 0.025,
        batch_rule: Some(BatchRule {
            required: BatchMean { mean: 0.91, deviation: 0.03 },
            reached: BatchMean { mean: reached, deviation: 0.04 },
            distance: Distance {
                value: distance,
                deviation: 0.05,
                low: distance - 0.082,
                high: distance + 0.082,
                again: distance + 0.02,
                settled: false,
            },
            alpha: 0.05,
            margin: 0.0,
            batches: BatchNumbers { number: 200, size: 50, suggested: 768 },
            verdict: Verdict::Inconclusive,
        }),
        tried_up_to: 0.6,
        images: 200,
        images_outside: 12,
        versions: 1_520,
        outside: 480,
        out_of_reach: 3,
        unknown_change: 0,
        missing: Missing::default(),
        verdict,
        reason: match verdict {
            Verdict::NotMet => PreservedReason::BeyondMargin,
            Verdict::Met => PreservedReason::WithinMargin,
            Verdict::Inconclusive => PreservedReason::StraddlesMargin,
        },
        ranks: Some(Ranks { difference: place, accuracy: Some(1), of: 2 }),
        diagnosis: Diagnosis {
            curve: (0..20).map(bin).collect(),
            below_people_from: Some(0.15),
            hmri: Some(0.873),
            mrsi: Some(0.012),
            worst: vec![WorstClass {
                class: HOSTILE.into(),
                n: 44,
                before: Some(0.95),
                after: 0.4,
            }],
        },
    }
}

/// Two targets under one fault.
pub(crate) fn preserved() -> Vec<Preserved> {
    vec![
        one("sign-small", 0.73, Verdict::NotMet, 2),
        one("sign-large", 0.9, Verdict::Inconclusive, 1),
    ]
}
