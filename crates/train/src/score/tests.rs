use super::*;
use faultlens_core::{Bounds, DType, Image};
use faultlens_engine::onnx::ModelBuilder;
use faultlens_vision::{Channels, ElementType, InputDescription};

fn tensor(shape: &[usize], data: &[f32]) -> Tensor {
    Tensor::new(shape.to_vec(), data.to_vec()).unwrap()
}

/// A case of 2×2 pixels of which nothing is known.
fn bare(name: &str) -> Case {
    Case::new(name, Image::from_rgb(2, 2, vec![9; 12]).unwrap())
}

fn labelled(label: usize) -> Case {
    Case { label: Some(label), ..bare("labelled") }
}

fn object(class: usize, [left, top, right, bottom]: [f32; 4]) -> Object {
    let bounds = Bounds { left, top, right, bottom };
    Object { class, bounds, mask: None, crowd: false }
}

/// The score of one batch, for images that are fed with 4 rows and columns, or as they are.
fn measured(task: Task, cases: &[Case], outputs: &[Tensor]) -> Result<f64, TrainError> {
    let names = ["first", "second"];
    let outputs: Vec<Output<'_>> = names.into_iter().zip(outputs).collect();
    let mut measure = Measure::of(task);
    let side = if task == Task::Reconstruct { 2 } else { 4 };
    let input = InputDescription::plain([side; 2], Channels::Rgb, ElementType::F32);
    measure.add(cases, &outputs, &input)?;
    Ok(measure.score(cases.len())?.value)
}

#[track_caller]
fn refused(task: Task, cases: &[Case], outputs: &[Tensor], wanted: &str) {
    let error = measured(task, cases, outputs).unwrap_err().to_string();
    assert!(error.contains(wanted), "{error}");
}

#[test]
fn classes() {
    let task = Task::Classify;
    let scores = tensor(&[3, 2], &[0.1, 0.9, f32::NAN, 0.2, 0.5, 0.5]);
    // Of equal scores the first counts, and NaN is never the best.
    let cases = [labelled(1), labelled(1), labelled(1)];
    assert_eq!(measured(task, &cases, std::slice::from_ref(&scores)).unwrap(), 2.0 / 3.0);
    let unlabelled = [labelled(1), bare("b"), labelled(0)];
    refused(task, &unlabelled, std::slice::from_ref(&scores), "b has no class");
    let beyond = [labelled(1), labelled(2), labelled(0)];
    refused(task, &beyond, &[scores], "class 2, where the model knows 2");
    refused(task, &cases, &[tensor(&[3, 1, 2], &[0.0; 6])], "value first of shape [3, 1, 2]");
    refused(task, &cases, &[tensor(&[6, 1], &[0.0; 6])], "a score per image and class");
    let whole = Tensor::new(vec![3, 2], vec![0i64; 6]).unwrap();
    refused(task, &cases, &[whole], "a score per image and class");
    refused(task, &cases, &[], "there are 0");
    refused(task, &[], &[tensor(&[0, 2], &[])], "shape [0, 2]");
}

#[test]
fn pixels() {
    let task = Task::Segment;
    let case = Case { segments: vec![0, 0, 1, 1], ..bare("a") };
    let cases = [case.clone(), case];
    // Class 1 wins in one and in two of four pixels: 3 of 4 and 4 of 4 are right.
    let none = [0.5, 0.5, 0.5, 0.5];
    let one = [0.1, 0.1, 0.1, 0.9];
    let scores = [none, one, none, [0.1, 0.1, 0.9, 0.9]].concat();
    let scores = tensor(&[2, 2, 2, 2], &scores);
    let wanted = (4.0 / 5.0 + 3.0 / 4.0) / 2.0;
    assert_eq!(measured(task, &cases, std::slice::from_ref(&scores)).unwrap(), wanted);
    let bare = [cases[0].clone(), bare("b")];
    refused(task, &bare, std::slice::from_ref(&scores), "b has 0 labelled pixels, not 4");
    let void = Case { segments: vec![0, 0, 1, 255], ..cases[0].clone() };
    refused(task, &[void, cases[0].clone()], &[scores], "a pixel of class 255");
    refused(task, &cases, &[tensor(&[2, 2, 4], &[0.0; 16])], "class, row and column");
    refused(task, &cases, &[tensor(&[2, 300, 2, 2], &[0.0; 2400])], "at most 256 classes");
}

#[test]
fn numbers() {
    let task = Task::Regress;
    let case = |values: &[f32]| Case { values: values.to_vec(), ..bare("a") };
    let cases = [case(&[1.0, -1.0]), case(&[0.5, 2.0])];
    let found = tensor(&[2, 2], &[1.5, -1.0, 0.5, 0.5]);
    assert_eq!(measured(task, &cases, std::slice::from_ref(&found)).unwrap(), 0.5);
    let short = [case(&[1.0]), case(&[0.5, 2.0])];
    refused(task, &short, &[found], "a has 1 numbers, not 2");
    refused(task, &cases, &[tensor(&[4], &[0.0; 4])], "a row of numbers per image");
    let broken = tensor(&[2, 2], &[1.5, f32::NAN, 0.5, 0.5]);
    refused(task, &cases, &[broken], "mean_absolute_error is NaN");
}

