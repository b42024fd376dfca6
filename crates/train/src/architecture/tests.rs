//! Every architecture at several sizes, against published numbers and through the engine.

use faultlens_core::{Seed, Tensor};
use faultlens_engine::Model;
use faultlens_engine::onnx::{ModelProto, encode};

use super::*;

/// Orders, images `[channels, height, width]`, and outputs. Deep networks are made narrow, since
/// these tests are about shapes.
const CASES: &[(&str, [usize; 3], usize)] = &[
    ("alexnet:0.1", [3, 15, 15], 10),
    ("alexnet:0.1", [3, 32, 32], 10),
    ("alexnet:0.1,0", [3, 48, 64], 43),
    ("alexnet:0.1", [3, 64, 200], 2),
    ("alexnet:0.05", [3, 224, 224], 10),
    ("autoencoder", [1, 28, 28], 1),
    ("autoencoder:8,16", [3, 48, 48], 3),
    ("autoencoder:4,8", [3, 128, 96], 3),
    ("autoencoder:4,8", [3, 4, 12], 3),
    ("convnet", [3, 48, 48], 43),
    ("convnet:16x2,32x2,64x2", [3, 48, 48], 43),
    ("convnet:4,8,8,8,8,8,8", [1, 28, 28], 10),
    ("dcgan", [1, 28, 28], 64),
    ("dcgan:8", [3, 32, 32], 100),
    ("dcgan:8", [3, 64, 64], 100),
    ("dcgan:4", [1, 4, 12], 5),
    ("detector", [3, 64, 64], 4),
    ("detector:8,8,16x2", [3, 48, 128], 1),
    ("detector:4,4,4", [1, 8, 8], 1),
    ("gru", [1, 28, 28], 10),
    ("gru:16,8x2", [3, 32, 20], 10),
    ("highway", [1, 28, 28], 10),
    ("highway:8x3,16", [3, 48, 48], 43),
    ("lenet", [1, 12, 12], 10),
    ("lenet", [1, 28, 28], 10),
    ("lenet", [3, 32, 32], 10),
    ("lenet", [3, 48, 50], 43),
    ("lstm", [1, 28, 28], 10),
    ("lstm:16x2,8", [3, 20, 32], 10),
    ("mlp", [1, 28, 28], 10),
    ("mlp:256,128", [3, 32, 32], 10),
    ("mlp:32x8", [1, 1, 7], 2),
    ("mobilenet_v2:0.25", [3, 28, 28], 10),
    ("mobilenet_v2:0.25,0", [3, 32, 32], 10),
    ("mobilenet_v2:0.1", [3, 96, 128], 10),
    ("mobilenet_v2:0.1", [1, 2, 1], 10),
    ("pilotnet", [3, 66, 200], 1),
    ("pilotnet:0.5", [3, 128, 128], 1),
    ("pilotnet:0.5", [1, 61, 61], 1),
    ("resnet101:0.1", [3, 32, 32], 10),
    ("resnet152:0.1", [3, 32, 32], 10),
    ("resnet18:0.25", [3, 96, 100], 10),
    ("resnet18:0.25", [1, 28, 28], 10),
    ("resnet18:0.1", [3, 1, 1], 10),
    ("resnet20", [3, 32, 32], 10),
    ("resnet34:0.1", [3, 48, 48], 43),
    ("resnet50:0.1", [3, 32, 32], 10),
    ("resnet50:0.1", [3, 128, 96], 10),
    ("squeezenet", [3, 32, 32], 10),
    ("squeezenet:0.5,0", [1, 28, 28], 10),
    ("squeezenet:0.25", [3, 128, 128], 10),
    ("squeezenet:0.25", [1, 1, 5], 10),
    ("unet", [3, 64, 48], 5),
    ("unet:8,2", [3, 60, 64], 2),
    ("unet:2", [1, 8, 8], 2),
    ("vgg11:0.25", [3, 32, 32], 10),
    ("vgg11:0.1,0.5", [1, 28, 28], 10),
    ("vgg11:0.1", [1, 1, 1], 10),
    ("vgg16:0.1", [3, 48, 48], 43),
    ("vgg16:0.1", [3, 96, 64], 10),
];

/// What each output must look like behind the batch.
fn wanted_outputs(order: &str, [c, h, w]: [usize; 3], n: usize) -> Vec<(&str, Vec<usize>)> {
    let cells = (h / 8) * (w / 8);
    match order.split(':').next().unwrap() {
        "autoencoder" => vec![("picture", vec![n, h, w])],
        "dcgan" => vec![("image", vec![c, h, w])],
        "detector" => vec![("scores", vec![cells, n]), ("boxes", vec![cells, 4])],
        "pilotnet" => vec![("angle", vec![n])],
        "unet" => vec![("logits", vec![n, h, w])],
        _ => vec![("logits", vec![n])],
    }
}

