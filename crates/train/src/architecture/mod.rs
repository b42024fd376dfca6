//! Networks as ordinary ONNX files, at any input size, with seeded first weights.
//!
//! 1. Name one of [`ARCHITECTURES`], with options behind a colon: `convnet:16,32x2`, `unet:8,2`.
//! 2. [`plan`] it for a [`Spec`]; the [`Blueprint`] knows how many parameters it will have.
//! 3. [`Blueprint::draw`] its weights from a seed. [`build`] does all in one call.
//!
//! The input is `image` \[N, channels, height, width\] and a classifier's output `logits`
//! \[N, classes\]; which other inputs and outputs there are, each family says. A node and the value
//! it makes share a name such as `stage2.block1.conv1`; its weights are
//! `stage2.block1.conv1.weight` and `….bias`, those of a batch normalisation `….bn1.scale`,
//! `….bias`, `….mean` and `….var`.

mod alexnet;
mod autoencoder;
mod conv;
mod convnet;
mod dcgan;
mod detector;
mod error;
mod highway;
mod layers;
mod lenet;
mod mlp;
mod mobilenet;
mod net;
mod pilotnet;
mod recurrent;
mod request;
mod resnet;
mod squeezenet;
#[cfg(test)]
mod tests;
mod unet;
mod vgg;
mod weights;

use crate::Task;
use faultlens_core::{Seed, did_you_mean};
use faultlens_engine::onnx::ModelProto;

pub(crate) use detector::CELL;
pub use error::ArchitectureError;
use request::Request;
pub use request::{Number, Spec, Takes};
use resnet::Block::{Basic, Bottleneck};
pub use weights::Blueprint;

/// A kind of network that can be built.
#[derive(Debug)]
pub struct Architecture {
    /// What it is ordered by.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// What may stand behind its name.
    pub takes: Takes,
    /// What it is made to learn; `None` where training has no task for it.
    pub task: Option<Task>,
    plan: fn(&Request) -> Result<Blueprint, ArchitectureError>,
}

impl Architecture {
    /// An order for it with all its options at their defaults.
    pub fn example(&self) -> String {
        match self.takes.default_text() {
            options if options.is_empty() => self.name.to_owned(),
            options => format!("{}:{options}", self.name),
        }
    }
}

