//! Bands of light and dark.

use super::level::{Level, Points, SEVERITY, strength};
use faultlens_core::Unset;
use faultlens_core::{
    Dose, Hazard, Image, ImageFault, Parameter, ParameterKind, Place, Plugin, Setting, Stream,
};
use std::borrow::Cow;
use std::f64::consts::TAU;

/// # What it does
/// Darkens the image in bands that come again and again, from a place drawn at random: soft as
/// waves, or hard as of a read-out that loses every other part.
/// # When it happens
/// Lamps that flicker under a rolling shutter, a power supply that hums, a failing read-out.
pub(super) const BANDING: Plugin<dyn ImageFault> = Plugin {
    name: "banding",
    about: "darkens the image in bands that come again and again",
    when: "lamps that flicker under a rolling shutter, or a failing read-out",
    parameters: &[
        SEVERITY,
        strength("depth", "what the darkest lines lose, as a share of their light", 0.0, 1.0),
        Parameter {
            name: "bands",
            about: "how many bands the image shows",
            kind: ParameterKind::Number { min: 0.5, max: 10_000.0 },
            unset: Unset::Is(Setting::Number(BANDS)),
        },
        word("direction", "how the bands run", &["horizontal", "vertical"], "horizontal"),
        word("edges", "how a band begins and ends", &["soft", "hard"], "soft"),
    ],
    build: |settings| {
        let is = |name, wanted| settings.word(name).is_ok_and(|word| word == wanted);
        Ok(Box::new(Banding {
            level: POINTS.level(settings)?,
            bands: settings.number_if_set("bands").unwrap_or(BANDS),
            vertical: is("direction", "vertical"),
            hard: is("edges", "hard"),
        }))
    },
};

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

struct Banding {
    level: Level<1>,
    bands: f64,
    vertical: bool,
    hard: bool,
}

impl Banding {
    /// What is left of every line's light, in parts of 256.
    fn kept(&self, lines: usize, begin: f64) -> Vec<u16> {
        let [depth] = self.level.numbers;
        let kept = |line: usize| {
            let wave =
                0.5 - 0.5 * libm::cos(TAU * (begin + line as f64 * self.bands / lines as f64));
            let dark = if self.hard { libm::round(wave) } else { wave };
            libm::round(256.0 * (1.0 - depth * dark)) as u16
        };
        (0..lines).map(kept).collect()
    }
}

impl ImageFault for Banding {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        let begin = stream.uniform();
        let length = 3 * image.width();
        let mut changed = image.clone();
        let rows = changed.rgb_mut().chunks_exact_mut(length);
        let darker = |value: u8, kept: u16| ((u16::from(value) * kept) >> 8) as u8;
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

    fn hazard(&self) -> Option<Hazard> {
        Some(Hazard::new(Place::LightSource, "intensity", "temporal periodic"))
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
