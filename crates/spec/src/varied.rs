//! A fault whose strength is drawn anew for every trial, so that the change that people see lies
//! in a wanted range.

use faultlens_core::{
    Dose, Image, ImageFault, Parameter, ParameterKind, Plugin, Seed, Setting, SettingError,
    Settings, Stream, Unset,
};
use faultlens_faults::{Domain, IMAGE_FAULTS, Range, domain};
use faultlens_judge::Tolerance;
use faultlens_judge::visual::Reference;

/// The key of the largest wanted visual change.
const WITHIN: &str = "within";

/// The key of the people whose tolerance says what is wanted.
const TOLERANCE: &str = "tolerance";

/// The key of what is drawn evenly.
const EVENLY: &str = "evenly";

/// What can be set of a fault whose strength is drawn, beside the fault's own parameters.
pub(crate) const VARIED: &[Parameter] = &[
    Parameter {
        name: WITHIN,
        about: "draws the strength anew for every trial, so that the visual change is at most \
                this; in place of severity and strengths",
        kind: ParameterKind::Number { min: 0.0, max: 1.0 },
        unset: Unset::Absent,
    },
    Parameter {
        name: TOLERANCE,
        about: "as within: whatever these people tolerate of the fault, for either requirement",
        kind: ParameterKind::Choice(&["cifar10-car", "imagenet-car"]),
        unset: Unset::Absent,
    },
    Parameter {
        name: EVENLY,
        about: "what is drawn evenly together with within: strength (the default), or \
                visual_change, which covers the range from 0 to within",
        kind: ParameterKind::Choice(&["strength", "visual_change"]),
        unset: Unset::Absent,
    },
];

/// How often a strength is drawn until one fits.
const MOST_DRAWS: u32 = 32;

/// How often the range of strengths is halved to find a visual change, and how near it must be.
const MOST_HALVINGS: u32 = 14;
const NEAR: f64 = 0.002;

/// The least that a strength of a mixture goes along.
const LEAST_SHARE: f64 = 0.1;

/// Images with a shorter side below this are small: strengths made for photographs wipe them out.
const PHOTO: usize = 72;

/// A fault whose strength is drawn.
pub struct Varied {
    plugin: &'static Plugin<dyn ImageFault>,
    /// What is not drawn.
    fixed: Settings,
    photo: Strengths,
    small: Strengths,
    within: f64,
    evenly: Evenly,
}

/// The strengths that are drawn.
#[derive(Debug, Clone)]
struct Strengths {
    ranges: Vec<Range>,
    /// Whether all have the same place in their ranges.
    together: bool,
}

impl Strengths {
    /// The strengths of a fault that are left to draw where some settings are fixed, for photographs
    /// or for small images.
    fn left(fault: &str, fixed: &Settings, small: bool) -> Result<Self, SettingError> {
        let Domain { ranges, together, .. } = domain(fault, small).ok_or_else(|| {
            SettingError("has no strengths that could be drawn; leave out within".to_owned())
        })?;
        let ranges = ranges.iter().filter(|range| fixed.get(range.parameter).is_none());
        let ranges: Vec<Range> = ranges.copied().collect();
        if ranges.is_empty() {
            let what = "all its strengths are set, and within draws them; leave some out";
            return Err(SettingError(what.to_owned()));
        }
        Ok(Self { ranges, together: *together })
    }
}

/// What is drawn evenly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Evenly {
    Strength,
    VisualChange,
}

