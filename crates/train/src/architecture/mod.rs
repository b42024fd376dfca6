//! Networks as ordinary ONNX files, at any input size, with seeded initial weights.
//!
//! 1. Name one of [`ARCHITECTURES`], with options behind a colon: `convnet:16,32x2`, `unet:8,2`.
//! 2. [`plan`] it for a [`Spec`]; the [`Blueprint`] knows how many parameters it will have.
//! 3. [`Blueprint::draw`] its weights from a seed. [`build`] does all in one call.
//!
//! To add an architecture, write one file with an [`Architecture`] constant and name it in
//! [`ARCHITECTURES`].
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
mod definition;
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

use faultlens_core::{Seed, did_you_mean};
use faultlens_engine::onnx::ModelProto;

pub use definition::Architecture;
pub(crate) use detector::CELL;
pub use error::ArchitectureError;
use request::Request;
pub use request::{Number, Spec, Takes};
pub use weights::Blueprint;

/// Every architecture, in alphabetical order. Add yours here.
pub const ARCHITECTURES: &[Architecture] = &[
    alexnet::ALEXNET,
    autoencoder::AUTOENCODER,
    convnet::CONVNET,
    dcgan::DCGAN,
    detector::DETECTOR,
    recurrent::GRU,
    highway::HIGHWAY,
    lenet::LENET,
    recurrent::LSTM,
    mlp::MLP,
    mobilenet::MOBILENET_V2,
    pilotnet::PILOTNET,
    resnet::RESNET101,
    resnet::RESNET152,
    resnet::RESNET18,
    resnet::RESNET20,
    resnet::RESNET34,
    resnet::RESNET50,
    squeezenet::SQUEEZENET,
    unet::UNET,
    vgg::VGG11,
    vgg::VGG16,
];

/// The architecture of an order, whatever its options are: to know its task before there is data.
pub fn find(order: &str) -> Result<&'static Architecture, ArchitectureError> {
    let name = split(order).0;
    if let Some(architecture) = ARCHITECTURES.iter().find(|known| known.name == name) {
        return Ok(architecture);
    }
    let known: Vec<&str> = ARCHITECTURES.iter().map(|known| known.name).collect();
    let hint = match did_you_mean(name, known.iter().copied()) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("known are {}", known.join(", ")),
    };
    Err(ArchitectureError::Unknown { name: name.to_owned(), hint })
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
    let Architecture { name, takes, .. } = *architecture;
    (architecture.plan)(&Request::new(name, takes, *spec, split(order).1)?)
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
