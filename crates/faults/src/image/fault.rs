//! The trait by which an image fault states its facts, and the entries of the registry.

use super::builder::{Builder, FaultError, Value};
use super::facts::Facts;
use faultlens_core::{ImageFault, Plugin, SettingError, Settings};

/// An image fault with a name and settings: all that a campaign file, the registry and the
/// documentation need to know of it.
///
/// ```
/// use faultlens_core::Image;
/// use faultlens_faults::image::{Fault, Fog, ImageFault};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let image = Image::from_rgb(8, 8, vec![100; 8 * 8 * 3])?;
/// let foggy = Fog::severity(3)?.apply(&image, 7);
/// let thick = Fog::set("density", 2.0).set("decay", 1.7).build()?.apply(&image, 7);
/// assert_ne!(foggy, thick);
/// # Ok(())
/// # }
/// ```
///
/// A fault of your own needs [`ImageFault`] to be applied, and this trait to have a name,
/// severities and settings. `Plugin` entries of campaigns come from [`plugin`]:
///
/// ```
/// use faultlens_core::{Dose, Image, Parameter, ParameterKind, SettingError, Settings, Stream, Unset};
/// use faultlens_faults::image::{Facts, Fault, ImageFault, plugin};
///
/// /// A camera that shows whole levels only.
/// struct Posterise {
///     levels: f64,
/// }
///
/// impl Fault for Posterise {
///     const FACTS: Facts = Facts {
///         name: "posterise",
///         doc: "# What it does Rounds every value to a few levels. # When it happens A cheap display.",
///         parameters: &[Parameter {
///             name: "levels",
///             about: "how many levels are left",
///             kind: ParameterKind::Number { min: 2.0, max: 256.0 },
///             unset: Unset::Required,
///         }],
///         ..Facts::DEFAULT
///     };
///
///     fn build(settings: &Settings) -> Result<Self, SettingError> {
///         Ok(Self { levels: settings.number("levels")? })
///     }
/// }
///
/// impl ImageFault for Posterise {
///     fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
///         let step = 255.0 / (self.levels - 1.0);
///         image.map_pixels(|pixel| pixel.map(|value| ((f64::from(value) / step).round() * step) as u8))
///     }
///
///     fn dose(&self) -> Dose {
///         Dose { axis: "levels", amount: self.levels }
///     }
///
///     fn draws(&self) -> bool {
///         false
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let image = Image::from_rgb(1, 1, vec![10, 130, 250])?;
/// assert_eq!(Posterise::set("levels", 2.0).build()?.apply(&image, 1).rgb(), [0, 255, 255]);
/// assert_eq!(plugin::<Posterise>().about, "Rounds every value to a few levels");
/// # Ok(())
/// # }
/// ```
pub trait Fault: ImageFault + Sized + 'static {
    /// The fault's name, text, hazard, parameters and ranges.
    const FACTS: Facts;

    /// Makes the fault from settings, which are complete and in range.
    fn build(settings: &Settings) -> Result<Self, SettingError>;

    /// The fault with its defaults, for [`set`](Builder::set) and [`build`](Builder::build).
    fn builder() -> Builder<Self> {
        Builder::new(&const { Self::FACTS }, Self::build)
    }

    /// The fault at a severity from 1 (hardly visible) to 5 (severe), with defaults otherwise. An
    /// error where it has no severities, such as a black frame.
    fn severity(severity: u8) -> Result<Self, FaultError> {
        Self::builder().severity(severity)
    }

    /// The first of several settings; [`Builder::build`] makes the fault.
    fn set(name: &str, value: impl Into<Value>) -> Builder<Self> {
        Self::builder().set(name, value)
    }
}

/// The registry's entry of a fault.
pub const fn plugin<F: Fault>() -> Plugin<dyn ImageFault> {
    Entry::of::<F>("").plugin()
}

/// A fault of the registry: its facts, and how one is made.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) facts: Facts,
    /// The folder that it lies in.
    pub(super) cause: &'static str,
    pub(super) build: fn(&Settings) -> Result<Box<dyn ImageFault>, SettingError>,
}

impl Entry {
    pub(super) const fn of<F: Fault>(cause: &'static str) -> Self {
        Self { facts: F::FACTS, cause, build: |settings| Ok(Box::new(F::build(settings)?)) }
    }

    pub(super) const fn plugin(&self) -> Plugin<dyn ImageFault> {
        Plugin {
            name: self.facts.name,
            about: self.facts.about(),
            when: self.facts.when(),
            parameters: self.facts.parameters,
            build: self.build,
        }
    }
}

/// Entries in alphabetical order, by insertion sort: `sort_by` is not for constants.
pub(super) const fn sorted<const N: usize>(mut entries: [Entry; N]) -> [Entry; N] {
    let mut end = 1;
    while end < N {
        let mut at = end;
        while at > 0 && is_before(entries[at].facts.name, entries[at - 1].facts.name) {
            let entry = entries[at];
            entries[at] = entries[at - 1];
            entries[at - 1] = entry;
            at -= 1;
        }
        end += 1;
    }
    entries
}

/// The registry's entries of faults, in the same order.
pub(super) const fn plugins<const N: usize>(entries: &[Entry; N]) -> [Plugin<dyn ImageFault>; N] {
    let mut plugins = [const {
        Plugin {
            name: "",
            about: "",
            when: "",
            parameters: &[],
            build: |_| Err(SettingError(String::new())),
        }
    }; N];
    let mut at = 0;
    while at < N {
        plugins[at] = entries[at].plugin();
        at += 1;
    }
    plugins
}

/// Whether a name comes before another in the alphabet.
const fn is_before(name: &str, other: &str) -> bool {
    let name = name.as_bytes();
    let other = other.as_bytes();
    let mut at = 0;
    while at < name.len() && at < other.len() {
        if name[at] != other[at] {
            return name[at] < other[at];
        }
        at += 1;
    }
    name.len() < other.len()
}
