//! How far a fault can be turned up: from hardly anything to everything.
//!
//! Severities are five points; who looks for the strength at which an answer breaks, or wants
//! images of every visual change, needs the line between them.

/// Where a number of a fault runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The number's name among the fault's parameters.
    pub parameter: &'static str,
    /// What is nearest to the untouched image.
    pub from: f64,
    /// What is farthest from it; below `from` where less is stronger.
    pub to: f64,
    /// Whether the fault cuts off what follows the point, so that a fraction on record would be
    /// one that no image has met.
    pub whole: bool,
}

impl Range {
    const fn new(parameter: &'static str, from: f64, to: f64) -> Self {
        Self { parameter, from, to, whole: false }
    }

    const fn whole(parameter: &'static str, from: f64, to: f64) -> Self {
        Self { parameter, from, to, whole: true }
    }

    /// The number at a position from 0 (weak) to 1 (strong).
    pub fn at(&self, position: f64) -> f64 {
        // Exact at both ends, which other ways to write it are not.
        let exact = self.from * (1.0 - position) + self.to * position;
        if self.whole { exact.round() } else { exact }
    }
}

/// The strengths of a fault, as lines from weak to strong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Domain {
    /// The name of the fault.
    pub fault: &'static str,
    /// Its numbers; together they set all that a severity would.
    pub ranges: &'static [Range],
    /// Whether one position holds for all numbers; otherwise each has its own.
    pub together: bool,
}

impl Domain {
    const fn together(fault: &'static str, ranges: &'static [Range]) -> Self {
        Self { fault, ranges, together: true }
    }

    const fn apart(fault: &'static str, ranges: &'static [Range]) -> Self {
        Self { fault, ranges, together: false }
    }
}

/// The domain of a fault; `None` where it has no strength. Of `small` images, about 32 pixels a
/// side, some faults would leave nothing at the weak end of the domain for photographs.
pub fn domain(fault: &str, small: bool) -> Option<&'static Domain> {
    let lists = if small { [SMALL_DOMAINS, DOMAINS] } else { [DOMAINS, &[]] };
    lists.into_iter().flatten().find(|domain| domain.fault == fault)
}

