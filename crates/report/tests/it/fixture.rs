//! A summary with everything that a report must stand, and one with nothing.

use super::{preserved, scenes, services};
use faultlens_analysis::{
    AttackResults, Checked, Checks, Class, Classes, CriticalBits, CriticalLayer, Curve, Example,
    Family, FamilyResult, FaultErrors, Fit, Gallery, GalleryRow, GalleryTrial, GroupRow, GroupTest,
    Grouping, HeatMap, HeatRow, ImageFaultResults, MadeBy, Mean, Method, Missing,
    ModelFaultResults, PermutedUnit, Pinned, Progress, Provenance, Ranked, Ranking, Rate,
    Robustness, SUMMARY_VERSION, SceneResults, Summary, Tally, TargetFile, TargetSummary,
    ThresholdRates, Trait, TraitLine, TraitRow, Verdict, Warning,
};
use faultlens_spec::{Intervals, Population};
use image::{Rgb, RgbImage};
use std::collections::BTreeMap;
use std::path::Path;

/// A label that does harm wherever it is not escaped.
pub(crate) const HOSTILE: &str =
    "</script><img src=x onerror=\"document.title='harm'\"> 'q' & `b` | \x1b[31m\u{202e}🚦";

/// Wilson's interval, written out here so that the tests do not ask the code they test.
pub(crate) fn rate(events: u64, n: u64) -> Rate {
    if n == 0 {
        return Rate { events, n, ..Rate::default() };
    }
    let (k, m, z) = (events as f64, n as f64, 1.959_963_985f64);
    let centre = (k + z * z / 2.0) / (m + z * z);
    let half = z / (m + z * z) * (k * (m - k) / m + z * z / 4.0).sqrt();
    Rate {
        events,
        n,
        value: Some(k / m),
        low: centre - half,
        high: centre + half,
        images: 400,
        ..Rate::default()
    }
}

fn tally(judged: u64, changed: u64, detected: u64, crashed: u64, skipped: u64) -> Tally {
    Tally {
        unchanged: judged - changed - detected - crashed,
        changed,
        detected,
        crashed,
        timed_out: 0,
        skipped: match skipped {
            0 => BTreeMap::new(),
            some => BTreeMap::from([("the undisturbed answer is wrong".into(), some)]),
        },
        spare: 0,
        rate: rate(changed, judged),
    }
}

fn row(key: &str, tally: Tally, p_value: Option<f64>) -> GroupRow {
    GroupRow { key: key.into(), tally, p_value, ..GroupRow::default() }
}

fn by_fault() -> Grouping {
    let rows = vec![
        row("gaussian_noise severity=5", tally(480, 163, 0, 0, 12), Some(1e-12)),
        row("bit_flip in=weights", tally(2400, 228, 61, 4, 60), Some(0.000_31)),
        row("motion_blur severity=4", tally(480, 31, 0, 0, 12), Some(0.044)),
        row("jpeg_compression severity=3", tally(480, 7, 0, 0, 12), Some(1.0)),
        row("brightness severity=1", tally(480, 0, 0, 0, 12), Some(0.000_8)),
        row(HOSTILE, tally(12, 1, 0, 0, 0), None),
        row("never run", tally(0, 0, 0, 0, 0), None),
    ];
    Grouping {
        attribute: "fault".into(),
        target: None,
        family: None,
        ordered: false,
        rows,
        test: Some(GroupTest::WithinImages { images: 400 }),
    }
}

fn by_operator() -> Grouping {
    let name = |at: usize| match at {
        0 => {
            "/backbone/a/very/long/path/of/modules/that/nobody/can/read/layer4.2/conv3/Conv".into()
        }
        _ => format!("/layer{}/block{}/conv{}/Conv", 1 + at / 16, at % 16 / 3, at % 3),
    };
    let rows = (0..60).map(|at| {
        let n = 200 + 7 * at as u64 % 90;
        let changed = (n as f64 * 0.5 * 0.93f64.powi(at as i32)) as u64;
        let mut tally = tally(n, changed, (at % 7) as u64, 0, 0);
        tally.timed_out = u64::from(at == 3);
        tally.unchanged -= tally.timed_out;
        row(&name(at), tally, None)
    });
    Grouping {
        attribute: "operator".into(),
        target: None,
        family: None,
        ordered: false,
        rows: rows.collect(),
        test: None,
    }
}

