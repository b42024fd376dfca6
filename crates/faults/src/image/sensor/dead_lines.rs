//! Dead columns or rows of the sensor.

use super::dead_pixels::SHOWS;
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
    /// Makes random columns or rows black or white.
    /// # When it happens
    /// Broken wires or amplifiers between the sensor and its read-out.
    pub struct DeadLines {
        level: Level<1>,
        rows: bool,
        shown: u8,
    }
}

impl Fault for DeadLines {
    const FACTS: Facts = Facts {
        name: "dead_lines",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "sensor", "part of")),
        parameters: &[
            SEVERITY,
            strength("count", "number of dead lines", 0.0, 1e6),
            DIRECTION,
            SHOWS,
        ],
        domain: Some(Domain::together(&[Range::whole("count", 0.0, 20.0)])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        let rows = settings.word(DIRECTION.name).is_ok_and(|word| word == "horizontal");
        let white = settings.word(SHOWS.name).is_ok_and(|word| word == "white");
        Ok(Self { level: POINTS.level(settings)?, rows, shown: if white { 255 } else { 0 } })
    }
}

const POINTS: Points<1> =
    Points { names: ["count"], photo: [[1.0], [3.0], [5.0], [10.0], [20.0]], small: None };

const DIRECTION: Parameter = Parameter {
    name: "direction",
    about: "how the lines run: vertical for columns, horizontal for rows",
    kind: ParameterKind::Choice(&["vertical", "horizontal"]),
    unset: Unset::Is(Setting::Word(Cow::Borrowed("vertical"))),
};

impl ImageFault for DeadLines {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        let count = self.level.numbers[0] as usize;
        let mut changed = image.clone();
        let rows = changed.rgb_mut().chunks_exact_mut(3 * image.width());
        if self.rows {
            let dead = distinct(image.height(), count, stream);
            rows.zip(dead).filter(|row| row.1).for_each(|(row, _)| row.fill(self.shown));
            return changed;
        }
        let dead = distinct(image.width(), count, stream).into_iter().enumerate();
        let dead: Vec<usize> = dead.filter_map(|(at, dead)| dead.then_some(3 * at)).collect();
        for row in rows {
            for &at in &dead {
                row[at..at + 3].fill(self.shown);
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
    fn whole_lines_are_dead_in_the_direction_wanted() {
        let image = Image::from_rgb(9, 7, vec![128; 3 * 63]).unwrap();
        for (rows, lines, length) in [(true, 7, 9), (false, 9, 7)] {
            let dose = Dose { axis: "count", amount: 4.0 };
            let fault = DeadLines { level: Level { numbers: [4.0], dose }, rows, shown: 255 };
            let changed = fault.change(&image, &mut Seed::new(1).stream());
            let dead = |x: usize, y: usize| changed.rgb()[3 * (9 * y + x)] == 255;
            let at = |line, along| if rows { dead(along, line) } else { dead(line, along) };
            let all = (0..lines).filter(|&line| (0..length).all(|along| at(line, along)));
            let any = (0..lines).filter(|&line| (0..length).any(|along| at(line, along)));
            assert_eq!((all.count(), any.count()), (4, 4));
        }
    }
}