/// A strength that was drawn, and what it makes of an image.
pub struct Drawn {
    /// The fault of that strength.
    pub fault: Box<dyn ImageFault>,
    /// What its random numbers start from.
    pub seed: u64,
    /// The changed image.
    pub image: Image,
    /// How much people notice of it; `None` where that cannot be measured.
    pub visual_change: Option<f64>,
    /// The strengths by name.
    pub strengths: Vec<(&'static str, f64)>,
    /// How many were tried.
    pub tried: u32,
    /// Whether the visual change is in the wanted range.
    pub fits: bool,
}

/// Whether settings ask for strengths that are drawn.
pub(crate) fn is_varied(settings: &Settings) -> bool {
    settings.get(WITHIN).is_some() || settings.get(TOLERANCE).is_some()
}

/// Whether recorded settings say that strengths were drawn.
pub fn is_drawn(settings: &serde_json::Map<String, serde_json::Value>) -> bool {
    settings.contains_key(WITHIN) || settings.contains_key(TOLERANCE)
}

/// Refuses an even draw of strengths that are not drawn.
pub(crate) fn no_evenly(settings: &Settings) -> Result<(), SettingError> {
    match settings.get(EVENLY) {
        Some(_) => Err(SettingError("evenly needs within or tolerance".to_owned())),
        None => Ok(()),
    }
}

/// The largest visual change that settings ask for.
fn within(fault: &str, settings: &Settings) -> Result<f64, SettingError> {
    match (settings.number_if_set(WITHIN), settings.word(TOLERANCE)) {
        (Some(within), Err(_)) => Ok(within),
        (None, Ok(name)) => {
            let tolerance = Tolerance::named(name);
            let threshold = tolerance.as_ref().and_then(|tolerance| tolerance.of(fault));
            let threshold = threshold.ok_or_else(|| {
                SettingError(format!("{name} says nothing of this fault; set within to a number"))
            })?;
            let both = [&threshold.correctness, &threshold.prediction].into_iter().flatten();
            Ok(both.map(|tolerated| tolerated.at_most).fold(0.0, f64::max))
        }
        _ => Err(SettingError("set within or tolerance, not both".to_owned())),
    }
}

impl Varied {
    /// The fault behind `settings` that name a visual change; an error where it has no strengths
    /// to draw, or the user has set them all.
    pub fn new(
        plugin: &'static Plugin<dyn ImageFault>,
        settings: &Settings,
    ) -> Result<Self, SettingError> {
        let within = within(plugin.name, settings)?;
        let evenly = match settings.word(EVENLY) {
            Ok("visual_change") => Evenly::VisualChange,
            _ => Evenly::Strength,
        };
        let mut fixed = Settings::default();
        for (name, setting) in settings
            .iter()
            .filter(|(name, _)| VARIED.iter().all(|parameter| parameter.name != *name))
        {
            fixed.set(name, setting.clone());
        }
        if fixed.get("severity").is_some() {
            return Err(SettingError(
                "within draws the strength, and severity sets it; leave one out".to_owned(),
            ));
        }
        let photo = Strengths::left(plugin.name, &fixed, false)?;
        let small = Strengths::left(plugin.name, &fixed, true)?;
        Ok(Self { plugin, photo, small, fixed, within, evenly })
    }

    /// Whether a fault has strengths that can be drawn.
    pub fn can_be(fault: &str) -> bool {
        domain(fault, false).is_some()
    }

    /// How much of the fault targets meet: the largest wanted visual change.
    pub fn dose(&self) -> Dose {
        Dose { axis: WITHIN, amount: self.within }
    }

    /// A fault by name with all its strengths, from what hardly anybody sees on whatever the size of
    /// the image; `None` where it has none.
    pub fn whole(fault: &str) -> Option<Self> {
        let plugin = IMAGE_FAULTS.iter().find(|plugin| plugin.name == fault)?;
        let mut settings = Settings::default();
        for parameter in plugin.parameters {
            if let Unset::Is(setting) = &parameter.unset {
                settings.set(parameter.name, setting.clone());
            }
        }
        settings.set(WITHIN, Setting::Number(1.0));
        let mut varied = Self::new(plugin, &settings).ok()?;
        varied.photo.clone_from(&varied.small);
        Some(varied)
    }

    /// The fault's name.
    pub fn name(&self) -> &'static str {
        self.plugin.name
    }

    /// Draws a strength for an image; `None` where the fault cannot be built with any.
    pub fn draw(
        &self,
        image: &Image,
        original: Option<&Reference>,
        stream: &mut Stream,
    ) -> Option<Drawn> {
        match (self.evenly, original) {
            (Evenly::VisualChange, Some(original)) => self.searched(image, original, stream),
            _ => self.tried(image, original, stream),
        }
    }

    fn strengths(&self, image: &Image) -> &Strengths {
        let small = image.width().min(image.height()) < PHOTO;
        if small { &self.small } else { &self.photo }
    }

    /// One strength after the other until one fits; the last where none does.
    fn tried(
        &self,
        image: &Image,
        original: Option<&Reference>,
        stream: &mut Stream,
    ) -> Option<Drawn> {
        let strengths = self.strengths(image);
        let mut last = None;
        for tried in 1..=MOST_DRAWS {
            let places = self.places(strengths, stream);
            let drawn = self.at(image, original, &places, stream.next_u64())?;
            let drawn = Drawn { tried, ..drawn };
            if drawn.fits {
                return Some(drawn);
            }
            last = Some(drawn);
            // What cannot be measured cannot be measured of another strength either.
            if original.is_none() {
                break;
            }
        }
        last
    }

    /// The strength whose visual change is drawn.
    fn searched(&self, image: &Image, original: &Reference, stream: &mut Stream) -> Option<Drawn> {
        let goal = stream.between(0.0, self.within);
        self.near(image, original, goal, stream)
    }