/// The domains for photographs, in alphabetical order. Those of brightness, colour_jitter,
/// contrast, defocus_blur, frost, gaussian_noise, jpeg_compression and rgb_shift are those of
/// Hu et al. 2022; the others run from the untouched image, or near to it, to severity 5.
pub const DOMAINS: &[Domain] = &[
    Domain::together("banding", &[Range::new("depth", 0.0, 0.9)]),
    Domain::together("brightness", &[Range::new("added", 0.0, 1.0)]),
    Domain::together(
        "broken_lens",
        &[Range::whole("cracks", 1.0, 20.0), Range::new("reach", 0.0, 1.3)],
    ),
    Domain::together("chromatic_aberration", &[Range::new("factor", 0.0, 3.0)]),
    Domain::apart(
        "colour_jitter",
        &[
            Range::new("brightness", 0.5, 1.0),
            Range::new("contrast", 0.5, 1.0),
            Range::new("saturation", 0.5, 1.0),
            // Shares of the colour circle, of which half is as far as a hue can turn.
            Range::new("hue", 0.25, 0.5),
        ],
    ),
    Domain::together("condensation", &[Range::new("blend", 0.0, 0.7)]),
    Domain::together("contrast", &[Range::new("kept", 0.9, 0.01)]),
    Domain::together("dead_lines", &[Range::whole("count", 0.0, 20.0)]),
    Domain::together("dead_pixels", &[Range::whole("count", 0.0, 5000.0)]),
    Domain::together(
        "defocus_blur",
        &[Range::new("radius", 1.0, 10.0), Range::new("softness", 0.0, 1.0)],
    ),
    Domain::together("dirt", &[Range::new("share", 0.0, 0.45)]),
    Domain::together("elastic_transform", &[Range::new("amount", 0.0, 30.0)]),
    Domain::together("exposure", &[Range::new("factor", 1.0, 4.5)]),
    Domain::together("fog", &[Range::new("density", 0.0, 3.0), Range::new("decay", 2.0, 1.4)]),
    Domain::together("frost", &[Range::new("added", 1.0, 0.01), Range::new("kept", 1.0, 0.01)]),
    Domain::together("gamma", &[Range::new("power", 1.0, 4.0)]),
    Domain::together("gaussian_blur", &[Range::new("deviation", 0.0, 6.0)]),
    Domain::together("gaussian_noise", &[Range::new("deviation", 0.08, 0.9)]),
    Domain::together(
        "glass_blur",
        &[
            Range::new("deviation", 0.0, 1.5),
            Range::whole("reach", 1.0, 4.0),
            Range::whole("passes", 1.0, 2.0),
        ],
    ),
    Domain::together("ice", &[Range::new("share", 0.0, 0.8)]),
    Domain::together("impulse_noise", &[Range::new("share", 0.0, 0.27)]),
    Domain::together("jpeg_compression", &[Range::whole("quality", 100.0, 1.0)]),
    Domain::together("missing_sharpness", &[Range::new("amount", 0.0, 1.0)]),
    Domain::together(
        "motion_blur",
        &[Range::whole("radius", 0.0, 20.0), Range::new("deviation", 0.1, 15.0)],
    ),
    Domain::together("occlusion", &[Range::new("share", 0.0, 0.5)]),
    Domain::together("pixelate", &[Range::new("kept", 1.0, 0.25)]),
    Domain::together(
        "rain",
        &[
            Range::whole("drops", 0.0, 1500.0),
            Range::new("length", 0.06, 0.16),
            Range::new("haze", 0.0, 0.35),
        ],
    ),
    Domain::together("rescale", &[Range::new("factor", 1.0, 0.35)]),
    Domain::apart("rgb_shift", &SHIFTS),
    Domain::together("rotation", &[Range::new("angle", 0.0, 45.0)]),
    Domain::together("saturate", &[Range::new("factor", 1.0, 20.0), Range::new("added", 0.0, 0.2)]),
    Domain::together("shot_noise", &[Range::new("photons", 10_000.0, 3.0)]),
    Domain::together(
        "snow",
        &[
            Range::new("amount", 0.0, 0.55),
            Range::new("spread", 0.0, 0.3),
            Range::new("size", 2.5, 2.5),
            Range::new("cut", 0.85, 0.85),
            Range::new("fall", 12.0, 12.0),
            Range::new("fade", 12.0, 12.0),
            Range::new("kept", 1.0, 0.55),
        ],
    ),
    Domain::together(
        "spatter",
        &[
            Range::new("amount", 0.67, 0.67),
            Range::new("spread", 0.4, 0.4),
            Range::new("size", 1.0, 1.0),
            Range::new("cut", 1.0, 0.65),
            Range::new("strength", 1.5, 1.5),
            Range::new("mud", 1.0, 1.0),
        ],
    ),
    Domain::together("speckle_noise", &[Range::new("deviation", 0.0, 0.6)]),
    Domain::together("translation", &[Range::new("right", 0.0, 0.4), Range::new("down", 0.0, 0.4)]),
    Domain::together("zoom_blur", &[Range::new("most", 1.0, 1.31), Range::new("step", 0.01, 0.03)]),
];

/// From 150 to 400 levels.
const SHIFTS: [Range; 3] = [
    Range::new("red", 150.0 / 255.0, 400.0 / 255.0),
    Range::new("green", 150.0 / 255.0, 400.0 / 255.0),
    Range::new("blue", 150.0 / 255.0, 400.0 / 255.0),
];

