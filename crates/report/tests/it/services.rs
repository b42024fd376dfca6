//! What a run of services says, with a hostile name wherever one can stand.

use super::fixture::{HOSTILE, rate};
use faultlens_analysis::{
    AttackResult, Benefit, BenefitRow, DetectionPoint, DetectionQuality, FairGroup, FairPoint,
    Fairness, Gap, GradedFault, KCurve, Masking, Mean, Measure, MeasureChange, MeasureChangeRow,
    SideBySide, SideRow, SurvivingShare,
};
use faultlens_record::{ServiceAccount, Spending};

fn mean(value: f64) -> Mean {
    Mean { value: Some(value), low: value - 0.1, high: value + 0.1, n: 40 }
}

pub(crate) fn side_by_side() -> SideBySide {
    let row = |fault: &str, control, events: [u64; 2]| SideRow {
        fault: fault.into(),
        control,
        cells: events.map(|events| Some(rate(events, 100))).to_vec(),
        initial: vec![Some(rate(events[0] / 2, 50)), None],
        mean: Some((events[0] + events[1]) as f64 / 200.0),
    };
    SideBySide {
        targets: vec!["sign-small".into(), HOSTILE.into()],
        rows: vec![
            row("gaussian_noise", false, [62, 41]),
            row(HOSTILE, false, [30, 5]),
            row("unchanged", true, [0, 1]),
        ],
        means: vec![Some(0.46), Some(0.23)],
        initial_means: vec![Some(0.2), None],
    }
}

pub(crate) fn k_curves() -> Vec<KCurve> {
    let curve = |target: &str, against: &str| KCurve {
        target: target.into(),
        against: against.into(),
        rates: (1..=10).map(|k| rate(60 / k, 100)).collect(),
    };
    vec![curve("sign-small", "golden"), curve(HOSTILE, "golden"), curve("sign-small", "truth")]
}

pub(crate) fn measure_change() -> MeasureChange {
    let rows =
        [HOSTILE, "fog"].map(|fault| MeasureChangeRow { fault: fault.into(), mean: mean(0.3) });
    MeasureChange {
        target: HOSTILE.into(),
        measure: Measure::ConfidenceLost,
        rows: rows.to_vec(),
        all: mean(0.31),
    }
}

pub(crate) fn fairness() -> Fairness {
    let point = |fault: Option<&str>, found: u64| FairPoint {
        fault: fault.map(Into::into),
        groups: [("male", 38), (HOSTILE, found)]
            .map(|(name, found)| FairGroup {
                name: name.into(),
                found: Some(rate(found, 40)),
                wrong: None,
                selected: Some(rate(found, 40)),
            })
            .to_vec(),
        gaps: vec![Gap {
            group: HOSTILE.into(),
            opportunity: mean(0.2),
            parity: mean(0.2),
            odds: None,
            p_value: 0.03,
        }],
    };
    Fairness {
        target: HOSTILE.into(),
        by: HOSTILE.into(),
        privileged: "male".into(),
        positive: Some(HOSTILE.into()),
        clean: point(None, 36),
        points: vec![point(Some("fog severity=3"), 20), point(Some(HOSTILE), 30)],
        largest: vec![0],
        tests: 3,
    }
}

pub(crate) fn benefit() -> Benefit {
    let row =
        |fault: &str| BenefitRow { fault: fault.into(), changed: mean(0.1), wrong: mean(0.05) };
    Benefit {
        defended: HOSTILE.into(),
        plain: "sign-small".into(),
        defences: "median_filter (radius=1)".into(),
        clean: mean(-0.02),
        all: Some(row("all faults")),
        rows: vec![row(HOSTILE)],
    }
}

pub(crate) fn attack_result() -> AttackResult {
    AttackResult {
        target: HOSTILE.into(),
        attack: HOSTILE.into(),
        needs: "gradients".into(),
        changed: rate(40, 50),
        rejected: 3,
        queries: Some(12.0),
        distance: Some(0.0312),
        cpu_seconds: Some(0.0042),
        survival: vec![SurvivingShare { queries: 12.0, share: 0.2, low: 0.1, high: 0.33 }],
    }
}

pub(crate) fn detected() -> DetectionQuality {
    let mean = |value| Mean { value: Some(value), low: value - 0.05, high: value + 0.05, n: 40 };
    let point = |fault: Option<&str>, ap, missed| DetectionPoint {
        fault: fault.map(str::to_owned),
        graded: fault.map(|fault| GradedFault { fault: fault.to_owned(), severity: 3.0 }),
        ap: mean(ap),
        ap50: Some(ap + 0.2),
        errors: [("Loc".to_owned(), 5), ("Miss".to_owned(), missed)].into(),
    };
    DetectionQuality {
        target: HOSTILE.into(),
        cases: 40,
        clean: point(None, 0.512, 11),
        mean_ap: Some(mean(0.345)),
        kept: Some(mean(0.674)),
        drop: Some(mean(0.167)),
        points: vec![point(Some(HOSTILE), 0.345, 29)],
    }
}

pub(crate) fn masking() -> Masking {
    Masking {
        target: HOSTILE.into(),
        norm: "inf".into(),
        epsilon: 0.03,
        cases: 50,
        asking: 40,
        following: 4,
        p_value: 1e-9,
    }
}

pub(crate) fn spending() -> Spending {
    let service = ServiceAccount {
        target: HOSTILE.into(),
        versions: [HOSTILE.to_owned()].into(),
        control: 3,
        drifted: 1,
        ..ServiceAccount::default()
    };
    Spending { wall: 60.0, threads: 120.0, faults: 20.0, target: 90.0, services: vec![service] }
}
