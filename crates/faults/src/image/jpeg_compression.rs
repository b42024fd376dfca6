//! Too few bytes.

use super::jpeg::Jpeg;
use super::level::{Level, Points, SEVERITY, TABLE, strength};
use faultlens_core::{Dose, Hazard, Image, ImageFault, Place, Plugin, Stream};

/// # What it does
/// Compresses the image as JPEG and decompresses it again.
/// # When it happens
/// Narrow links, full disks, images that are saved again and again.
pub(super) const JPEG_COMPRESSION: Plugin<dyn ImageFault> = Plugin {
    name: "jpeg_compression",
    about: "compresses the image as JPEG and decompresses it again",
    when: "narrow links, full disks, or images that are saved again and again",
    parameters: &[
        SEVERITY,
        TABLE,
        strength("quality", "the quality on libjpeg's scale; less is worse", 1.0, 100.0),
    ],
    build: |settings| {
        let level = POINTS.level(settings)?;
        Ok(Box::new(JpegCompression { jpeg: Jpeg::new(level.numbers[0] as u16), level }))
    },
};

const POINTS: Points<1> = Points {
    names: ["quality"],
    photo: [[25.0], [18.0], [15.0], [10.0], [7.0]],
    small: Some([[80.0], [65.0], [58.0], [50.0], [40.0]]),
};

struct JpegCompression {
    level: Level<1>,
    jpeg: Jpeg,
}

impl ImageFault for JpegCompression {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        self.jpeg.lossy(image)
    }

    fn dose(&self) -> Dose {
        self.level.dose
    }

    fn hazard(&self) -> Option<Hazard> {
        Some(Hazard::new(Place::Observer, "encoding", "less"))
    }

    fn draws(&self) -> bool {
        false
    }
}