#[test]
fn boxes() {
    let task = Task::Detect;
    // The input has twice the image's sides, so found boxes are twice as large.
    let case = Case { objects: vec![object(1, [0.0, 0.0, 1.0, 2.0])], ..bare("a") };
    let cases = [case];
    let scores = tensor(&[1, 2, 2], &[0.1, 0.9, 0.03, 0.02]);
    let right = tensor(&[1, 2, 4], &[0.0, 0.0, 2.0, 4.0, 0.0, 0.0, 1.0, 1.0]);
    let wrong = tensor(&[1, 2, 4], &[0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 1.0, 1.0]);
    let both = |boxes: &Tensor| [scores.clone(), boxes.clone()];
    assert!((measured(task, &cases, &both(&right)).unwrap() - 1.0).abs() < 1e-9);
    assert_eq!(measured(task, &cases, &both(&wrong)).unwrap(), 0.0);
    refused(task, &cases, std::slice::from_ref(&scores), "output 2 (there are 1)");
    refused(task, &cases, &both(&tensor(&[1, 3, 4], &[0.0; 12])), "for 2 cells");
    refused(task, &[bare("b")], &both(&right), "ap50 is undefined");
    let beyond = Case { objects: vec![object(2, [0.0, 0.0, 1.0, 2.0])], ..bare("c") };
    refused(task, &[beyond], &both(&right), "c has an object of class 2");
}

#[test]
fn pictures() {
    let task = Task::Reconstruct;
    let cases = [Case::new("a", Image::from_rgb(2, 2, vec![51; 12]).unwrap()), bare("b")];
    // Of the first picture each value is off by 0.1, the second is right.
    let found = [[0.3; 12], [9.0 / 255.0; 12]].concat();
    let found = measured(task, &cases, &[tensor(&[2, 3, 2, 2], &found)]).unwrap();
    assert!((found - 10.0 * 200f64.log10()).abs() < 1e-4, "{found}");
    refused(task, &cases, &[tensor(&[2, 3, 4, 1], &[0.0; 24])], "the input's shape");
    refused(task, &cases, &[tensor(&[2, 12], &[0.0; 24])], "value first of shape [2, 12]");
    let broken = tensor(&[2, 3, 2, 2], &[f32::NAN; 24]);
    refused(task, &cases, &[broken], "psnr is NaN");
}

#[test]
fn one_images_pixels() {
    let scores = tensor(&[2, 2, 1, 2], &[0.1, 0.9, 0.5, 0.5, f32::NAN, 1.0, 0.0, 1.0]);
    assert_eq!(segments(&scores, 0), Some(vec![1, 0]));
    assert_eq!(segments(&scores, 1), Some(vec![1, 0]));
    assert_eq!(segments(&scores, 2), None);
    assert_eq!(segments(&scores, usize::MAX), None);
    assert_eq!(segments(&tensor(&[1, 0, 1, 2], &[]), 0), None);
}

#[test]
fn a_set_is_tried_before_the_training() {
    let mut builder = ModelBuilder::new("flat");
    builder.input("image", DType::F32, &["n".into(), 1.into(), 2.into(), 2.into()]);
    builder.node("Flatten", &["image"], &["logits"]);
    builder.output("logits", DType::F32, &["n".into(), 4.into()]);
    let model = Model::from_proto(&builder.build()).unwrap();
    let input = InputDescription::plain([2, 2], Channels::Grey, ElementType::F32);
    let recipe = Recipe::new(Task::Classify, input);
    let check = |recipe: &Recipe, cases: Vec<Case>| {
        check_measurable(recipe, &model, &DataSet::new(vec![], cases))
    };
    assert!(check(&recipe, vec![labelled(3), bare("b")]).is_ok());
    assert!(matches!(check(&recipe, vec![]), Err(TrainError::Empty)));
    assert!(matches!(check(&recipe, vec![bare("b")]), Err(TrainError::Unlabelled { .. })));
    let other = Recipe { task: Task::Segment, ..recipe.clone() };
    assert!(matches!(check(&other, vec![labelled(3)]), Err(TrainError::Answer { .. })));
    let set = DataSet::new(vec![], vec![labelled(0), labelled(1)]);
    let found = score(&recipe, &model, &set).unwrap();
    assert_eq!((found.metric.as_str(), found.value, found.n), ("accuracy", 0.5, 2));
    assert!(score(&recipe, &model, &DataSet::new(vec![], vec![])).is_err());
}