    /// The least and the most visual change of an image, with a mixture of strengths that the
    /// stream draws.
    pub fn reach(
        &self,
        image: &Image,
        original: &Reference,
        stream: &mut Stream,
    ) -> Option<(f64, f64)> {
        let far = self.mixture(image, stream);
        let seed = stream.next_u64();
        let change = |places: &[f64]| self.at(image, Some(original), places, seed)?.visual_change;
        let weak = change(&vec![0.0; far.len()])?;
        let strong = change(&far)?;
        Some((weak.min(strong), weak.max(strong)))
    }

    /// The version of an image whose visual change is nearest to `goal`; the same stream reaches
    /// as far as [`reach`](Self::reach) says.
    pub fn near(
        &self,
        image: &Image,
        original: &Reference,
        goal: f64,
        stream: &mut Stream,
    ) -> Option<Drawn> {
        let far = self.mixture(image, stream);
        self.nearest(image, original, &far, goal, stream.next_u64())
    }

    /// How far each strength goes along: the first of a mixture all the way.
    fn mixture(&self, image: &Image, stream: &mut Stream) -> Vec<f64> {
        let strengths = self.strengths(image);
        if strengths.together {
            return vec![1.0; strengths.ranges.len()];
        }
        let drawn: Vec<f64> =
            strengths.ranges.iter().map(|_| stream.between(LEAST_SHARE, 1.0)).collect();
        let most = drawn.iter().copied().fold(0.0, f64::max);
        drawn.into_iter().map(|share| share / most).collect()
    }

    /// The strength with a visual change next to `goal`: it grows with the strength, so that
    /// halving finds it; where it does not everywhere, halving still ends between two strengths of
    /// which one is below and one above.
    fn nearest(
        &self,
        image: &Image,
        original: &Reference,
        far: &[f64],
        goal: f64,
        seed: u64,
    ) -> Option<Drawn> {
        let mut low = 0.0;
        let mut high = 1.0;
        let mut best: Option<Drawn> = None;
        for tried in 1..=MOST_HALVINGS {
            // Both ends first.
            let share = [1.0, 0.0].get(tried as usize - 1).copied();
            let share = share.unwrap_or(0.5 * (low + high));
            let places: Vec<f64> = far.iter().map(|place| share * place).collect();
            let drawn = self.at(image, Some(original), &places, seed)?;
            let change = drawn.visual_change?;
            let away = |drawn: &Drawn| {
                let change = drawn.visual_change.unwrap_or(f64::INFINITY);
                (!drawn.fits, (change - goal).abs())
            };
            if best.as_ref().is_none_or(|best| away(&drawn) < away(best)) {
                best = Some(drawn);
            }
            let best = best.as_mut()?;
            best.tried = tried;
            if best.fits && away(best).1 < NEAR {
                break;
            }
            match tried {
                // Not even the strongest goes that far, or even the weakest goes farther.
                1 if change <= goal => break,
                2 if change >= goal => break,
                1 | 2 => (),
                _ if change > goal => high = share,
                _ => low = share,
            }
        }
        best
    }

    /// Where in their ranges strengths lie, from 0 (weak) to 1 (strong).
    fn places(&self, strengths: &Strengths, stream: &mut Stream) -> Vec<f64> {
        let common = stream.uniform();
        (0..strengths.ranges.len())
            .map(|at| if strengths.together || at == 0 { common } else { stream.uniform() })
            .collect()
    }

    fn at(
        &self,
        image: &Image,
        original: Option<&Reference>,
        places: &[f64],
        seed: u64,
    ) -> Option<Drawn> {
        let mut settings = self.fixed.clone();
        let mut strengths = Vec::new();
        for (range, place) in self.strengths(image).ranges.iter().zip(places) {
            let parameter = range.parameter;
            let strength = range.at(*place);
            settings.set(parameter, Setting::Number(strength));
            strengths.push((parameter, strength));
        }
        let fault = (self.plugin.build)(&settings).ok()?;
        let changed = fault.change(image, &mut Seed::new(seed).stream());
        let visual_change = original.and_then(|original| change_of(original, &changed));
        let fits = visual_change.is_some_and(|change| change <= self.within);
        Some(Drawn { fault, seed, image: changed, visual_change, strengths, tried: 1, fits })
    }
}