/// The domains for small images, where they are others than for photographs: all start at the
/// untouched image, so that every visual change can be reached.
pub const SMALL_DOMAINS: &[Domain] = &[
    Domain::apart(
        "colour_jitter",
        &[
            Range::new("brightness", 0.0, 1.0),
            Range::new("contrast", 0.0, 1.0),
            Range::new("saturation", 0.0, 1.0),
            Range::new("hue", 0.0, 0.5),
        ],
    ),
    Domain::together("contrast", &[Range::new("kept", 1.0, 0.01)]),
    Domain::together(
        "defocus_blur",
        &[Range::new("radius", 0.0, 10.0), Range::new("softness", 0.0, 1.0)],
    ),
    Domain::together("frost", &[Range::new("added", 0.0, 1.0), Range::new("kept", 1.0, 0.01)]),
    Domain::together("gaussian_noise", &[Range::new("deviation", 0.0, 0.9)]),
    Domain::apart(
        "rgb_shift",
        &[
            Range::new("red", 0.0, 400.0 / 255.0),
            Range::new("green", 0.0, 400.0 / 255.0),
            Range::new("blue", 0.0, 400.0 / 255.0),
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IMAGE_FAULTS;
    use faultlens_core::{Image, ParameterKind, Seed, Setting, Settings, Unset};

    #[test]
    fn every_fault_with_a_strength_has_a_domain_within_what_it_takes() {
        for list in [DOMAINS, SMALL_DOMAINS] {
            assert!(list.is_sorted_by_key(|domain| domain.fault));
        }
        for plugin in IMAGE_FAULTS {
            let graded = plugin.parameters.iter().any(|parameter| parameter.name == "severity");
            for small in [false, true] {
                let Some(domain) = domain(plugin.name, small) else {
                    assert!(!graded, "{}", plugin.name);
                    continue;
                };
                assert!(graded, "{}", plugin.name);
                for range in domain.ranges {
                    let own = plugin.parameters.iter().find(|own| own.name == range.parameter);
                    let kind = own.map(|parameter| parameter.kind);
                    let Some(ParameterKind::Number { min, max }) = kind else {
                        panic!("{}: {range:?} {kind:?}", plugin.name);
                    };
                    let takes = |number: f64| (min..=max).contains(&number);
                    assert!(takes(range.from) && takes(range.to), "{} {range:?}", plugin.name);
                    assert_eq!([range.at(0.0), range.at(1.0)], [range.from, range.to]);
                }
            }
        }
        assert_eq!(domain("black", false), None);
        assert_eq!(domain("contrast", true).map(|domain| domain.ranges[0].from), Some(1.0));
    }

    /// What a fault makes of an image at the strong end of its domain, but for one number.
    fn changed(domain: &Domain, parameter: &str, number: f64) -> Image {
        let plugin = IMAGE_FAULTS.iter().find(|plugin| plugin.name == domain.fault).unwrap();
        let mut settings = Settings::default();
        for parameter in plugin.parameters {
            if let Unset::Is(setting) = &parameter.unset {
                settings.set(parameter.name, setting.clone());
            }
        }
        for range in domain.ranges {
            let set = if range.parameter == parameter { number } else { range.to };
            settings.set(range.parameter, Setting::Number(set));
        }
        let level = |at: usize| (at * at / 7 % 200 + at % 50) as u8;
        let image = Image::from_rgb(96, 80, (0..3 * 96 * 80).map(level).collect()).unwrap();
        (plugin.build)(&settings).unwrap().change(&image, &mut Seed::new(3).stream())
    }

    #[test]
    fn numbers_are_whole_where_a_fault_cuts_off_what_follows_the_point() {
        // Those for small images have the same numbers, but start where a fault does nothing.
        for domain in DOMAINS {
            // What does not run needs no telling.
            for range in domain.ranges.iter().filter(|range| range.from != range.to) {
                let least = range.from.min(range.to).floor();
                let [low, high] =
                    [0.05, 0.45].map(|part| changed(domain, range.parameter, least + part));
                assert_eq!(low == high, range.whole, "{} {range:?}", domain.fault);
            }
        }
        let quality = Range::whole("quality", 100.0, 1.0);
        assert_eq!([0.0, 0.501, 1.0].map(|position| quality.at(position)), [100.0, 50.0, 1.0]);
    }
}
