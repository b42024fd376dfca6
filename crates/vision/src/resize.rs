//! The ways to bring an image of any size to the size that a model takes.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;

/// How an image is brought to the model's size; models are trained with one of these, and
/// another one costs accuracy.
///
/// In YAML: `resize: stretch`, `resize: {short_side: 256}`, `resize: {centre_crop: {share: 0.9}}`;
/// `resize: centre_crop` and `resize: letterbox` stand for their defaults.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Resize {
    /// Each side by its own factor; shapes are distorted, nothing is lost.
    Stretch,
    /// Cuts the centred rectangle of the model's aspect ratio (a square for a square input) that
    /// covers this share of the largest one that fits, then resizes it.
    CentreCrop {
        /// 1 keeps all that fits; 0.875 is the preprocessing of ImageNet models.
        share: f64,
    },
    /// Resizes the short side to this many pixels, then cuts the centre: torchvision's preprocessing.
    ShortSide(usize),
    /// Keeps the aspect ratio and fills the rest with one grey: the preprocessing of detectors.
    Letterbox {
        /// The grey level of the border.
        pad: u8,
        /// Where the image lies within the border.
        align: Align,
    },
    /// The image must already have the model's size.
    None,
}

/// Where a letterboxed image lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Align {
    /// Border on both sides.
    #[default]
    #[serde(alias = "center")]
    Centre,
    /// Border only right and below.
    TopLeft,
}

impl Resize {
    /// The share that ImageNet models are evaluated with: 224 of 256 pixels.
    pub const SHARE: f64 = 0.875;
    /// The grey that YOLO models are trained with.
    pub const PAD: u8 = 114;

    const NAMES: &'static [&'static str] =
        &["stretch", "centre_crop", "short_side", "letterbox", "none"];

    fn with_defaults(name: &str) -> Option<Self> {
        Some(match name {
            "stretch" => Self::Stretch,
            "centre_crop" | "center_crop" => Self::CentreCrop { share: Self::SHARE },
            "letterbox" => Self::Letterbox { pad: Self::PAD, align: Align::default() },
            "none" => Self::None,
            _ => return None,
        })
    }
}

/// The modes that take parameters, as a map with one key.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum WithParameters {
    /// Cuts the centred rectangle of the model's aspect ratio, then resizes it.
    #[serde(alias = "center_crop")]
    CentreCrop {
        /// The share of the largest such rectangle; 0.875 by default.
        #[serde(default = "default_share")]
        #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
        share: f64,
    },
    /// Resizes the short side to this many pixels, then cuts the centre.
    ShortSide(#[schemars(range(min = 1))] usize),
    /// Keeps the aspect ratio and fills the rest with one grey.
    Letterbox {
        /// The grey level of the border; 114 by default.
        #[serde(default = "default_pad")]
        pad: u8,
        /// Where the image lies within the border; in the centre by default.
        #[serde(default)]
        align: Align,
    },
}

impl JsonSchema for Resize {
    fn schema_name() -> Cow<'static, str> {
        "Resize".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let names = Self::NAMES.iter().filter(|name| Self::with_defaults(name).is_some());
        let names: Vec<&str> = names.copied().collect();
        json_schema!({"anyOf": [{"enum": names}, generator.subschema_for::<WithParameters>()]})
    }
}

fn default_share() -> f64 {
    Resize::SHARE
}

fn default_pad() -> u8 {
    Resize::PAD
}

impl<'de> Deserialize<'de> for Resize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ResizeVisitor)
    }
}

struct ResizeVisitor;

impl<'de> Visitor<'de> for ResizeVisitor {
    type Value = Resize;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a resize mode such as `stretch` or `{short_side: 256}`")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Resize, E> {
        if name == "short_side" {
            return Err(E::custom("short_side needs its pixels, such as {short_side: 256}"));
        }
        Resize::with_defaults(name).ok_or_else(|| E::unknown_variant(name, Resize::NAMES))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Resize, A::Error> {
        Ok(match WithParameters::deserialize(MapAccessDeserializer::new(map))? {
            WithParameters::CentreCrop { share } => Resize::CentreCrop { share },
            WithParameters::ShortSide(pixels) => Resize::ShortSide(pixels),
            WithParameters::Letterbox { pad, align } => Resize::Letterbox { pad, align },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_read_from_a_name_or_with_parameters() {
        for (text, wanted) in [
            (r#""stretch""#, Resize::Stretch),
            (r#""centre_crop""#, Resize::CentreCrop { share: 0.875 }),
            (r#"{"centre_crop": {"share": 1}}"#, Resize::CentreCrop { share: 1.0 }),
            (r#"{"short_side": 256}"#, Resize::ShortSide(256)),
            (
                r#"{"letterbox": {"align": "top_left"}}"#,
                Resize::Letterbox { pad: 114, align: Align::TopLeft },
            ),
            (r#""none""#, Resize::None),
        ] {
            let read: Resize = serde_json::from_str(text).unwrap();
            assert_eq!(read, wanted, "{text}");
            let written = serde_json::to_string(&read).unwrap();
            assert_eq!(serde_json::from_str::<Resize>(&written).unwrap(), wanted, "{written}");
        }
    }

    #[test]
    fn slips_are_named() {
        for (text, wanted) in [
            (r#""streched""#, "unknown variant `streched`"),
            (r#""short_side""#, "needs its pixels"),
            (r#"{"letterbox": {"grey": 1}}"#, "unknown field `grey`"),
            (r#"{"crop": 1}"#, "unknown variant `crop`"),
        ] {
            let error = serde_json::from_str::<Resize>(text).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
