//! Strong JPEG compression (`jpeg_compression` of ImageNet-C).

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, TABLE, strength};
use crate::image::paint::jpeg::Jpeg;
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, SettingError, Settings, Stream,
};

described! {
    /// # What it does
    /// Compresses the image as JPEG and decompresses it again.
    /// # When it happens
    /// Narrow links, full disks, images that are saved again and again.
    pub struct JpegCompression {
        level: Level<1>,
        jpeg: Jpeg,
    }
}

impl Fault for JpegCompression {
    const FACTS: Facts = Facts {
        name: "jpeg_compression",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "encoding", "less")),
        parameters: &[
            SEVERITY,
            TABLE,
            strength("quality", "quality on libjpeg's scale; lower is worse", 1.0, 100.0),
        ],
        // The range of Hu et al. (ICSE 2022).
        domain: Some(Domain::together(&[Range::whole("quality", 100.0, 1.0)])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        let level = POINTS.level(settings)?;
        Ok(Self { jpeg: Jpeg::new(level.numbers[0] as u16), level })
    }
}

const POINTS: Points<1> = Points {
    names: ["quality"],
    photo: [[25.0], [18.0], [15.0], [10.0], [7.0]],
    small: Some([[80.0], [65.0], [58.0], [50.0], [40.0]]),
};

impl ImageFault for JpegCompression {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        self.jpeg.lossy(image)
    }

    fn dose(&self) -> Dose {
        self.level.dose
    }

    fn draws(&self) -> bool {
        false
    }
}
