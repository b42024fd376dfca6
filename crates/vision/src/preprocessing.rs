//! How those who train detectors show images to them: what belongs to a head by custom.

use super::{Align, Channels, ElementType, InputDescription, Resize};

/// How images go into a family of models.
#[derive(Debug, PartialEq)]
pub(super) struct Preprocessing {
    /// The custom, in words that end a reason.
    about: &'static str,
    channels: Channels,
    resize: Resize,
    /// Of pixels, before mean and deviation.
    scale: f64,
    mean: [f64; 3],
    std: [f64; 3],
    /// The size where the model takes any.
    pub(super) side: usize,
}

const LETTERBOX: Resize = Resize::Letterbox { pad: Resize::PAD, align: Align::Centre };

/// Megvii's YOLOX since version 0.1.1rc0, `yolox/data/data_augment.py`.
pub(super) const YOLOX: Preprocessing = Preprocessing {
    about: "YOLOX is trained on BGR pixels from 0 to 255 in a letterbox of grey 114, at its top left",
    channels: Channels::Bgr,
    resize: Resize::Letterbox { pad: Resize::PAD, align: Align::TopLeft },
    scale: 1.0,
    mean: [0.0; 3],
    std: [1.0; 3],
    side: 640,
};

/// dog-qiuqiu's FastestDet, `test.py`.
pub(super) const FASTESTDET: Preprocessing = Preprocessing {
    about: "FastestDet is trained on BGR pixels from 0 to 1 of stretched images",
    channels: Channels::Bgr,
    resize: Resize::Stretch,
    scale: 1.0 / 255.0,
    mean: [0.0; 3],
    std: [1.0; 3],
    side: 352,
};

/// Linzaer's Ultra-Light-Fast-Generic-Face-Detector-1MB, `vision/transforms`.
pub(super) const ULTRAFACE: Preprocessing = Preprocessing {
    about: "Ultra-Light face detectors are trained on RGB pixels (x − 127) / 128 of stretched images",
    channels: Channels::Rgb,
    resize: Resize::Stretch,
    scale: 1.0,
    mean: [127.0; 3],
    std: [128.0; 3],
    side: 320,
};

/// dbolya's YOLACT, `utils/augmentations.py`.
pub(super) const YOLACT: Preprocessing = Preprocessing {
    about: "YOLACT is trained on stretched RGB images less ImageNet's mean, over its deviation",
    channels: Channels::Rgb,
    resize: Resize::Stretch,
    scale: 1.0,
    mean: [123.68, 116.78, 103.94],
    std: [58.40, 57.12, 57.38],
    side: 550,
};

/// Ultralytics' YOLOs and their relatives, `LetterBox` in `ultralytics/data/augment.py`.
pub(super) const YOLO: Preprocessing = Preprocessing {
    about: "these YOLOs are trained on RGB pixels from 0 to 1 in a letterbox of grey 114",
    channels: Channels::Rgb,
    resize: LETTERBOX,
    scale: 1.0 / 255.0,
    mean: [0.0; 3],
    std: [1.0; 3],
    side: 640,
};

/// Ultralytics' classifiers, `classify_transforms` in `ultralytics/data/augment.py`.
pub(super) const YOLO_CLASSIFIER: Preprocessing = Preprocessing {
    about: "Ultralytics trains classifiers on RGB pixels from 0 to 1 of a centre crop",
    channels: Channels::Rgb,
    resize: Resize::CentreCrop { share: 1.0 },
    scale: 1.0 / 255.0,
    mean: [0.0; 3],
    std: [1.0; 3],
    side: 224,
};

impl Preprocessing {
    /// Takes the custom over, and says so. A model that takes bytes or scales pixels itself is
    /// given them as they are.
    pub(super) fn apply(&self, description: &mut InputDescription, scales_itself: bool) -> String {
        if description.channels != Channels::Grey {
            description.channels = self.channels;
        }
        description.resize = self.resize;
        // All of them resize with OpenCV, but for the classifier.
        description.antialias = matches!(self.resize, Resize::CentreCrop { .. });
        // A model that scales itself, or takes bytes, is given pixels as they are.
        let raw = scales_itself || description.dtype == ElementType::Uint8;
        let (mean, std) = if raw { ([0.0; 3], [1.0; 3]) } else { (self.mean, self.std) };
        description.scale = if raw { 1.0 } else { self.scale };
        let channels = description.channels.count();
        description.mean = mean[..channels].to_vec();
        description.std = std[..channels].to_vec();
        let stay =
            if raw { "; the model takes them from 0 to 255 and scales them itself" } else { "" };
        format!("values, channels and resize: {}{stay}", self.about)
    }
}
