//! How strong a fault is: a severity, or the numbers that it stands for.

use faultlens_core::{Dose, Parameter, ParameterKind, Setting, SettingError, Settings, Unset};
use std::borrow::Cow;

pub(crate) const SEVERITY: Parameter = Parameter {
    name: "severity",
    about: "how strong the fault is, from 1 (hardly visible) to 5 (severe)",
    kind: ParameterKind::Whole { min: 1, max: 5 },
    unset: Unset::Absent,
};

/// For faults that have [`Points::small`].
pub(crate) const TABLE: Parameter = Parameter {
    name: "table",
    about: "what a severity stands for: imagenet-c for photographs, cifar10-c for small images",
    kind: ParameterKind::Choice(&["imagenet-c", "cifar10-c"]),
    unset: Unset::Is(Setting::Word(Cow::Borrowed("imagenet-c"))),
};

/// A number that a severity sets where the user does not.
pub(crate) const fn strength(
    name: &'static str,
    about: &'static str,
    min: f64,
    max: f64,
) -> Parameter {
    Parameter { name, about, kind: ParameterKind::Number { min, max }, unset: Unset::Absent }
}

/// What severities 1 to 5 stand for in the space of a fault's numbers.
pub(crate) struct Points<const N: usize> {
    /// The names of the numbers; the first one that a user sets is the dose.
    pub(crate) names: [&'static str; N],
    /// For photographs, some hundred pixels a side.
    pub(crate) photo: [[f64; N]; 5],
    /// For images of about 32×32 pixels, which the numbers for photographs would wipe out.
    pub(crate) small: Option<[[f64; N]; 5]>,
}

impl<const N: usize> Points<N> {
    /// The numbers of a severity, with those in place of them that the user has set.
    pub(crate) fn level(&self, settings: &Settings) -> Result<Level<N>, SettingError> {
        let severity = settings.number_if_set(SEVERITY.name);
        let point = severity.map(|severity| self.point(severity, settings)).transpose()?;
        let set = self.names.map(|name| settings.number_if_set(name));
        let mut numbers = [0.0; N];
        for (at, number) in numbers.iter_mut().enumerate() {
            let known = set[at].or(point.map(|point| point[at]));
            *number = known.ok_or_else(|| {
                let names = self.names.join(" and ");
                SettingError(format!("set severity (1 to 5), or {names}"))
            })?;
        }
        let dose = match (set.iter().position(Option::is_some), severity) {
            (None, Some(amount)) => Dose { axis: SEVERITY.name, amount },
            (first, _) => {
                let at = first.unwrap_or(0);
                Dose { axis: self.names[at], amount: numbers[at] }
            }
        };
        Ok(Level { numbers, dose })
    }

    fn point(&self, severity: f64, settings: &Settings) -> Result<[f64; N], SettingError> {
        let small = settings.word(TABLE.name).is_ok_and(|table| table == "cifar10-c");
        let points = self.small.as_ref().filter(|_| small).unwrap_or(&self.photo);
        if (1.0..=5.0).contains(&severity) && severity.fract() == 0.0 {
            return Ok(points[severity as usize - 1]);
        }
        Err(SettingError(format!("severity is a whole number from 1 to 5, not {severity}")))
    }
}

/// The numbers of a fault, checked once, and which of them curves are drawn over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Level<const N: usize> {
    pub(crate) numbers: [f64; N],
    pub(crate) dose: Dose,
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTS: Points<2> = Points {
        names: ["radius", "deviation"],
        photo: [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0], [9.0, 10.0]],
        small: Some([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6], [0.7, 0.8], [0.9, 1.0]]),
    };

    fn level(set: &[(&'static str, f64)], table: &'static str) -> Result<Level<2>, SettingError> {
        let mut settings = Settings::default();
        for &(name, number) in set {
            settings.set(name, Setting::Number(number));
        }
        settings.set(TABLE.name, Setting::Word(table.into()));
        POINTS.level(&settings)
    }

    #[test]
    fn a_severity_is_a_point_and_numbers_stand_in_its_place() {
        let is = |numbers, axis, amount| Ok(Level { numbers, dose: Dose { axis, amount } });
        let photo = |set: &[_]| level(set, "imagenet-c");
        assert_eq!(photo(&[("severity", 2.0)]), is([3.0, 4.0], "severity", 2.0));
        assert_eq!(level(&[("severity", 2.0)], "cifar10-c"), is([0.3, 0.4], "severity", 2.0));
        let both = [("severity", 2.0), ("deviation", 9.5)];
        assert_eq!(photo(&both), is([3.0, 9.5], "deviation", 9.5));
        let numbers = [("radius", 6.5), ("deviation", 9.5)];
        assert_eq!(photo(&numbers), is([6.5, 9.5], "radius", 6.5));
    }

    #[test]
    fn too_little_and_too_much_are_refused() {
        let wrong = |set: &[_]| level(set, "imagenet-c").unwrap_err().0;
        assert_eq!(wrong(&[]), "set severity (1 to 5), or radius and deviation");
        assert_eq!(wrong(&[("radius", 1.0)]), "set severity (1 to 5), or radius and deviation");
        for severity in [0.0, 2.5, 6.0] {
            let says = wrong(&[("severity", severity)]);
            assert_eq!(says, format!("severity is a whole number from 1 to 5, not {severity}"));
        }
    }
}
