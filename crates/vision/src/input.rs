//! What a model wants to see, written down.

use faultlens_core::DType;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::geometry::ResizeSteps;
use super::{Placement, Resize, VisionError};

/// How images become a model's input tensor: resize to `size`, order the channels, then
/// `(pixel × scale − mean) / std` for each element.
///
/// Wrong preprocessing is the commonest reason for a model that "does not work", so every field
/// has a value that can be shown; what a file leaves out gets the default that is documented here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "InputKeys")]
pub struct InputDescription {
    /// Rows and columns of the model's input.
    pub size: [usize; 2],
    /// How an image of another size is brought to `size`; by default `stretch`.
    pub resize: Resize,
    /// How pixels are weighed when resizing; by default `bilinear`.
    pub filter: Filter,
    /// Whether the filter widens when shrinking, as Pillow does (the default); `false` looks
    /// only at the nearest pixels, as OpenCV does.
    pub antialias: bool,
    /// Which channels, in which order; by default `rgb`.
    pub channels: Channels,
    /// Where the channels stand in the tensor; by default `nchw`.
    pub layout: Layout,
    /// The factor on pixel values 0 to 255; by default 1/255, and 1 for integer types.
    pub scale: f64,
    /// What is subtracted after scaling, per channel in the order of `channels`; by default 0.
    pub mean: Vec<f64>,
    /// What the difference is divided by, per channel in the order of `channels`; by default 1.
    pub std: Vec<f64>,
    /// The type of the tensor's elements; integer types are rounded and clamped. By default `f32`.
    pub dtype: ElementType,
    /// Whether the model takes one image without an axis of images, as torchvision's detectors do.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub alone: bool,
    /// For generators, which take a vector instead of an image: its axes, without that of the
    /// batch. The numbers are drawn from a standard normal distribution, by the image's pixels;
    /// nothing else of the description counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latent: Option<Vec<usize>>,
}

/// How pixels are weighed when resizing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Filter {
    /// The one nearest pixel.
    Nearest,
    /// A triangle; what most models are trained with.
    #[default]
    Bilinear,
    /// A cubic with a = −0.5, as in Pillow.
    Bicubic,
    /// A windowed sinc over three lobes.
    Lanczos,
}

/// Which channels a model sees, in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Channels {
    /// Red, green, blue.
    #[default]
    Rgb,
    /// Blue, green, red: the preprocessing of models trained with OpenCV.
    Bgr,
    /// One channel of luminance (ITU-R 601, as Pillow).
    #[serde(alias = "gray")]
    Grey,
}

impl Channels {
    /// How many there are.
    pub fn count(self) -> usize {
        match self {
            Self::Rgb | Self::Bgr => 3,
            Self::Grey => 1,
        }
    }
}

/// Where the channels stand in the tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Image, channel, row, column: PyTorch.
    #[default]
    Nchw,
    /// Image, row, column, channel: TensorFlow.
    Nhwc,
}

/// The element types that image inputs have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ElementType {
    /// 32-bit floats.
    #[default]
    F32,
    /// 16-bit floats.
    F16,
    /// Bytes.
    Uint8,
    /// Signed bytes, of quantised models.
    Int8,
}

impl ElementType {
    /// The tensor type of the same name.
    pub fn dtype(self) -> DType {
        match self {
            Self::F32 => DType::F32,
            Self::F16 => DType::F16,
            Self::Uint8 => DType::U8,
            Self::Int8 => DType::I8,
        }
    }

    /// The type that makes tensors of `dtype`, if there is one.
    pub fn of(dtype: DType) -> Option<Self> {
        [Self::F32, Self::F16, Self::Uint8, Self::Int8].into_iter().find(|t| t.dtype() == dtype)
    }

    fn default_scale(self) -> f64 {
        match self {
            Self::F32 | Self::F16 => 1.0 / 255.0,
            Self::Uint8 | Self::Int8 => 1.0,
        }
    }
}

