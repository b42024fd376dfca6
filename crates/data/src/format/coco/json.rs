//! What is read of a COCO file; all else in it is left alone.

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// The whole file.
#[derive(Debug, Deserialize)]
pub(super) struct File {
    pub(super) images: Vec<Picture>,
    #[serde(default)]
    pub(super) annotations: Vec<Annotation>,
    #[serde(default)]
    pub(super) categories: Vec<Category>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Picture {
    pub(super) id: i64,
    pub(super) file_name: String,
    pub(super) width: usize,
    pub(super) height: usize,
}

#[derive(Debug, Deserialize)]
pub(super) struct Category {
    pub(super) id: i64,
    pub(super) name: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Annotation {
    #[serde(default)]
    pub(super) id: i64,
    pub(super) image_id: i64,
    pub(super) category_id: i64,
    /// Left, top, width, height.
    pub(super) bbox: Option<[f64; 4]>,
    pub(super) segmentation: Option<Segmentation>,
    #[serde(default)]
    pub(super) iscrowd: Flag,
}

/// 0 or 1, false or true: programs write both.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Flag(pub(super) bool);

/// The pixels of an object, in the two ways that COCO has.
#[derive(Debug, PartialEq)]
pub(super) enum Segmentation {
    /// Each one x, y, x, y …; the object is what any of them covers.
    Polygons(Vec<Vec<f64>>),
    Runs(Runs),
}

/// Lengths of runs of pixels outside and inside in turn, column by column.
#[derive(Debug, PartialEq, Deserialize)]
pub(super) struct Runs {
    /// Height, width.
    pub(super) size: [usize; 2],
    pub(super) counts: Counts,
}

#[derive(Debug, PartialEq)]
pub(super) enum Counts {
    Plain(Vec<u64>),
    /// As pycocotools packs them into text.
    Packed(String),
}

// Written by hand, so that an error names the part that is wrong; `untagged` would not.
impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Flag;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("0 or 1")
            }

            fn visit_bool<E>(self, flag: bool) -> Result<Flag, E> {
                Ok(Flag(flag))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Flag, E> {
                Ok(Flag(number != 0))
            }
        }
        from.deserialize_any(Any)
    }
}

impl<'de> Deserialize<'de> for Segmentation {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Segmentation;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of polygons, or an object with size and counts")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Segmentation, A::Error> {
                let mut polygons = Vec::new();
                while let Some(polygon) = list.next_element()? {
                    polygons.push(polygon);
                }
                Ok(Segmentation::Polygons(polygons))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Segmentation, A::Error> {
                Runs::deserialize(MapAccessDeserializer::new(map)).map(Segmentation::Runs)
            }
        }
        from.deserialize_any(Any)
    }
}

impl<'de> Deserialize<'de> for Counts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Counts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of counts, or counts packed into text")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Counts, A::Error> {
                let mut counts = Vec::new();
                while let Some(count) = list.next_element()? {
                    counts.push(count);
                }
                Ok(Counts::Plain(counts))
            }

            fn visit_str<E>(self, text: &str) -> Result<Counts, E> {
                Ok(Counts::Packed(text.to_owned()))
            }
        }
        from.deserialize_any(Any)
    }
}
