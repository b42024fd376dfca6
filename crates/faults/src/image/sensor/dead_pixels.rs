//! Dead pixels of the sensor.

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, strength};
use crate::image::paint::distinct::distinct;
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, Parameter, ParameterKind, Setting,
    SettingError, Settings, Stream, Unset,
};
use std::borrow::Cow;

described! {
    /// # What it does
    /// Makes random pixels black or white. How many is given by `count`, or by `share` as a
    /// fraction of all pixels.
    /// # When it happens
    /// An ageing sensor, radiation, manufacturing defects.
    pub struct DeadPixels {
        dose: Dose,
        amount: Amount,
        shown: [u8; 3],
    }
}

impl Fault for DeadPixels {
    const FACTS: Facts = Facts {
        name: "dead_pixels",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "sensor", "spatial aperiodic")),
        parameters: &[
            SEVERITY,
            strength("count", "number of dead pixels", 0.0, 1e9),
            strength("share", "dead pixels as a fraction of all; instead of count", 0.0, 1.0),
            SHOWS,
        ],
        domain: Some(Domain::together(&[Range::whole("count", 0.0, 5000.0)])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Self::new(settings)
    }
}

/// What a part of the sensor shows that no longer works.
pub(super) const SHOWS: Parameter = Parameter {
    name: "shows",
    about: "what a dead part of the sensor shows",
    kind: ParameterKind::Choice(&["black", "white"]),
    unset: Unset::Is(Setting::Word(Cow::Borrowed("black"))),
};

const COUNTS: Points<1> =
    Points { names: ["count"], photo: [[1.0], [50.0], [200.0], [1000.0], [5000.0]], small: None };

enum Amount {
    Count(f64),
    Share(f64),
}

impl DeadPixels {
    fn new(settings: &Settings) -> Result<Self, SettingError> {
        let shown =
            if settings.word(SHOWS.name).is_ok_and(|word| word == "white") { 255 } else { 0 };
        let (dose, amount) = match settings.number_if_set("share") {
            Some(_) if settings.number_if_set("count").is_some() => {
                return Err(SettingError("set count or share, not both".to_owned()));
            }
            Some(share) => (Dose { axis: "share", amount: share }, Amount::Share(share)),
            None => {
                let Level { numbers: [count], dose } = COUNTS.level(settings)?;
                (dose, Amount::Count(count))
            }
        };
        Ok(Self { dose, amount, shown: [shown; 3] })
    }
}

impl ImageFault for DeadPixels {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        let total = image.width() * image.height();
        let count = match self.amount {
            Amount::Count(count) => count as usize,
            Amount::Share(share) => libm::round(share * total as f64) as usize,
        };
        let mut changed = image.clone();
        let dead = distinct(total, count, stream);
        for (pixel, _) in
            changed.rgb_mut().as_chunks_mut::<3>().0.iter_mut().zip(dead).filter(|at| at.1)
        {
            *pixel = self.shown;
        }
        changed
    }

    fn dose(&self) -> Dose {
        self.dose
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::{Seed, Setting};

    fn dead(set: &[(&'static str, Setting)]) -> Result<usize, String> {
        let mut settings = Settings::default();
        for (name, setting) in set {
            settings.set(name, setting.clone());
        }
        let fault = DeadPixels::new(&settings).map_err(|error| error.0)?;
        let image = Image::from_rgb(30, 20, vec![128; 1800]).unwrap();
        let changed = fault.change(&image, &mut Seed::new(1).stream());
        let (pixels, _) = changed.rgb().as_chunks::<3>();
        Ok(pixels.iter().filter(|&&pixel| pixel == fault.shown).count())
    }

    #[test]
    fn as_many_are_dead_as_said() {
        let number = Setting::Number;
        assert_eq!(dead(&[("severity", number(2.0))]), Ok(50));
        assert_eq!(
            dead(&[("count", number(7.0)), ("shows", Setting::Word("white".into()))]),
            Ok(7)
        );
        assert_eq!(dead(&[("share", number(0.25))]), Ok(150));
        assert_eq!(dead(&[("severity", number(5.0))]), Ok(600));
        let both = dead(&[("share", number(0.25)), ("count", number(7.0))]);
        assert_eq!(both, Err("set count or share, not both".to_owned()));
    }
}