/// How much people notice of a change; `None` where that cannot be measured.
pub fn change_of(original: &Reference, changed: &Image) -> Option<f64> {
    original.visual_change(changed).ok().map(|change| change.delta_v)
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_faults::IMAGE_FAULTS;

    fn varied(fault: &str, set: &[(&'static str, Setting)]) -> Result<Varied, SettingError> {
        let plugin = IMAGE_FAULTS.iter().find(|plugin| plugin.name == fault).unwrap();
        let mut settings = Settings::default();
        set.iter().for_each(|(name, setting)| settings.set(name, setting.clone()));
        Varied::new(plugin, &settings)
    }

    /// Blocks of several sizes in all colours, so that every fault has something to change.
    fn picture() -> Image {
        Image::from_rgb(
            96,
            80,
            (0..96 * 80 * 3)
                .map(|at: usize| {
                    let x = at / 3 % 96;
                    let y = at / 3 / 96;
                    let channel = at % 3;
                    ((x / 7 * 37 + y / 5 * 59 + x * y / 11 + channel * 83) % 256) as u8
                })
                .collect(),
        )
        .unwrap()
    }

    #[test]
    fn what_is_drawn_is_within_and_repeats() {
        let image = picture();
        let original = Reference::new(&image).unwrap();
        let fault = varied("contrast", &[(WITHIN, Setting::Number(0.6))]).unwrap();
        let mut strengths = Vec::new();
        for seed in 0..40 {
            let draw = || fault.draw(&image, Some(&original), &mut Seed::new(seed).stream());
            let one = draw().unwrap();
            let other = draw().unwrap();
            assert_eq!((one.image == other.image, &one.strengths), (true, &other.strengths));
            assert!(one.fits && one.visual_change.unwrap() <= 0.6, "{:?}", one.visual_change);
            let again = one.fault.change(&image, &mut Seed::new(one.seed).stream());
            assert!(again == one.image);
            strengths.push(one.strengths[0].1);
        }
        strengths.sort_by(f64::total_cmp);
        assert!(strengths[0] < 0.6 && strengths[39] > 0.8, "{strengths:?}");
    }

    #[test]
    fn a_search_covers_the_range_evenly() {
        let image = picture();
        let original = Reference::new(&image).unwrap();
        let evenly =
            [(WITHIN, Setting::Number(0.8)), (EVENLY, Setting::Word("visual_change".into()))];
        let fault = varied("contrast", &evenly).unwrap();
        let change = |seed| {
            let drawn = fault.draw(&image, Some(&original), &mut Seed::new(seed).stream());
            drawn.unwrap().visual_change.unwrap()
        };
        let changes: Vec<f64> = (0..80).map(change).collect();
        // The weakest strength changes something already, and more is within reach.
        for quarter in 1..4 {
            let from = 0.2 * f64::from(quarter);
            let to = 0.2 * f64::from(quarter + 1);
            let inside = changes.iter().filter(|change| (from..to).contains(*change)).count();
            assert!((8..=34).contains(&inside), "{quarter}: {inside} of 80");
        }
    }

    #[test]
    fn what_is_out_of_reach_is_reported() {
        let image = picture();
        let original = Reference::new(&image).unwrap();
        let fault = varied("gaussian_noise", &[(WITHIN, Setting::Number(0.0))]).unwrap();
        let drawn = fault.draw(&image, Some(&original), &mut Seed::new(1).stream()).unwrap();
        assert_eq!((drawn.fits, drawn.tried), (false, MOST_DRAWS));
        let unknown = fault.draw(&image, None, &mut Seed::new(1).stream()).unwrap();
        assert_eq!((unknown.fits, unknown.tried, unknown.visual_change), (false, 1, None));
    }

    #[test]
    fn settings_that_say_two_things_are_refused() {
        let within = || (WITHIN, Setting::Number(0.5));
        let word = |word: &'static str| Setting::Word(word.into());
        let wrong = |fault, set: &[_]| varied(fault, set).err().unwrap().0;
        let severity = [within(), ("severity", Setting::Number(3.0))];
        assert!(wrong("contrast", &severity).contains("leave one out"));
        let both = [within(), (TOLERANCE, word("imagenet-car"))];
        assert!(wrong("contrast", &both).contains("not both"));
        let all = [within(), ("kept", Setting::Number(0.5))];
        assert!(wrong("contrast", &all).contains("all its strengths are set"));
        assert!(wrong("black", &[within()]).contains("no strengths"));
        let unknown = [(TOLERANCE, word("cifar10-car"))];
        assert!(wrong("gaussian_noise", &unknown).contains("says nothing of this fault"));
        let names = VARIED.iter().find(|parameter| parameter.name == TOLERANCE).unwrap();
        let ParameterKind::Choice(names) = names.kind else { panic!("{names:?}") };
        assert!(names.iter().copied().eq(Tolerance::names()));
    }
}