fn noise(shape: &[usize], seed: u64) -> Tensor {
    let mut stream = Seed::new(seed).stream();
    let values = (0..shape.iter().product()).map(|_| stream.between(-1.0, 1.0) as f32);
    Tensor::new(shape.to_vec(), values.collect::<Vec<f32>>()).unwrap()
}

fn input_of(model: &ModelProto, image: [usize; 3], outputs: usize) -> (String, Vec<usize>) {
    let name = model.graph.as_ref().unwrap().input[0].name.clone();
    let dims = if name == "z" { vec![outputs] } else { image.to_vec() };
    (name, [vec![2], dims].concat())
}

#[test]
fn every_network_answers_in_the_stated_shape() {
    for &(order, image, outputs) in CASES {
        let model = build(order, &Spec::new(image, outputs), Seed::new(1)).unwrap();
        let (input, shape) = input_of(&model, image, outputs);
        let loaded = Model::from_proto(&model).unwrap();
        let answers = loaded.run(&[(&input, noise(&shape, 2))]).unwrap();
        let wanted = wanted_outputs(order, image, outputs);
        assert_eq!(answers.len(), wanted.len(), "{order}");
        let stated = &model.graph.as_ref().unwrap().output;
        for ((answer, (name, dims)), stated) in answers.iter().zip(wanted).zip(stated) {
            assert_eq!(stated.name, name, "{order}");
            assert_eq!(answer.shape(), [vec![2], dims].concat(), "{order} at {image:?}");
            let values = answer.as_f32().unwrap();
            assert!(values.iter().all(|v| v.is_finite()), "{order} at {image:?}");
            let spread = values.iter().any(|v| *v != values[0]);
            assert!(spread, "{order} at {image:?} says the same everywhere");
        }
    }
}

#[test]
fn every_architecture_is_tried_and_they_are_sorted() {
    assert!(ARCHITECTURES.is_sorted_by_key(|a| a.name));
    for architecture in ARCHITECTURES {
        let mut tried = CASES.iter().map(|(order, ..)| order.split(':').next());
        assert!(tried.any(|name| name == Some(architecture.name)), "{}", architecture.name);
    }
}

#[test]
fn parameters_are_as_many_as_published() {
    let cifar = Spec::new([3, 32, 32], 10);
    let imagenet = Spec::new([3, 224, 224], 1000);
    let digits = Spec::new([1, 28, 28], 10);
    let cases = [
        // LeNet-5 with all channels connected, on 28×28 padded to 32×32 or on 32×32.
        ("lenet", digits, 61_706),
        ("lenet", Spec::new([1, 32, 32], 10), 61_706),
        // Down 9·1·4 and 9·4·8, norms 2·4 + 2·8; 392·5 + 5 and 5·392 + 392, norm 2·8; up 16·8·4,
        // norm 2·4; head 16·4·1 + 1.
        (
            "autoencoder:4,5",
            Spec::new([1, 28, 28], 1),
            36 + 288 + 24 + 1_965 + 2_352 + 16 + 512 + 8 + 65,
        ),
        // 784·256 + 256 + 256·128 + 128 + 128·10 + 10.
        ("mlp:256,128", digits, 235_146),
        // PyTorch's `LSTM(28, 128)` and `GRU(28, 128)`, and 128·10 + 10.
        ("lstm", digits, 80_896 + 1_290),
        ("gru", digits, 60_672 + 1_290),
        // torchvision's models.
        ("alexnet", imagenet, 61_100_840),
        ("mobilenet_v2", imagenet, 3_504_872),
        ("mobilenet_v2:0.5", imagenet, 1_968_680),
        ("mobilenet_v2:1.4", imagenet, 6_108_776),
        ("resnet18", imagenet, 11_689_512),
        ("resnet34", imagenet, 21_797_672),
        ("resnet50", imagenet, 25_557_032),
        ("resnet101", imagenet, 44_549_160),
        ("resnet152", imagenet, 60_192_808),
        ("squeezenet", imagenet, 1_235_496),
        // The same with a 3×3 stem and 10 classes.
        ("resnet18", cifar, 11_173_962),
        ("resnet34", cifar, 21_282_122),
        ("resnet50", cifar, 23_520_842),
        ("resnet101", cifar, 42_512_970),
        ("resnet152", cifar, 58_156_618),
        // The features of torchvision's `vgg11_bn` and `vgg16_bn` without the biases in front of
        // batch normalisations, and 512·10 + 10.
        ("vgg11", cifar, 9_225_984 - 2_752 + 5_130),
        ("vgg16", cifar, 14_723_136 - 4_224 + 5_130),
        // The paper's 0.27 million: 269,722 with shortcuts without weights (option A); here with
        // 2,752 in two convolutions and their batch normalisations (option B).
        ("resnet20", cifar, 269_722 + 2_752),
        // PilotNet's paper says about 250 thousand.
        ("pilotnet", Spec::new([3, 66, 200], 1), 252_219),
    ];
    for (order, spec, wanted) in cases {
        assert_eq!(plan(order, &spec).unwrap().parameters(), wanted, "{order}");
    }
}

