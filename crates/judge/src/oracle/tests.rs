use super::*;
use crate::Judge;
use faultlens_core::{
    Bounds, Case, Comparison, Detection, Detections, Image, Measurement, Names, Outcome, Picture,
    Reason, Response, Scores, Segments, Setting, SettingError, Settings, Text, Truth, Unset,
};

fn nameless() -> Names {
    Names::Listed([].into())
}

fn scores(scores: &[f32]) -> Response {
    Response::Scores(Scores { scores: scores.to_vec(), names: nameless() })
}

fn judged(judge: &Judge, truth: Option<usize>, golden: &Response, seen: &Response) -> Outcome {
    let case = Case::new("case", Image::from_rgb(1, 1, vec![0; 3]).unwrap());
    let truth = Truth { class: truth, label: None };
    let comparison = Comparison { case: &case, truth, golden, observed: seen, fault: None };
    let skipped = judge.skips_case(&Comparison { observed: golden, ..comparison });
    skipped.map_or_else(|| judge.judge(&comparison), Outcome::Skipped)
}

/// Golden against observed, without guards.
fn measured(oracle: &dyn Oracle, golden: &Response, seen: &Response) -> (Outcome, Option<f64>) {
    let case = Case::new("case", Image::from_rgb(1, 1, vec![0; 3]).unwrap());
    let comparison =
        Comparison { case: &case, truth: Truth::default(), golden, observed: seen, fault: None };
    (oracle.judge(&comparison), oracle.measure(&comparison).map(|measure| measure.value))
}