/// Every architecture, in alphabetical order. Add yours here.
pub const ARCHITECTURES: &[Architecture] = &[
    Architecture {
        name: "alexnet",
        about: "AlexNet in torchvision's layout; from 15×15 pixels",
        takes: alexnet::TAKES,
        task: Some(Task::Classify),
        plan: alexnet::plan,
    },
    Architecture {
        name: "autoencoder",
        about: "the picture through a bottleneck and back: `picture` between 0 and 1",
        takes: autoencoder::TAKES,
        task: Some(Task::Reconstruct),
        plan: autoencoder::plan,
    },
    Architecture {
        name: "convnet",
        about: "a plain convolutional network of any depth and width",
        takes: convnet::TAKES,
        task: Some(Task::Classify),
        plan: convnet::plan,
    },
    Architecture {
        name: "dcgan",
        about: "the generator of a DCGAN: `z` in, `image` between -1 and 1 out",
        takes: dcgan::TAKES,
        task: None,
        plan: dcgan::plan,
    },
    Architecture {
        name: "detector",
        about: "a one-stage detector without anchors: `scores` and `boxes` per cell of 8×8 pixels",
        takes: detector::TAKES,
        task: Some(Task::Detect),
        plan: detector::plan,
    },
    Architecture {
        name: "gru",
        about: "rows of the image as a sequence into gated recurrent units",
        takes: recurrent::TAKES,
        task: Some(Task::Classify),
        plan: |request| recurrent::plan(request, recurrent::GRU),
    },
    Architecture {
        name: "highway",
        about: "a convolutional highway network, whose gates mix each block's input back in",
        takes: highway::TAKES,
        task: Some(Task::Classify),
        plan: highway::plan,
    },
    Architecture {
        name: "lenet",
        about: "LeNet-5 with rectifiers and maximum pooling; from 12×12 pixels",
        takes: lenet::TAKES,
        task: Some(Task::Classify),
        plan: lenet::plan,
    },
    Architecture {
        name: "lstm",
        about: "rows of the image as a sequence into long short-term memory",
        takes: recurrent::TAKES,
        task: Some(Task::Classify),
        plan: |request| recurrent::plan(request, recurrent::LSTM),
    },
    Architecture {
        name: "mlp",
        about: "fully connected layers of any depth and width",
        takes: mlp::TAKES,
        task: Some(Task::Classify),
        plan: mlp::plan,
    },
    Architecture {
        name: "mobilenet_v2",
        about: "MobileNetV2: inverted bottlenecks with depthwise convolutions",
        takes: mobilenet::TAKES,
        task: Some(Task::Classify),
        plan: mobilenet::plan,
    },
    Architecture {
        name: "pilotnet",
        about: "NVIDIA's PilotNet: steering `angle` between -1 and 1; from 61×61 pixels",
        takes: pilotnet::TAKES,
        task: Some(Task::Regress),
        plan: pilotnet::plan,
    },
    Architecture {
        name: "resnet101",
        about: "ResNet-101: bottlenecks in four stages of 3, 4, 23 and 3",
        takes: resnet::TAKES,
        task: Some(Task::Classify),
        plan: |request| resnet::plan(request, Bottleneck, [3, 4, 23, 3]),
    },
    Architecture {
        name: "resnet152",
        about: "ResNet-152: bottlenecks in four stages of 3, 8, 36 and 3",
        takes: resnet::TAKES,
        task: Some(Task::Classify),
        plan: |request| resnet::plan(request, Bottleneck, [3, 8, 36, 3]),
    },
    Architecture {
        name: "resnet18",
        about: "ResNet-18: four stages of 2 blocks",
        takes: resnet::TAKES,
        task: Some(Task::Classify),
        plan: |request| resnet::plan(request, Basic, [2, 2, 2, 2]),
    },
    Architecture {
        name: "resnet20",
        about: "ResNet-20 for CIFAR-10: three stages of 3 blocks, 16 to 64 channels",
        takes: resnet::TAKES,
        task: Some(Task::Classify),
        plan: resnet::plan_for_cifar,
    },
    Architecture {
        name: "resnet34",
        about: "ResNet-34: four stages of 3, 4, 6 and 3 blocks",
        takes: resnet::TAKES,
        task: Some(Task::Classify),
        plan: |request| resnet::plan(request, Basic, [3, 4, 6, 3]),
    },
    Architecture {
        name: "resnet50",
        about: "ResNet-50: bottlenecks in four stages of 3, 4, 6 and 3",
        takes: resnet::TAKES,
        task: Some(Task::Classify),
        plan: |request| resnet::plan(request, Bottleneck, [3, 4, 6, 3]),
    },
    Architecture {
        name: "squeezenet",
        about: "SqueezeNet 1.1: fire modules, no fully connected layer",
        takes: squeezenet::TAKES,
        task: Some(Task::Classify),
        plan: squeezenet::plan,
    },
    Architecture {
        name: "unet",
        about: "a small U-Net: `logits` for every class and pixel",
        takes: unet::TAKES,
        task: Some(Task::Segment),
        plan: unet::plan,
    },
    Architecture {
        name: "vgg11",
        about: "VGG-11 with batch normalisation and one layer as its head",
        takes: vgg::TAKES,
        task: Some(Task::Classify),
        plan: |request| vgg::plan(request, [1, 1, 2, 2, 2]),
    },
    Architecture {
        name: "vgg16",
        about: "VGG-16 with batch normalisation and one layer as its head",
        takes: vgg::TAKES,
        task: Some(Task::Classify),
        plan: |request| vgg::plan(request, [2, 2, 3, 3, 3]),
    },
];

/// The architecture of an order, whatever its options are: to know its task before there is data.
pub fn find(order: &str) -> Result<&'static Architecture, ArchitectureError> {
    let name = split(order).0;
    ARCHITECTURES.iter().find(|a| a.name == name).ok_or_else(|| ArchitectureError::Unknown {
        name: name.to_owned(),
        suggestion: did_you_mean(name, ARCHITECTURES.iter().map(|a| a.name)),
    })
}

fn split(order: &str) -> (&str, Option<&str>) {
    match order.split_once(':') {
        Some((name, options)) => (name, Some(options)),
        None => (order, None),
    }
}

/// The network of an order such as `lenet` or `convnet:16,32x2`, its weights not drawn yet.
pub fn plan(order: &str, spec: &Spec) -> Result<Blueprint, ArchitectureError> {
    let architecture = find(order)?;
    (architecture.plan)(&Request::new(architecture, *spec, split(order).1)?)
}

/// The network of an order, with its first weights.
///
/// ```
/// # use faultlens_core::{Seed, Tensor};
/// # use faultlens_engine::Model;
/// # use faultlens_train::architecture::{Spec, build};
/// let model = build("convnet:8,16", &Spec::new([3, 32, 32], 10), Seed::new(1))?;
/// let images = Tensor::new(vec![2, 3, 32, 32], vec![0.5f32; 2 * 3 * 32 * 32])?;
/// let logits = &Model::from_proto(&model)?.run(&[("image", images)])?[0];
/// assert_eq!(logits.shape(), [2, 10]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn build(order: &str, spec: &Spec, seed: Seed) -> Result<ModelProto, ArchitectureError> {
    Ok(plan(order, spec)?.draw(seed))
}