#[test]
fn sign_classifiers_of_three_depths_are_small() {
    for order in ["convnet:16,32,64", "convnet:16x2,32x2,64x2", "convnet:12x3,24x3,48x3"] {
        let blueprint = plan(order, &Spec::new([3, 48, 48], 43)).unwrap();
        assert!(blueprint.parameters() <= 120_000, "{order}: {}", blueprint.parameters());
        let bytes = encode(&blueprint.draw(Seed::new(1))).len();
        assert!(bytes < 500_000, "{order}: {bytes}");
    }
}

#[test]
fn the_seed_decides_the_weights() {
    for order in ["convnet:4,8", "lstm:8", "unet:4,1"] {
        let bytes = |seed| {
            let spec = Spec::new([1, 16, 16], 3);
            encode(&build(order, &spec, Seed::new(seed)).unwrap())
        };
        assert_eq!(bytes(1), bytes(1));
        assert_ne!(bytes(1), bytes(2));
    }
}

#[test]
fn another_layer_leaves_the_weights_of_others_alone() {
    let weight = |order: &str| {
        let model = build(order, &Spec::new([3, 32, 32], 3), Seed::new(1)).unwrap();
        let mut weights = model.graph.unwrap().initializer.into_iter();
        weights.find(|w| w.name == "stage2.conv1.weight").unwrap()
    };
    assert_eq!(weight("convnet:4,8"), weight("convnet:4x2,8x2,16"));
}

#[test]
fn values_that_losses_take_have_their_names() {
    let model = build("detector:4,4,4", &Spec::new([3, 16, 24], 2), Seed::new(1)).unwrap();
    let loaded = Model::from_proto(&model).unwrap();
    let image = noise(&[1, 3, 16, 24], 3);
    let answers = loaded.run(&[("image", image)]).unwrap();
    let made: Vec<&String> =
        model.graph.iter().flat_map(|g| &g.node).flat_map(|n| &n.output).collect();
    for name in ["logits", "distances", "scores", "boxes"] {
        assert_eq!(made.iter().filter(|made| **made == name).count(), 1, "{name}");
    }
    // Small weights at first: scores near the prior, boxes of one cell around each centre.
    let scores = answers[0].as_f32().unwrap();
    let boxes = answers[1].as_f32().unwrap();
    assert!(scores.iter().all(|s| (0.005..0.08).contains(s)), "{scores:?}");
    let last = &boxes[boxes.len() - 4..];
    for (side, wanted) in last.iter().zip([12.0f32, 4.0, 28.0, 20.0]) {
        assert!((side - wanted).abs() < 4.0, "{last:?}");
    }
}

#[test]
fn wrong_orders_say_what_to_do() {
    let spec = Spec::new([3, 32, 32], 10);
    let cases = [
        ("resnet81", spec, "no architecture is called \"resnet81\"; did you mean \"resnet101\"?"),
        (
            "convnet:16,,2",
            spec,
            "convnet takes channels and convolutions of each stage as a list such as 16,32x2, and \
             \"16,,2\" is not that; write it as in \"convnet:16,32,64\"",
        ),
        (
            "unet:8,2.5",
            spec,
            "unet takes channels at full size (a whole number from 1 to 1024), halvings (a whole \
             number from 1 to 6), and \"8,2.5\" is not that; write it as in \"unet:16,3\"",
        ),
        (
            "lenet:3",
            spec,
            "lenet takes no options, and \"3\" is not that; write it as in \"lenet\"",
        ),
        (
            "pilotnet",
            spec,
            "images of 32×32 pixels are too small for pilotnet; the smallest it takes are 61×61",
        ),
        (
            "unet",
            Spec::new([3, 64, 60], 2),
            "unet takes images whose sides are multiples of 8, and 64×60 are not; resize or pad \
             them",
        ),
        ("mlp", Spec::new([3, 32, 32], 0), "mlp was ordered with 0 outputs; ask for at least 1"),
    ];
    for (order, spec, wanted) in cases {
        assert_eq!(plan(order, &spec).unwrap_err().to_string(), wanted);
    }
    for order in ["mlp:0", "mlp:8x0", "mlp:99999999", "unet:8,2,1", "vgg11:-1", "vgg11:nan"] {
        let error = plan(order, &spec).unwrap_err();
        assert!(matches!(error, ArchitectureError::Options { .. }), "{order}: {error}");
    }
    let error = plan("detector:8,8", &spec).unwrap_err().to_string();
    assert!(error.contains("of exactly 3"), "{error}");
    let error = plan("transformer", &spec).unwrap_err().to_string();
    assert!(error.contains("known are alexnet, autoencoder"), "{error}");
}