fn by_bit() -> Grouping {
    let rows = (0..32).map(|bit: u64| {
        let changed = match bit {
            30 => 61,
            23..30 => (bit - 22) * 3,
            _ => bit / 9,
        };
        row(&bit.to_string(), tally(75, changed, u64::from(bit == 30) * 9, 0, 0), None)
    });
    Grouping {
        attribute: "bit".into(),
        target: None,
        family: None,
        ordered: true,
        rows: rows.collect(),
        test: None,
    }
}

fn by_stratum() -> Grouping {
    Grouping {
        attribute: "light".into(),
        target: None,
        family: None,
        ordered: false,
        rows: vec![
            row("night", tally(2180, 262, 30, 2, 80), Some(0.000_02)),
            row("day", tally(2152, 168, 31, 2, 40), Some(0.000_02)),
        ],
        test: Some(GroupTest::Permutation {
            unit: PermutedUnit::Case,
            units: 600,
            permutations: 2000,
        }),
    }
}

/// A layer with its operators.
fn by_layer() -> Grouping {
    let part = |key: &str, about: &str, tally| GroupRow {
        about: Some(about.into()),
        ..row(key, tally, None)
    };
    let layer = GroupRow {
        label: Some(format!("1 conv1 {HOSTILE}")),
        about: Some("Conv, Relu, MaxPool".into()),
        parts: vec![
            part("conv1", "Conv", tally(100, 40, 2, 0, 0)),
            part("relu1", "Relu", tally(100, 10, 0, 0, 0)),
        ],
        ..row("1", tally(200, 50, 2, 0, 0), None)
    };
    Grouping {
        attribute: "layer".into(),
        target: None,
        family: None,
        ordered: true,
        rows: vec![layer, part("2", "Gemm", tally(200, 4, 0, 0, 0))],
        test: None,
    }
}

fn heat_map() -> HeatMap {
    let row = |layer: u32| HeatRow {
        layer,
        name: if layer == 4 { HOSTILE.into() } else { format!("conv{layer}") },
        cells: (0..32u64)
            .map(|bit| match bit {
                3 => Rate::default(),
                5 => rate(1, 4),
                30 => rate(40 / u64::from(layer), 40),
                23..30 => rate((bit - 22) / u64::from(layer), 40),
                _ => rate(0, 40),
            })
            .collect(),
    };
    HeatMap {
        target: "sign-small".into(),
        bits: (0..32).collect(),
        rows: (1..=6).map(row).collect(),
    }
}

fn ranking() -> Ranking {
    let events = [60u64, 25, 10, 5];
    let rows = events.iter().enumerate().map(|(at, own)| Ranked {
        name: if at == 2 { HOSTILE.into() } else { format!("{} conv{}", at + 1, at + 1) },
        share: rate(*own, 100),
        together: rate(events[..=at].iter().sum(), 100),
    });
    let (target, attribute) = ("sign-small".into(), "layer".into());
    Ranking { target, attribute, rows: rows.collect(), of: 12 }
}

fn critical() -> CriticalBits {
    let layer = |layer: Option<u32>, name: &str, value: f64| CriticalLayer {
        layer,
        name: name.into(),
        mean: Mean { value: Some(value), low: value * 0.8, high: value * 1.2, n: 200 },
        share: rate((value * 200.0) as u64, 6400),
    };
    CriticalBits {
        target: "sign-small".into(),
        point: "bit_flip sites=boundary".into(),
        layers: vec![layer(Some(1), "conv1", 3.2), layer(Some(2), HOSTILE, 1.1)],
        all: layer(None, "", 2.2),
        queries: 2611,
        exhaustive: 12_800,
        unexpected: rate(3, 980),
    }
}

