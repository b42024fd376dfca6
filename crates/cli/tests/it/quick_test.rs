//! `faultlens test`: one command from a model and a data set to a verdict.

use crate::folder::Folder;
use faultlens::engine::onnx::{self, ModelBuilder};
use faultlens::spec::{Campaign, Source};
use faultlens::{DType, Tensor};

/// Tells dark from light images, given pixels from 0 to 255.
fn brightness() -> ModelBuilder {
    let mut model = ModelBuilder::new("brightness");
    model.input("image", DType::F32, &["N".into(), 3.into(), 8.into(), 8.into()]);
    model.node("GlobalAveragePool", &["image"], &["mean"]);
    model.node("Flatten", &["mean"], &["colour"]);
    let third = 1.0f32 / 3.0;
    let weight = Tensor::new(vec![3, 2], [-third, third].repeat(3)).unwrap();
    let weight = model.initializer("weight", weight);
    let bias = model.initializer("bias", Tensor::vector(vec![127.0f32, -127.0]));
    model.node("Gemm", &["colour", &weight, &bias], &["logits"]);
    model.output("logits", DType::F32, &["N".into(), 2.into()]);
    model
}

#[test]
fn a_model_and_its_data_end_in_a_verdict_and_resume() {
    let folder = Folder::new("quick-test-verdict");
    let command = "test world:signs-shallow world:signs:40 --minutes 0.2";
    let first = folder.run(command);
    assert!([0, 1, 3].contains(&first.status), "{}", first.stderr);
    assert!(first.stderr.contains("planned: "), "{}", first.stderr);
    assert!(first.stdout.contains("Requirements"), "{}", first.stdout);
    assert!(folder.path("runs/test-world-signs-shallow/report.html").exists());
    assert!(folder.path("runs/test-world-signs-shallow/fed.png").exists());
    assert!(!folder.path("runs/test-world-signs-shallow.rehearsal").exists());
    let again = folder.run(command);
    assert_eq!(again.status, first.status, "{}", again.stderr);
    assert!(!again.stderr.contains("planned: "), "{}", again.stderr);
    let other = folder.run("test world:signs-shallow world:signs:30");
    assert_eq!(other.status, 2, "{}", other.stderr);
    assert!(other.stderr.contains("choose another file with -o"), "{}", other.stderr);
}

#[test]
fn the_way_images_are_fed_is_found_by_clean_accuracy() {
    let folder = Folder::new("quick-test-fed");
    folder.bytes("brightness.onnx", &onnx::encode(&brightness().build()));
    for class in ["dark", "light"] {
        std::fs::create_dir_all(folder.path("set").join(class)).unwrap();
    }
    for level in 0..12 {
        folder.image(&format!("set/dark/{level}.png"), [4 * level + 20; 3]);
        folder.image(&format!("set/light/{level}.png"), [4 * level + 180; 3]);
    }
    let run = folder.run("test brightness.onnx set --minutes 0.2");
    assert!([0, 1, 3].contains(&run.status), "{}", run.stderr);
    assert!(run.stderr.contains("fed as: RGB, 0 to 255"), "{}", run.stderr);
    let campaign = Campaign::load(&folder.path("test-brightness.yaml")).unwrap();
    let Source::Model { written, .. } = &campaign.targets[0].source else { panic!("a model") };
    let input = written.input.as_ref().unwrap();
    assert_eq!((input.scale, &input.mean[..]), (1.0, &[0.0; 3][..]));
}

#[test]
fn without_labels_what_cannot_be_guessed_is_an_error_with_a_way_out() {
    let folder = Folder::new("quick-test-unlabelled");
    folder.bytes("brightness.onnx", &onnx::encode(&brightness().build()));
    std::fs::create_dir_all(folder.path("photos")).unwrap();
    folder.image("photos/a.png", [9; 3]);
    let run = folder.run("test brightness.onnx photos");
    assert_eq!(run.status, 2, "{}", run.stderr);
    assert!(run.stderr.contains("resize: stretch"), "{}", run.stderr);
    assert!(!folder.path("test-brightness.yaml").exists());
}
