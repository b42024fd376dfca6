//! Bands of light and dark.

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, strength};
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, Parameter, ParameterKind, Setting,
    SettingError, Settings, Stream, Unset,
};
use std::borrow::Cow;
use std::f64::consts::TAU;

described! {
    /// # What it does
    /// Darkens the image in bands that repeat, starting at a random phase. Bands are soft waves, or
    /// hard steps as of a read-out that loses every other part.
    /// # When it happens
    /// Lamps that flicker under a rolling shutter, hum of the power supply, a failing read-out.
    pub struct Banding {
        level: Level<1>,
        bands: f64,
        vertical: bool,
        hard: bool,
    }
}

impl Fault for Banding {
    const FACTS: Facts = Facts {
        name: "banding",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::LightSource, "intensity", "temporal periodic")),
        parameters: &[
            SEVERITY,
            strength("depth", "fraction of the light that the darkest lines lose", 0.0, 1.0),
            Parameter {
                name: "bands",
                about: "number of bands",
                kind: ParameterKind::Number { min: 0.5, max: 10_000.0 },
                unset: Unset::Is(Setting::Number(BANDS)),
            },
            word("direction", "how the bands run", &["horizontal", "vertical"], "horizontal"),
            word("edges", "how bands begin and end", &["soft", "hard"], "soft"),
        ],
        domain: Some(Domain::together(&[Range::new("depth", 0.0, 0.9)])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self {
            level: POINTS.level(settings)?,
            bands: settings.number_if_set("bands").unwrap_or(BANDS),
            vertical: settings.word("direction").is_ok_and(|word| word == "vertical"),
            hard: settings.word("edges").is_ok_and(|word| word == "hard"),
        })
    }
}

const POINTS: Points<1> =
    Points { names: ["depth"], photo: [[0.1], [0.25], [0.45], [0.65], [0.9]], small: None };

const BANDS: f64 = 8.0;

const fn word(
    name: &'static str,
    about: &'static str,
    words: &'static [&'static str],
    unset: &'static str,
) -> Parameter {
    let unset = Unset::Is(Setting::Word(Cow::Borrowed(unset)));
    Parameter { name, about, kind: ParameterKind::Choice(words), unset }
}

impl Banding {
    /// What is left of every line's light, in parts of 256.
    fn kept(&self, lines: usize, begin: f64) -> Vec<u16> {
        let [depth] = self.level.numbers;
        let mut kept = Vec::with_capacity(lines);
        for line in 0..lines {
            let wave =
                0.5 - 0.5 * libm::cos(TAU * (begin + line as f64 * self.bands / lines as f64));
            let dark = if self.hard { libm::round(wave) } else { wave };
            kept.push(libm::round(256.0 * (1.0 - depth * dark)) as u16);
        }
        kept
    }
}

/// A value times a share in parts of 256.
fn darker(value: u8, kept: u16) -> u8 {
    ((u16::from(value) * kept) >> 8) as u8
}

impl ImageFault for Banding {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        let begin = stream.uniform();
        let length = 3 * image.width();
        let mut changed = image.clone();
        let rows = changed.rgb_mut().chunks_exact_mut(length);
        if self.vertical {
            let kept: Vec<u16> =
                self.kept(image.width(), begin).into_iter().flat_map(|kept| [kept; 3]).collect();
            for row in rows {
                row.iter_mut().zip(&kept).for_each(|(to, &kept)| *to = darker(*to, kept));
            }
        } else {
            for (row, kept) in rows.zip(self.kept(image.height(), begin)) {
                row.iter_mut().for_each(|to| *to = darker(*to, kept));
            }
        }
        changed
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
    fn bands_are_as_many_as_wanted_and_as_dark() {
        let image = Image::from_rgb(4, 100, vec![200; 1200]).unwrap();
        let dose = Dose { axis: "depth", amount: 0.5 };
        let level = Level { numbers: [0.5], dose };
        let fault = Banding { level, bands: 5.0, vertical: false, hard: true };
        let changed = fault.change(&image, &mut Seed::new(3).stream());
        let rows: Vec<u8> = changed.rgb().iter().step_by(12).copied().collect();
        assert!(rows.iter().all(|&value| value == 200 || value == 100));
        let begins = rows.windows(2).filter(|pair| pair[0] > pair[1]).count();
        assert!((4..=5).contains(&begins), "{begins}");
        let turned = Banding { vertical: true, ..fault };
        let wide = Image::from_rgb(100, 4, vec![200; 1200]).unwrap();
        let changed = turned.change(&wide, &mut Seed::new(3).stream());
        assert!(changed.rgb().iter().step_by(3).take(100).eq(&rows));
    }
}
