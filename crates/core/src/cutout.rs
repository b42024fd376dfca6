//! Things cut out of images, to be put into others.

use crate::Image;

/// One thing cut out of an image along its outline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cutout {
    /// Its label, from the data set or model that its outline comes from.
    pub label: String,
    /// The name of the image that it was cut from.
    pub source: String,
    /// Its name, unlike that of every other object of its pool.
    pub id: String,
    /// The average hash of `image`, by which objects that look alike are found.
    pub hash: u64,
    /// All pixels of the box around it: those beside the object too, so that its edges do not
    /// darken where it is resized.
    pub image: Image,
    /// For each pixel, rows from the top, how much of it is the object: 0 for nothing, 255 for all.
    pub alpha: Vec<u8>,
}

impl Cutout {
    /// How many pixels are mostly the object's.
    pub fn pixels(&self) -> usize {
        self.alpha.iter().filter(|&&alpha| alpha > 127).count()
    }
}
