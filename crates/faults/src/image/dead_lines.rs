//! Columns or rows of the sensor that no longer work.

use super::dead_pixels::SHOWS;
use super::distinct::distinct;
use super::level::{Level, Points, SEVERITY, strength};
use faultlens_core::Unset;
use faultlens_core::{
    Dose, Hazard, Image, ImageFault, Parameter, ParameterKind, Place, Plugin, Setting, Stream,
};
use std::borrow::Cow;

/// # What it does
/// Makes some columns or rows, drawn at random, black or white.
/// # When it happens
/// Broken wires or amplifiers between the sensor and its read-out.
pub(super) const DEAD_LINES: Plugin<dyn ImageFault> = Plugin {
    name: "dead_lines",
    about: "makes some columns or rows black or white",
    when: "broken wires or amplifiers between the sensor and its read-out",
    parameters: &[
        SEVERITY,
        strength("count", "how many lines are dead", 0.0, 1e6),
        DIRECTION,
        SHOWS,
    ],
    build: |settings| {
        let is = |name, wanted| settings.word(name).is_ok_and(|word| word == wanted);
        Ok(Box::new(DeadLines {
            level: POINTS.level(settings)?,
            rows: is(DIRECTION.name, "horizontal"),
            shown: if is(SHOWS.name, "white") { 255 } else { 0 },
        }))
    },
};

const POINTS: Points<1> =
    Points { names: ["count"], photo: [[1.0], [3.0], [5.0], [10.0], [20.0]], small: None };

const DIRECTION: Parameter = Parameter {
    name: "direction",
    about: "how the lines run: vertical for columns, horizontal for rows",
    kind: ParameterKind::Choice(&["vertical", "horizontal"]),
    unset: Unset::Is(Setting::Word(Cow::Borrowed("vertical"))),
};

struct DeadLines {
    level: Level<1>,
    rows: bool,
    shown: u8,
}

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

    fn hazard(&self) -> Option<Hazard> {
        Some(Hazard::new(Place::Observer, "sensor", "part of"))
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
