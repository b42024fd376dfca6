//! The models trained on the embedded world, as they come with the project.

/// A model that comes with the project.
#[derive(Debug)]
pub struct EmbeddedModel {
    /// Its name behind `world:`.
    pub name: &'static str,
    /// The ONNX file.
    pub onnx: &'static [u8],
    /// The model card, as JSON.
    pub card: &'static str,
}

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        &[$(EmbeddedModel {
            name: $name,
            onnx: include_bytes!(concat!("../models/", $name, ".onnx")),
            card: include_str!(concat!("../models/", $name, ".json")),
        }),*]
    };
}

/// Every embedded model, in alphabetical order. `train-all.sh` beside the files trains them again.
pub const MODELS: &[EmbeddedModel] =
    embedded!["detector", "segmenter", "signs-deep", "signs-middle", "signs-shallow", "steering",];