fn robustness() -> Robustness {
    let errors = |fault: &str, events: [u64; 2]| FaultErrors {
        fault: fault.into(),
        errors: vec![(1.0, rate(events[0], 50)), (5.0, rate(events[1], 50))],
        mean: (events[0] + events[1]) as f64 / 100.0,
        all: rate(events[0] + events[1], 100),
        relative: Some(0.83),
    };
    Robustness {
        target: "sign-small".into(),
        clean: rate(4, 50),
        faults: vec![errors("gaussian_noise", [6, 31]), errors(HOSTILE, [5, 9])],
        mean_accuracy: Some(Mean { value: Some(0.745), low: 0.71, high: 0.78, n: 50 }),
        kept: Some(Mean { value: Some(0.81), low: 0.78, high: 0.84, n: 50 }),
        reference: Some("sign-large".into()),
        mean_relative: Some(Mean { value: Some(0.83), low: 0.8, high: 0.86, n: 50 }),
        unlike_severities: false,
    }
}

fn classes() -> Classes {
    let class = |label: &str, events, image: Option<&str>| Class {
        label: label.into(),
        rate: rate(events, 100),
        image: image.map(Into::into),
    };
    Classes {
        of: 43,
        worst: vec![class(HOSTILE, 40, None), class("stop", 30, Some("artifacts/a.png"))],
        best: vec![class("yield", 1, Some("artifacts/a.png")), class("no entry", 2, None)],
    }
}

fn depth() -> Trait {
    let row = |value: &str, events| TraitRow {
        value: value.into(),
        targets: 2,
        rate: rate(events, 400),
        accuracy: Some(rate(390, 400)),
    };
    let line = |name: &str, events: [u64; 3]| TraitLine {
        name: name.into(),
        points: [2.0, 3.0, 4.0].into_iter().zip(events.map(|own| rate(own, 200))).collect(),
    };
    Trait {
        name: "depth".into(),
        rows: vec![row("2", 40), row("3", 20), row("4", 60)],
        lines: vec![line("width 64", [25, 12, 30]), line(HOSTILE, [15, 8, 30])],
    }
}

fn thresholds() -> ThresholdRates {
    ThresholdRates {
        target: "steering".into(),
        point: "bit_flip".into(),
        rates: vec![(15.0, rate(60, 400)), (30.0, rate(31, 400)), (120.0, rate(2, 400))],
    }
}

fn curve(target: &str, fault: &str, axis: &str, events: [u64; 5]) -> Curve {
    let points = events.iter().enumerate();
    Curve {
        target: target.into(),
        fault: fault.into(),
        axis: axis.into(),
        points: points.map(|(at, events)| (at as f64 + 1.0, rate(*events, 240))).collect(),
    }
}

fn draw(path: &Path, size: u32, noise: u32) {
    let image = RgbImage::from_fn(size, size, |x, y| {
        let (dx, dy) = (f64::from(x) - f64::from(size) / 2.0, f64::from(y) - f64::from(size) / 2.0);
        let r = (dx * dx + dy * dy).sqrt() / f64::from(size);
        let colour = match r {
            0.0..0.26 => [244, 242, 236],
            0.26..0.38 => [188, 40, 30],
            _ => [96 + (y * 90 / size) as u8, 140, 150],
        };
        let dirt = (x * 7919 + y * 104_729 + x * y * 31) % (noise + 1);
        Rgb(colour.map(|c: u8| c.saturating_add(dirt as u8 / 2).saturating_sub(dirt as u8 / 3)))
    });
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    image.save(path).unwrap();
}

fn examples(dir: &Path) -> Vec<Example> {
    draw(&dir.join("artifacts/a.png"), 32, 0);
    draw(&dir.join("artifacts/b.png"), 32, 200);
    draw(&dir.join("artifacts/c.png"), 240, 20);
    let example = Example {
        number: 1234,
        target: "sign-small".into(),
        case: "scene_00017.png".into(),
        truth: Some("no entry".into()),
        fault: "gaussian_noise severity=5".into(),
        site: None,
        outcome: "changed".into(),
        visual_change: Some(0.312),
        changes: None,
        golden: vec![("no entry".into(), 0.973), ("stop".into(), 0.021), ("yield".into(), 0.004)],
        observed: vec![
            ("speed limit 50".into(), Some(0.612)),
            ("no entry".into(), Some(0.301)),
            ("stop".into(), Some(0.05)),
        ],
        before: Some("artifacts/a.png".into()),
        after: Some("artifacts/b.png".into()),
    };
    let inside = Example {
        number: 40_021,
        fault: "bit_flip in=weights".into(),
        site: Some(
            "bit 30 of element 1,204 of /layer1/block0/conv1/Conv, 0.031 became 1.05e37".into(),
        ),
        outcome: "detected".into(),
        observed: vec![("no entry".into(), None)],
        before: Some("artifacts/c.png".into()),
        after: None,
        ..example.clone()
    };
    let hostile = Example {
        number: 7,
        case: HOSTILE.into(),
        truth: Some(HOSTILE.into()),
        outcome: "crashed".into(),
        changes: Some(format!("missed {HOSTILE} 0.91 at 1.0 2.0 3.0 4.0")),
        golden: vec![(HOSTILE.into(), 11.5)],
        observed: vec![],
        before: Some("../../etc/secret.png".into()),
        after: Some("artifacts/gone.png".into()),
        ..example.clone()
    };
    vec![example, inside, hostile]
}