/// The keys of a description as a file has them: everything but the size may be left out, and what
/// is left out may depend on other keys. Their comments are what editors show.
///
/// It has the name of the checked type, so that readers which look up a section by its type's name
/// find the schema.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "InputDescription")]
struct InputKeys {
    /// Rows and columns of the model's input, such as [224, 224].
    #[schemars(inner(range(min = 1, max = InputDescription::MAX_SIDE)))]
    size: Option<[usize; 2]>,
    /// How an image of another size is brought to `size`; by default `stretch`.
    resize: Option<Resize>,
    /// How pixels are weighed when resizing; by default `bilinear`.
    #[serde(default)]
    filter: Filter,
    /// Whether the filter widens when shrinking, as in Pillow (the default); `false` looks only at
    /// the nearest pixels, as in OpenCV.
    antialias: Option<bool>,
    /// Which channels, in which order; by default `rgb`.
    #[serde(default)]
    channels: Channels,
    /// Where the channels stand in the tensor; by default `nchw`.
    #[serde(default)]
    layout: Layout,
    /// The factor on pixel values 0 to 255; by default 1/255, and 1 for integer types.
    scale: Option<f64>,
    /// What is subtracted after scaling: one number, or one per channel in the order of
    /// `channels`; by default 0.
    #[schemars(length(min = 1, max = 3))]
    mean: Option<Vec<f64>>,
    /// What the difference is divided by: one number, or one per channel in the order of
    /// `channels`; by default 1.
    #[schemars(length(min = 1, max = 3))]
    std: Option<Vec<f64>>,
    /// The type of the tensor's elements; integer types are rounded and clamped. By default `f32`.
    #[serde(default)]
    dtype: ElementType,
    /// Whether the model takes one image without an axis of images, as torchvision's detectors do.
    #[serde(default)]
    alone: bool,
    /// For generators, which take a vector instead of an image: its axes, without that of the
    /// batch. The numbers are drawn from a standard normal distribution, by the image's pixels;
    /// no other key counts.
    #[schemars(inner(range(min = 1, max = InputDescription::MAX_LATENT)))]
    latent: Option<Vec<usize>>,
}

impl TryFrom<InputKeys> for InputDescription {
    type Error = VisionError;

    fn try_from(written: InputKeys) -> Result<Self, VisionError> {
        if let Some(axes) = written.latent {
            let description = Self { dtype: written.dtype, ..Self::latent(axes) };
            description.check()?;
            return Ok(description);
        }
        let size = written.size.ok_or(VisionError::NoSize)?;
        let plain = Self::plain(size, written.channels, written.dtype);
        let description = Self {
            resize: written.resize.unwrap_or(plain.resize),
            filter: written.filter,
            antialias: written.antialias.unwrap_or(plain.antialias),
            layout: written.layout,
            alone: written.alone,
            scale: written.scale.unwrap_or(plain.scale),
            mean: written.mean.unwrap_or(plain.mean),
            std: written.std.unwrap_or(plain.std),
            ..plain
        };
        description.check()?;
        Ok(description)
    }
}

impl InputDescription {
    /// The largest side of a model's input that is accepted.
    pub const MAX_SIDE: usize = 8192;
    /// The longest vector that is drawn for a generator.
    pub const MAX_LATENT: usize = 1 << 20;

    /// The description that has every default: stretched, RGB to NCHW or one grey channel,
    /// scaled to 0..1, or raw bytes for integer types.
    pub fn plain(size: [usize; 2], channels: Channels, dtype: ElementType) -> Self {
        Self {
            size,
            resize: Resize::Stretch,
            filter: Filter::default(),
            antialias: true,
            channels,
            layout: Layout::default(),
            scale: dtype.default_scale(),
            mean: vec![0.0; channels.count()],
            std: vec![1.0; channels.count()],
            dtype,
            alone: false,
            latent: None,
        }
    }

    /// The description of a vector with these axes.
    pub fn latent(axes: Vec<usize>) -> Self {
        let length = axes.iter().fold(1, |n: usize, &axis| n.saturating_mul(axis));
        let plain = Self::plain([1, length], Channels::Grey, ElementType::F32);
        Self { latent: Some(axes), ..plain }
    }

    /// Says what is wrong before any image is touched.
    pub fn check(&self) -> Result<(), VisionError> {
        let [height, width] = self.size;
        let limit = Self::MAX_SIDE;
        if let Some(axes) = &self.latent {
            let length = axes.iter().try_fold(1usize, |n, &axis| n.checked_mul(axis));
            let fits = length.is_some_and(|n| (1..=Self::MAX_LATENT).contains(&n));
            let plain = fits && self.dtype == ElementType::F32;
            return if plain { Ok(()) } else { Err(VisionError::Latent(Self::MAX_LATENT)) };
        }
        if [height, width].iter().any(|side| !(1..=limit).contains(side)) {
            return Err(VisionError::Size { height, width, limit });
        }
        match self.resize {
            Resize::CentreCrop { share } if !(share > 0.0 && share <= 1.0) => {
                return Err(VisionError::Share(share));
            }
            Resize::ShortSide(pixels) if pixels < height.max(width) || pixels > limit => {
                return Err(VisionError::ShortSide { pixels, height, width });
            }
            _ => {}
        }
        self.check_numbers("scale", &[self.scale])?;
        self.check_numbers("mean", &self.mean)?;
        self.check_numbers("std", &self.std)
    }

