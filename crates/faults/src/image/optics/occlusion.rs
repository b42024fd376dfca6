//! Something in front of the lens.

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, strength};
use crate::image::paint::grain::bytes;
use crate::image::paint::pixels::with_rgb;
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, Parameter, ParameterKind, Setting,
    SettingError, Settings, Stream, Unset,
};
use std::borrow::Cow;

described! {
    /// # What it does
    /// Covers a rectangle of the image's aspect ratio at a random position.
    /// # When it happens
    /// A leaf or a sticker on the lens, a passer-by, a block lost in transmission.
    pub struct Occlusion {
        level: Level<1>,
        patch: Patch,
    }
}

impl Fault for Occlusion {
    const FACTS: Facts = Facts {
        name: "occlusion",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Object, "position", "in front of")),
        parameters: &[
            SEVERITY,
            strength("share", "fraction of the area that is covered", 0.0, 1.0),
            Parameter {
                name: "patch",
                about: "what the covered part shows",
                kind: ParameterKind::Choice(&["black", "grey", "noise"]),
                unset: Unset::Is(Setting::Word(Cow::Borrowed("grey"))),
            },
        ],
        domain: Some(Domain::together(&[Range::new("share", 0.0, 0.5)])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self { level: POINTS.level(settings)?, patch: Patch::of(settings)? })
    }
}

const POINTS: Points<1> =
    Points { names: ["share"], photo: [[0.04], [0.1], [0.2], [0.35], [0.5]], small: None };

enum Patch {
    Black,
    Grey,
    Noise,
}

impl Patch {
    fn of(settings: &Settings) -> Result<Self, SettingError> {
        match settings.get("patch") {
            None => Ok(Self::Grey),
            Some(_) => match settings.word("patch")? {
                "black" => Ok(Self::Black),
                "noise" => Ok(Self::Noise),
                _ => Ok(Self::Grey),
            },
        }
    }
}

impl ImageFault for Occlusion {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        let side = libm::sqrt(self.level.numbers[0]);
        let [width, height] =
            [image.width(), image.height()].map(|n| libm::round(side * n as f64) as usize);
        // Drawn as shares, so that a larger patch covers the smaller one's place.
        let [x, y] = [image.width() - width, image.height() - height]
            .map(|free| libm::round(stream.uniform() * free as f64) as usize);
        let content = match self.patch {
            Patch::Black => vec![0; 3 * width * height],
            Patch::Grey => vec![128; 3 * width * height],
            Patch::Noise => bytes(3 * width * height, stream),
        };
        let mut rgb = image.rgb().to_vec();
        if width > 0 {
            let rows = rgb.chunks_exact_mut(3 * image.width()).skip(y);
            for (row, content) in rows.zip(content.chunks_exact(3 * width)) {
                row[3 * x..][..3 * width].copy_from_slice(content);
            }
        }
        with_rgb(image, rgb)
    }

    fn dose(&self) -> Dose {
        self.level.dose
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Seed;

    #[test]
    fn a_patch_covers_its_share() {
        let image = Image::from_rgb(40, 20, vec![7; 2400]).unwrap();
        for (share, patch) in [(0.0, Patch::Grey), (0.25, Patch::Black), (1.0, Patch::Noise)] {
            let dose = Dose { axis: "share", amount: share };
            let fault = Occlusion { level: Level { numbers: [share], dose }, patch };
            for seed in 0..9 {
                let changed = fault.change(&image, &mut Seed::new(seed).stream());
                let (pixels, _) = changed.rgb().as_chunks::<3>();
                let covered = pixels.iter().filter(|&&pixel| pixel != [7; 3]).count();
                assert_eq!(covered as f64, share * 800.0);
            }
        }
    }
}