fn galleries() -> Vec<Gallery> {
    let path = |path: &str| Some(path.to_owned());
    vec![Gallery {
        target: HOSTILE.into(),
        columns: vec!["bit_flip amount=100".into(), "mirror".into(), HOSTILE.into()],
        rows: vec![GalleryRow {
            case: HOSTILE.into(),
            image: path("artifacts/a.png"),
            golden: path("artifacts/b.png"),
            cells: vec![path("artifacts/c.png"), None, path("../../etc/secret.png")],
            trials: vec![
                Some(GalleryTrial {
                    number: 4711,
                    outcome: "changed".into(),
                    reason: None,
                    changes: BTreeMap::from([("missed".into(), 2), ("spurious".into(), 1)]),
                    before: path("artifacts/b.png"),
                }),
                Some(GalleryTrial {
                    number: 4712,
                    outcome: "skipped".into(),
                    reason: Some(HOSTILE.into()),
                    changes: BTreeMap::new(),
                    before: None,
                }),
                None,
            ],
        }],
        objects: true,
    }]
}

fn requirements() -> Vec<Checked> {
    let checked = |text: &str, events, n, limit, verdict| Checked {
        requirement: text.into(),
        rate: rate(events, n),
        limit,
        verdict,
        at_least: false,
        group: None,
        groups: 1,
        population: Population::NewImages,
        complete: true,
        missing: Missing { max_skipped: 0.05, ..Missing::default() },
        fit: None,
    };
    let inconclusive = Verdict::Inconclusive;
    vec![
        checked("at most 5% changed under gaussian_noise", 163, 480, 0.05, Verdict::NotMet),
        checked("at most 8% changed under motion_blur", 31, 480, 0.08, inconclusive),
        checked("at most 3% changed under jpeg_compression", 7, 480, 0.03, inconclusive),
        checked("at most 1% changed under brightness", 0, 480, 0.01, Verdict::Met),
        checked(HOSTILE, 0, 0, 0.1, inconclusive),
        Checked {
            fit: Some(Fit { raw: 100.0, share: 0.5, at_most: 10.0 }),
            ..checked("FIT ≤ 10", 64, 1000, 0.2, Verdict::Met)
        },
    ]
}

fn targets() -> Vec<TargetSummary> {
    vec![
        TargetSummary {
            name: "sign-small".into(),
            model: "models/sign-small.onnx".into(),
            accuracy: Some(rate(588, 600)),
            tally: tally(2200, 251, 33, 4, 60),
            families: BTreeMap::new(),
        },
        TargetSummary {
            name: "sign-deep".into(),
            model: "models/sign-deep.onnx".into(),
            accuracy: None,
            tally: tally(2132, 179, 28, 0, 60),
            families: BTreeMap::new(),
        },
    ]
}

fn pinned() -> Vec<Pinned> {
    let pin = |name: &str, outcome: &str, verdict| Pinned {
        name: name.into(),
        what: "gaussian_noise severity=3 on scene_00017.png, sign-small".into(),
        outcome: outcome.into(),
        verdict,
        reason: None,
    };
    vec![
        pin("noise-on-17", "changed", Verdict::NotMet),
        pin("blur-on-3", "unchanged", Verdict::Met),
    ]
}

fn method() -> Method {
    Method {
        images: 400,
        cases: 600,
        data: format!("signs ({HOSTILE})"),
        oracle: "same_top".into(),
        guards: vec!["golden_correct".into()],
        stop: Some("half-width of 1%".into()),
        sequential: true,
        ..Method::default()
    }
}

