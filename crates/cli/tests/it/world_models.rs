//! The shipped models are as good as their cards say, on pictures that they have not seen.

use bytes::Bytes;
use faultlens::data::DataSet;
use faultlens::engine::{Model, onnx};
use faultlens::train::{Card, Task, score};
use faultlens::world::{self, EmbeddedModel, MODELS};
use faultlens::{Case, Seed};

/// Another seed than that of the pictures which the cards' scores were measured on.
const SEED: u64 = 20;

fn card(model: &EmbeddedModel) -> Card {
    serde_json::from_str(model.card).unwrap()
}

fn measured(model: &EmbeddedModel, data: &DataSet) -> f64 {
    let loaded = Model::from_proto(&onnx::decode(Bytes::from_static(model.onnx)).unwrap()).unwrap();
    score(&card(model).recipe, &loaded, data).unwrap().value
}

fn named(name: &str) -> &'static EmbeddedModel {
    MODELS.iter().find(|model| model.name == name).unwrap()
}

fn scenes(n: usize, classes: &[&str]) -> DataSet {
    let scenes = world::scenes(Seed::new(SEED).child(world::TEST), n);
    let cases: Vec<Case> = scenes.into_iter().map(|scene| scene.case).collect();
    DataSet::new(classes.iter().map(|&c| c.to_owned()).collect(), cases)
}

#[test]
fn sign_classifiers_of_three_depths() {
    let classes = world::SIGN_CLASSES.map(str::to_owned).to_vec();
    let signs = DataSet::new(classes, world::signs(Seed::new(SEED).child(world::TEST), 700));
    for name in ["signs-shallow", "signs-middle", "signs-deep"] {
        let accuracy = measured(named(name), &signs);
        assert!(accuracy >= 0.97, "{name}: {accuracy}");
    }
}

#[test]
fn detector() {
    let ap50 = measured(named("detector"), &scenes(150, &world::SCENE_CLASSES));
    assert!(ap50 >= 0.75, "{ap50}");
}

#[test]
fn segmenter() {
    let mean_iou = measured(named("segmenter"), &scenes(80, &world::SEGMENT_CLASSES));
    assert!(mean_iou >= 0.8, "{mean_iou}");
}

#[test]
fn steering() {
    let error = measured(named("steering"), &scenes(150, &world::SCENE_CLASSES));
    assert!(error <= 0.1, "{error}");
}

#[test]
fn models_are_small_sorted_and_described() {
    assert!(MODELS.is_sorted_by_key(|model| model.name));
    for model in MODELS {
        let card = card(model);
        assert!(model.onnx.len() < 500_000, "{}: {}", model.name, model.onnx.len());
        assert_eq!(card.name, model.name);
        assert!(card.command.starts_with("faultlens train "), "{}", card.command);
        assert!(card.cost.cpu_ms_per_sample > 0.0 && card.cost.wall_ms_per_sample > 0.0);
        assert_eq!(card.scores.len(), 1, "{}", model.name);
        assert!(card.epochs.first().unwrap().loss > card.epochs.last().unwrap().loss);
        let wanted = match card.recipe.task {
            Task::Classify => "accuracy",
            Task::Segment => "mean_iou",
            Task::Regress => "mean_absolute_error",
            Task::Detect => "ap50",
            Task::Reconstruct => "psnr",
        };
        assert_eq!(card.scores[0].metric, wanted);
    }
}
