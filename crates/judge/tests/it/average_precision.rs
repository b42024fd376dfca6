//! Average precision against pycocotools; `fixtures/make_average_precision.py` made the values.

use faultlens_core::{Bounds, Detection, Object};
use faultlens_judge::{average_precision, mean_average_precision};
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    images: usize,
    objects: Vec<TruthBox>,
    detections: Vec<ScoredBox>,
    average_precision: Vec<Answer>,
}

#[derive(Deserialize)]
struct TruthBox {
    image: usize,
    class: usize,
    crowd: bool,
    #[serde(rename = "box")]
    bounds: [f32; 4],
}

#[derive(Deserialize)]
struct ScoredBox {
    image: usize,
    class: usize,
    score: f32,
    #[serde(rename = "box")]
    bounds: [f32; 4],
}

#[derive(Deserialize)]
struct Answer {
    iou: f64,
    classes: Vec<Option<f64>>,
}

fn bounds([left, top, width, height]: [f32; 4]) -> Bounds {
    Bounds { left, top, right: left + width, bottom: top + height }
}

fn cases(fixture: &Fixture) -> Vec<(Vec<Detection>, Vec<Object>)> {
    let mut cases = vec![(Vec::new(), Vec::new()); fixture.images];
    for &ScoredBox { image, class, score, bounds: sides } in &fixture.detections {
        cases[image].0.push(Detection { class, score, bounds: bounds(sides) });
    }
    for &TruthBox { image, class, crowd, bounds: sides } in &fixture.objects {
        cases[image].1.push(Object { class, bounds: bounds(sides), mask: None, crowd });
    }
    cases
}

#[test]
fn equals_pycocotools() {
    let fixture: Fixture =
        serde_json::from_str(include_str!("../fixtures/average_precision.json")).unwrap();
    let cases = cases(&fixture);
    for answer in &fixture.average_precision {
        for (class, &wanted) in answer.classes.iter().enumerate() {
            let got = average_precision(&cases, class, answer.iou);
            assert_eq!(got.is_some(), wanted.is_some(), "class {class}");
            assert!(
                got.zip(wanted).is_none_or(|(a, b): (f64, f64)| (a - b).abs() < 1e-9),
                "class {class}: {got:?}, not {wanted:?}"
            );
        }
        let known: Vec<f64> = answer.classes.iter().copied().flatten().collect();
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        let got = mean_average_precision(&cases, answer.iou).unwrap();
        assert!((got - mean).abs() < 1e-9, "{got}, not {mean}");
    }
}