fn provenance() -> Provenance {
    Provenance {
        begun: "2026-03-02 10:15 UTC".into(),
        seed: 42,
        campaign: "3f1c…9ab2".into(),
        made_by: vec![MadeBy {
            version: "0.1.0".into(),
            machine: "2 cores, linux x86_64".into(),
            from: "2026-03-02 10:15 UTC".into(),
        }],
        targets: vec![TargetFile {
            name: HOSTILE.into(),
            model: "models/sign-small.onnx".into(),
            sha256: "77d0…01fe".into(),
        }],
    }
}

/// A run with everything, its images in `dir`.
pub(crate) fn rich(dir: &Path) -> Summary {
    let mut overall = tally(4332, 430, 61, 4, 108);
    overall.skipped.insert("the case cannot be read".into(), 12);
    overall.spare = 77;
    Summary {
        name: "Road signs, release candidate 2".into(),
        progress: Progress {
            planned: 5200,
            recorded: 4529,
            complete: true,
            stopped_early: true,
            seconds: 764.0,
        },
        method: method(),
        provenance: provenance(),
        families: vec![FamilyResult {
            family: Family::InsideModel,
            tally: overall.clone(),
            worst: None,
        }],
        overall,
        targets: targets(),
        groupings: vec![by_fault(), by_operator(), by_layer(), by_bit(), by_stratum()],
        curves: vec![
            curve("sign-small", "gaussian_noise", "severity", [4, 19, 41, 66, 98]),
            curve("sign-deep", "gaussian_noise", "severity", [1, 8, 22, 47, 81]),
            curve("sign-small", "motion_blur", "severity", [0, 3, 9, 17, 30]),
            curve("sign-deep", "motion_blur", "severity", [0, 1, 4, 12, 26]),
            curve("sign-small", "jpeg_compression", "severity", [0, 0, 2, 5, 14]),
        ],
        classes: Some(classes()),
        traits: vec![depth()],
        thresholds: vec![thresholds()],
        model: ModelFaultResults {
            heat_maps: vec![heat_map()],
            rankings: vec![ranking()],
            critical: vec![critical()],
        },
        images: ImageFaultResults {
            robustness: vec![robustness()],
            side_by_side: Some(services::side_by_side()),
            k_curves: services::k_curves(),
            measures: vec![services::measure_change()],
            fairness: vec![services::fairness()],
            benefits: vec![services::benefit()],
            detection: vec![services::detected()],
        },
        attacks: AttackResults {
            results: vec![services::attack_result()],
            masked: vec![services::masking()],
        },
        scenes: SceneResults {
            by_fault: scenes::changed(),
            totals: scenes::totals(),
            placements: scenes::placements(),
        },
        checks: Checks {
            requirements: requirements(),
            preserved: preserved::preserved(),
            pinned: pinned(),
            verdict: Some(Verdict::NotMet),
        },
        spending: Some(services::spending()),
        examples: examples(dir),
        galleries: galleries(),
        warnings: vec![
            Warning::UnreadableCases {
                unreadable: 12,
                of: 600,
                errors: vec!["scene_00400.png: not a PNG".into()],
            },
            Warning::NoPositivePrediction(HOSTILE.into()),
        ],
        ..empty()
    }
}

/// A run without a trial.
pub(crate) fn empty() -> Summary {
    Summary {
        version: SUMMARY_VERSION,
        name: "nothing yet".into(),
        progress: Progress { planned: 100, ..Progress::default() },
        method: Method { cases: 2, ..Method::default() },
        provenance: Provenance::default(),
        intervals: Intervals::default(),
        weighted: false,
        overall: tally(0, 0, 0, 0, 0),
        families: vec![],
        targets: vec![],
        groupings: vec![],
        curves: vec![],
        classes: None,
        traits: vec![],
        thresholds: vec![],
        model: ModelFaultResults::default(),
        images: ImageFaultResults::default(),
        attacks: AttackResults::default(),
        scenes: SceneResults::default(),
        checks: Checks::default(),
        spending: None,
        examples: vec![],
        galleries: vec![],
        warnings: vec![],
    }
}
