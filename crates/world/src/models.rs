//! The models trained on the embedded world, as the project ships them.

/// A model that comes with the project.
#[derive(Debug)]
pub struct Shipped {
    /// What it is asked by, behind `world:`.
    pub name: &'static str,
    /// The ONNX file.
    pub onnx: &'static [u8],
    /// The model card, as JSON.
    pub card: &'static str,
}

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        &[$(Shipped {
            name: $name,
            onnx: include_bytes!(concat!("../models/", $name, ".onnx")),
            card: include_str!(concat!("../models/", $name, ".json")),
        }),*]
    };
}

/// Every shipped model, in alphabetical order. `train-all.sh` beside the files trains them again.
pub const MODELS: &[Shipped] =
    shipped!["detector", "segmenter", "signs-deep", "signs-middle", "signs-shallow", "steering",];