/// An oracle with its own settings, but for some.
fn built(name: &str, set: &[(&'static str, Setting)]) -> Result<Box<dyn Oracle>, SettingError> {
    let plugin = ORACLES.iter().find(|plugin| plugin.name == name).unwrap();
    let mut settings = Settings::default();
    for parameter in plugin.parameters {
        if let Unset::Is(setting) = &parameter.unset {
            settings.set(parameter.name, setting.clone());
        }
    }
    set.iter().for_each(|(name, setting)| settings.set(name, setting.clone()));
    (plugin.build)(&settings)
}

fn oracle(name: &str, setting: &'static str, number: f64) -> Box<dyn Oracle> {
    built(name, &[(setting, Setting::Number(number))]).unwrap()
}

fn object(class: usize, left: f32) -> Detection {
    let bounds = Bounds { left, top: 0.0, right: left + 10.0, bottom: 10.0 };
    Detection { class, score: 0.5, bounds }
}

fn objects(found: &[Detection]) -> Response {
    Response::Detections(Detections {
        found: found.to_vec(),
        names: nameless(),
        finite: true,
        min_score: None,
    })
}

fn areas(width: usize, classes: &[u16]) -> Response {
    let height = classes.len() / width;
    let classes = classes.to_vec();
    let names = nameless();
    let covers = Bounds { left: 0.0, top: 0.0, right: 1.0, bottom: 1.0 };
    Response::Segments(Segments { width, height, classes, covers, names, finite: true })
}

fn picture(width: usize, values: &[f32]) -> Response {
    let height = values.len() / width;
    let values = values.to_vec();
    Response::Picture(Picture { width, height, channels: 1, values, finite: true })
}

fn text(classes: &[usize], finite: bool) -> Response {
    Response::Text(Text { classes: classes.to_vec(), names: nameless(), finite })
}

#[test]
fn registries_are_in_order() {
    assert!(ORACLES.is_sorted_by_key(|plugin| plugin.name));
    assert!(GUARDS.is_sorted_by_key(|plugin| plugin.name));
}

#[test]
fn the_same_best_class_masks_a_fault() {
    let golden = scores(&[0.1, 0.7, 0.2]);
    let cases = [
        (1.0, scores(&[0.1, 0.5, 0.4]), Outcome::Unchanged),
        (1.0, scores(&[0.1, 0.4, 0.5]), Outcome::Changed),
        (2.0, scores(&[0.1, 0.4, 0.5]), Outcome::Unchanged),
        (2.0, scores(&[0.5, 0.1, 0.4]), Outcome::Changed),
        (1.0, scores(&[f32::NAN, 0.9, 0.0]), Outcome::Detected),
        (1.0, scores(&[f32::INFINITY, 0.9, 0.0]), Outcome::Detected),
        (1.0, Response::Values(vec![1.0]), Outcome::Skipped(Reason::UnsupportedAnswer)),
        (3.0, scores(&[0.5, 0.1, 0.4]), Outcome::Skipped(Reason::UnsupportedAnswer)),
    ];
    for (k, observed, wanted) in cases {
        let judge = Judge::new(oracle("same_top", "k", k), vec![]);
        assert_eq!(judged(&judge, None, &golden, &observed), wanted, "{observed:?}");
    }
}

#[test]
fn values_may_differ_by_the_tolerance() {
    let golden = Response::Values(vec![1.0, -2.0]);
    let judge = Judge::new(oracle("same_values", "tolerance", 0.5), vec![]);
    for (observed, wanted) in [
        (vec![1.5, -2.0], Outcome::Unchanged),
        (vec![1.0, -2.6], Outcome::Changed),
        (vec![1.0], Outcome::Changed),
        (vec![f32::NEG_INFINITY, -2.0], Outcome::Detected),
    ] {
        let observed = Response::Values(observed);
        assert_eq!(judged(&judge, None, &golden, &observed), wanted, "{observed:?}");
    }
}

#[test]
fn every_oracle_judges_its_own_kind_of_answer() {
    let row = |value| Some(value);
    let unchanged = Outcome::Unchanged;
    let changed = Outcome::Changed;
    let two = [object(0, 0.0), object(1, 50.0)];
    let signs = ["same_detections", "same_segments", "same_picture", "same_text"];
    for (name, setting, golden, observed, outcome, measure) in [
        (signs[0], ("iou", 0.5), objects(&two), objects(&two), unchanged.clone(), row(0.0)),
        (signs[0], ("iou", 0.5), objects(&two), objects(&two[1..]), changed.clone(), row(1.0)),
        (signs[0], ("iou", 0.5), objects(&[]), objects(&two), changed.clone(), row(2.0)),
        (signs[0], ("iou", 0.5), objects(&[]), objects(&[]), unchanged.clone(), row(0.0)),
        // 8 of 12 pixels shared.
        (
            signs[0],
            ("iou", 0.66),
            objects(&two[..1]),
            objects(&[object(0, 2.0)]),
            unchanged.clone(),
            row(0.0),
        ),
        (
            signs[0],
            ("iou", 0.67),
            objects(&two[..1]),
            objects(&[object(0, 2.0)]),
            changed.clone(),
            row(2.0),
        ),
        // Class 0: 2 of 3 pixels, class 1: 1 of 2.
        (
            signs[1],
            ("iou", 0.58),
            areas(2, &[0, 0, 1, 1]),
            areas(2, &[0, 0, 0, 1]),
            unchanged.clone(),
            row(7.0 / 12.0),
        ),
        (
            signs[1],
            ("iou", 0.59),
            areas(2, &[0, 0, 1, 1]),
            areas(2, &[0, 0, 0, 1]),
            changed.clone(),
            row(7.0 / 12.0),
        ),
        (signs[1], ("iou", 0.5), areas(2, &[0; 4]), areas(4, &[0; 4]), changed.clone(), None),
        (
            signs[2],
            ("psnr", 19.9),
            picture(2, &[0.5, 0.5]),
            picture(2, &[0.4, 0.6]),
            unchanged.clone(),
            row(20.0),
        ),
        (
            signs[2],
            ("psnr", 20.1),
            picture(2, &[0.5, 0.5]),
            picture(2, &[0.4, 0.6]),
            changed.clone(),
            row(20.0),
        ),
        (
            signs[2],
            ("psnr", 100.0),
            picture(1, &[0.5]),
            picture(1, &[0.5]),
            unchanged.clone(),
            row(100.0),
        ),
        (
            signs[2],
            ("psnr", 1.0),
            picture(1, &[0.5; 2]),
            picture(2, &[0.5; 2]),
            changed.clone(),
            None,
        ),
        (
            signs[3],
            ("edits", 0.0),
            text(&[1, 2], true),
            text(&[1, 2], true),
            unchanged.clone(),
            row(0.0),
        ),
        (
            signs[3],
            ("edits", 0.0),
            text(&[1, 2], true),
            text(&[2], true),
            changed.clone(),
            row(1.0),
        ),
        (
            signs[3],
            ("edits", 1.0),
            text(&[1, 2], true),
            text(&[2], true),
            unchanged.clone(),
            row(1.0),
        ),
    ] {
        let oracle = oracle(name, setting.0, setting.1);
        let (got, value) = measured(oracle.as_ref(), &golden, &observed);
        assert_eq!(got, outcome, "{name} {setting:?} {observed:?}");
        assert!(
            value.zip(measure).map_or(value == measure, |(a, b): (f64, f64)| (a - b).abs() < 1e-5),
            "{name} {observed:?}: {value:?}"
        );
    }
}

/// Objects of a detector that reports scores from 0.3 on.
fn reported(found: &[(usize, f32, f32)]) -> Response {
    let found =
        found.iter().map(|&(class, score, left)| Detection { score, ..object(class, left) });
    Response::Detections(Detections {
        found: found.collect(),
        names: nameless(),
        finite: true,
        min_score: Some(0.3),
    })
}

#[test]
fn detections_have_a_tolerance() {
    let golden = reported(&[(0, 0.9, 0.0), (0, 0.6, 20.0), (1, 0.5, 40.0), (1, 0.35, 60.0)]);
    let weak_lost = [(0, 0.9, 0.0), (0, 0.6, 20.0), (1, 0.5, 40.0)];
    let weak_new = [&weak_lost[..], &[(1, 0.31, 60.0), (2, 0.39, 90.0)]].concat();
    let strong_new = [&weak_new[..], &[(2, 0.4, 120.0)]].concat();
    let one_lost = [(0, 0.9, 0.0), (1, 0.5, 40.0), (1, 0.32, 60.0)];
    let two_lost = [(0, 0.9, 0.0), (1, 0.32, 60.0)];
    // A sure object that turns weak is not lost; one that turns weak elsewhere is.
    let turned_weak = [(0, 0.31, 0.0), (0, 0.6, 20.0), (1, 0.5, 40.0)];
    let moved = [(0, 0.31, 8.0), (0, 0.6, 20.0), (1, 0.5, 40.0)];
    let band = |width: f64| ("score_band", Setting::Number(width));
    let lost = |count: f64| ("lost", Setting::Number(count));
    let new = |count: f64| ("new", Setting::Number(count));
    let share = |share: f64| ("share", Setting::Number(share));
    for (set, observed, same, counted) in [
        (vec![], &weak_lost[..], true, 0.0),
        (vec![band(0.0)], &weak_lost, false, 1.0),
        (vec![band(0.04)], &weak_lost, false, 1.0),
        (vec![band(0.06)], &weak_lost, true, 0.0),
        (vec![], &weak_new, true, 0.0),
        (vec![band(0.0)], &weak_new, false, 1.0),
        (vec![], &strong_new, false, 1.0),
        (vec![new(1.0)], &strong_new, true, 1.0),
        (vec![lost(1.0)], &strong_new, false, 1.0),
        (vec![], &one_lost, false, 1.0),
        (vec![lost(1.0)], &one_lost, true, 1.0),
        (vec![new(1.0)], &one_lost, false, 1.0),
        (vec![lost(1.0)], &two_lost, false, 2.0),
        // A quarter of four is one, half of them two.
        (vec![share(0.25)], &one_lost, true, 1.0),
        (vec![share(0.24)], &one_lost, false, 1.0),
        (vec![share(0.25)], &two_lost, false, 2.0),
        (vec![share(0.25), lost(2.0)], &two_lost, true, 2.0),
        (vec![share(0.5)], &two_lost, true, 2.0),
        (vec![], &turned_weak, true, 0.0),
        (vec![], &moved, false, 1.0),
        (vec![("iou", Setting::Number(0.1))], &moved, true, 0.0),
    ] {
        let observed = reported(observed);
        let oracle = built("same_detections", &set).unwrap();
        let (outcome, measure) = measured(oracle.as_ref(), &golden, &observed);
        let wanted = if same { Outcome::Unchanged } else { Outcome::Changed };
        assert_eq!((outcome, measure), (wanted, Some(counted)), "{set:?} {observed:?}");
    }
    let both = [("by", Setting::Word("average_precision".into())), lost(1.0)];
    let error = built("same_detections", &both).err().unwrap().to_string();
    assert!(error.contains("by: average_precision counts none"), "{error}");
}

#[test]
fn an_oracle_leaves_other_kinds_of_answers_unjudged() {
    let answers = [
        ("same_top", scores(&[0.1, 0.9])),
        ("same_values", Response::Values(vec![1.0])),
        ("same_detections", objects(&[])),
        ("same_segments", areas(1, &[0])),
        ("same_picture", picture(1, &[0.0])),
        ("same_text", text(&[], true)),
    ];
    for plugin in ORACLES {
        let oracle = built(plugin.name, &[]).unwrap();
        for (of, answer) in &answers {
            // Scores and pictures are numbers too.
            let numbers = plugin.name == "same_values" && answer.numbers().is_some();
            let wanted = if *of == plugin.name || numbers {
                Outcome::Unchanged
            } else {
                Outcome::Skipped(Reason::UnsupportedAnswer)
            };
            let (outcome, measure) = measured(oracle.as_ref(), answer, answer);
            assert_eq!(outcome, wanted, "{} of {of}", plugin.name);
            let measures = wanted == Outcome::Unchanged && plugin.name != "same_top";
            assert_eq!(measure.is_some(), measures, "{} of {of}", plugin.name);
        }
    }
}

#[test]
fn an_answer_read_from_what_is_no_number_gives_the_fault_away() {
    let judge = Judge::new(oracle("same_text", "edits", 0.0), vec![]);
    let golden = text(&[1], true);
    let broken = text(&[1], false);
    assert_eq!(judged(&judge, None, &golden, &broken), Outcome::Detected);
    let wanted = Outcome::Skipped(Reason::GoldenNotFinite);
    assert_eq!(judged(&judge, None, &broken, &golden), wanted);
    // Of a kind that the oracle does not know, it says nothing.
    let other = objects(&[]);
    let unsuited = Outcome::Skipped(Reason::UnsupportedAnswer);
    assert_eq!(judged(&judge, None, &other, &broken), unsuited);
    let case = Case::new("case", Image::from_rgb(1, 1, vec![0; 3]).unwrap());
    let comparison = Comparison {
        case: &case,
        truth: Truth::default(),
        golden: &golden,
        observed: &broken,
        fault: None,
    };
    assert_eq!(judge.measure(&comparison), None);
    let same = judge.measure(&Comparison { observed: &golden, ..comparison });
    assert_eq!(same, Some(Measurement { name: "edits", value: 0.0 }));
}

#[test]
fn differences_are_scaled_before_they_are_compared() {
    let degrees = Setting::Number(57.295_779_513_082_32);
    let golden = Response::Values(vec![0.0, 0.5]);
    let observed = Response::Values(vec![0.0, 0.5 + std::f32::consts::FRAC_PI_6]);
    for (tolerance, wanted) in [(30.001, Outcome::Unchanged), (29.999, Outcome::Changed)] {
        let oracle = built(
            "same_values",
            &([("tolerance", Setting::Number(tolerance)), ("scale", degrees.clone())]),
        )
        .unwrap();
        let (outcome, moved) = measured(oracle.as_ref(), &golden, &observed);
        assert_eq!(outcome, wanted);
        assert!(moved.is_some_and(|moved| (moved - 30.0).abs() < 1e-4), "{moved:?}");
    }
}

#[test]
fn further_tolerances_must_be_tolerances() {
    let further = |texts: &[&str]| {
        let texts = texts.iter().map(|&text| text.to_owned()).collect();
        built("same_values", &[("further", Setting::Names(texts))]).err()
    };
    assert_eq!(further(&["30", "60.5", "1e2"]), None);
    for bad in ["much", "-1", "inf", "NaN", ""] {
        let error = further(&["30", bad]).unwrap().to_string();
        assert_eq!(error, format!("further holds {bad:?}, which is no tolerance"));
    }
}

#[test]
fn what_was_wrong_before_the_fault_is_not_judged() {
    let judge = Judge::new(
        oracle("same_top", "k", 1.0),
        vec![(GUARDS[0].build)(&Settings::default()).unwrap()],
    );
    let golden = scores(&[0.9, 0.1]);
    let other = scores(&[0.1, 0.9]);
    for (truth, wanted) in [
        (Some(0), Outcome::Changed),
        (Some(1), Outcome::Skipped(Reason::GoldenWrong)),
        (None, Outcome::Skipped(Reason::NoLabel)),
    ] {
        assert_eq!(judged(&judge, truth, &golden, &other), wanted, "{truth:?}");
    }
    let broken = scores(&[f32::NAN, 0.0]);
    let wanted = Outcome::Skipped(Reason::GoldenNotFinite);
    assert_eq!(judged(&judge, Some(0), &broken, &other), wanted);
}