    fn check_numbers(&self, field: &'static str, numbers: &[f64]) -> Result<(), VisionError> {
        let channels = self.channels.count();
        if numbers.len() != channels && numbers.len() != 1 {
            return Err(VisionError::PerChannel { field, given: numbers.len(), channels });
        }
        match numbers.iter().find(|n| !n.is_finite() || (field == "std" && **n == 0.0)) {
            Some(&value) => Err(VisionError::Number { field, value }),
            None => Ok(()),
        }
    }

    /// The shape of a batch of `images`; of an image alone, that of one.
    pub fn shape(&self, images: usize) -> Vec<usize> {
        if let Some(axes) = &self.latent {
            return [&[images], &axes[..]].concat();
        }
        let [height, width] = self.size;
        let channels = self.channels.count();
        let one = match self.layout {
            Layout::Nchw => [channels, height, width],
            Layout::Nhwc => [height, width, channels],
        };
        if self.alone { one.to_vec() } else { [&[images], &one[..]].concat() }
    }

    /// Where an image of this size comes to lie in the model's input.
    pub fn placement(&self, width: usize, height: usize) -> Result<Placement, VisionError> {
        Ok(self.steps(width, height)?.placement())
    }

    pub(super) fn steps(&self, width: usize, height: usize) -> Result<ResizeSteps, VisionError> {
        ResizeSteps::new(self.resize, [width, height], [self.size[1], self.size[0]])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Image;

    fn read(text: &str) -> Result<InputDescription, String> {
        serde_json::from_str(text).map_err(|e| e.to_string())
    }

    #[test]
    fn what_is_left_out_gets_its_default() {
        let d = read(r#"{"size": [32, 48]}"#).unwrap();
        assert_eq!(d, InputDescription::plain([32, 48], Channels::Rgb, ElementType::F32));
        assert_eq!(d.shape(2), [2, 3, 32, 48]);
        assert_eq!(InputDescription { alone: true, ..d.clone() }.shape(1), [3, 32, 48]);
        let bytes = read(r#"{"size": [8, 8], "dtype": "uint8", "layout": "nhwc"}"#).unwrap();
        assert_eq!((bytes.scale, bytes.shape(1)), (1.0, vec![1, 8, 8, 3]));
    }

    #[test]
    fn writing_and_reading_gives_the_same_description() {
        let d = read(
            r#"{"size": [240, 320], "resize": {"letterbox": {"align": "top_left"}},
                "channels": "bgr", "filter": "lanczos", "antialias": false,
                "mean": [1, 2, 3], "std": [0.5], "dtype": "f16"}"#,
        )
        .unwrap();
        assert_eq!(read(&serde_json::to_string(&d).unwrap()).unwrap(), d);
    }

    #[test]
    fn impossible_descriptions_are_refused() {
        for (text, wanted) in [
            (r#"{"size": [0, 8]}"#, "out of range"),
            (r#"{"size": [8, 99999]}"#, "out of range"),
            (r#"{"size": [8, 8], "sclae": 1}"#, "unknown field `sclae`"),
            (r#"{"size": [8, 8], "mean": [1, 2]}"#, "mean has 2 numbers"),
            (r#"{"size": [8, 8], "std": [1, 0, 1]}"#, "std holds 0"),
            (r#"{"size": [8, 8], "resize": {"short_side": 7}}"#, "make it at least 8"),
            (r#"{"size": [8, 8], "resize": {"centre_crop": {"share": 1.5}}}"#, "share 1.5"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(wanted), "{error}");
        }
    }

    #[test]
    fn a_generator_is_fed_a_vector_for_each_image() {
        let d = read(r#"{"latent": [5, 1, 1]}"#).unwrap();
        assert_eq!(d, InputDescription::latent(vec![5, 1, 1]));
        assert_eq!(read(&serde_json::to_string(&d).unwrap()).unwrap(), d);
        let image = |grey: u8| Image::from_rgb(1, 1, vec![grey; 3]).unwrap();
        let both = d.tensor(&[image(1), image(2)]).unwrap();
        assert_eq!(both.shape(), [2, 5, 1, 1]);
        let numbers = both.as_f32().unwrap();
        assert_ne!(numbers[..5], numbers[5..]);
        assert_eq!(d.tensor(&[image(2)]).unwrap().as_f32(), Some(&numbers[5..]));
        for (text, wanted) in [
            (r#"{"latent": [0]}"#, "latent"),
            (r#"{"latent": [5], "dtype": "uint8"}"#, "latent"),
            ("{}", "size is missing"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
