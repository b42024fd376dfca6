//! What is asked of a builder: sizes, and the options behind the architecture's name.

use super::error::ArchitectureError;

/// What the network looks at and how much it says.
///
/// A generator works the other way round: it makes images of this size from `outputs` numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spec {
    /// Channels of the image: 3 for colour, 1 for grey.
    pub channels: usize,
    /// Rows of the image.
    pub height: usize,
    /// Columns of the image.
    pub width: usize,
    /// Classes, or numbers that a regressor gives, or channels of a picture, or the length of a
    /// generator's latent vector.
    pub outputs: usize,
}

impl Spec {
    /// Images of `[channels, height, width]`, and so many outputs.
    pub fn new([channels, height, width]: [usize; 3], outputs: usize) -> Self {
        Self { channels, height, width, outputs }
    }

    /// The shorter side of the image.
    pub(super) fn side(&self) -> usize {
        self.height.min(self.width)
    }
}

/// What an architecture takes behind its name and a colon.
#[derive(Debug, Clone, Copy)]
pub enum Takes {
    /// A list of widths; `64x3` stands for three layers or blocks of width 64.
    Widths {
        /// What the widths are of.
        of: &'static str,
        /// The list when none is given.
        default: &'static str,
    },
    /// Single numbers, of which the last ones may be left out.
    Numbers(&'static [Number]),
}

/// A number that an architecture takes.
#[derive(Debug, Clone, Copy)]
pub struct Number {
    name: &'static str,
    default: f64,
    range: [f64; 2],
    is_whole: bool,
}

impl Number {
    /// A number with a fraction, both ends of the range included.
    pub(super) const fn factor(name: &'static str, default: f64, range: [f64; 2]) -> Self {
        Self { name, default, range, is_whole: false }
    }

    /// A whole number, both ends of the range included.
    pub(super) const fn whole(name: &'static str, default: u32, range: [u32; 2]) -> Self {
        let range = [range[0] as f64, range[1] as f64];
        Self { name, default: default as f64, range, is_whole: true }
    }

    fn parse(&self, text: &str) -> Option<f64> {
        let value: f64 = text.trim().parse().ok()?;
        let [min, max] = self.range;
        let fits = (min..=max).contains(&value) && (!self.is_whole || value.fract() == 0.0);
        fits.then_some(value)
    }
}

/// The widest layer and the most layers of a width: larger numbers are likely typos.
const MAX_WIDTH: usize = 1 << 16;
const MAX_TIMES: usize = 1 << 10;

impl Takes {
    /// What may stand behind the name, in words.
    pub fn describe(&self) -> String {
        match self {
            Self::Widths { of, .. } => format!("{of} as a list such as 16,32x2"),
            Self::Numbers([]) => "no options".to_owned(),
            Self::Numbers(numbers) => {
                let words = numbers.iter().map(|n| {
                    let kind = if n.is_whole { "a whole" } else { "a" };
                    format!("{} ({kind} number from {} to {})", n.name, n.range[0], n.range[1])
                });
                words.collect::<Vec<_>>().join(", ")
            }
        }
    }

    /// The options that hold when none are given, as they would be written.
    pub fn default_text(&self) -> String {
        match self {
            Self::Widths { default, .. } => (*default).to_owned(),
            Self::Numbers(numbers) => {
                let texts = numbers.iter().map(|n| n.default.to_string());
                texts.collect::<Vec<_>>().join(",")
            }
        }
    }

    /// An order for an architecture of this name with all options at their defaults.
    pub(super) fn example(&self, name: &str) -> String {
        let options = self.default_text();
        if options.is_empty() { name.to_owned() } else { format!("{name}:{options}") }
    }

    fn parse(&self, text: Option<&str>) -> Option<(Vec<Width>, Vec<f64>)> {
        match self {
            Self::Widths { default, .. } => {
                let items = text.unwrap_or(default).split(',').map(parse_width);
                Some((items.collect::<Option<_>>()?, Vec::new()))
            }
            Self::Numbers(numbers) => {
                let texts: Vec<&str> = text.iter().flat_map(|text| text.split(',')).collect();
                if texts.len() > numbers.len() {
                    return None;
                }
                let values = numbers.iter().enumerate().map(|(at, number)| {
                    texts.get(at).map_or(Some(number.default), |text| number.parse(text))
                });
                Some((Vec::new(), values.collect::<Option<_>>()?))
            }
        }
    }
}

/// So many layers or blocks of a width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Width {
    pub(super) width: usize,
    pub(super) times: usize,
}

fn parse_width(item: &str) -> Option<Width> {
    let (width, times) = item.trim().split_once('x').unwrap_or((item.trim(), "1"));
    let width = width.parse().ok()?;
    let times = times.parse().ok()?;
    let fits = (1..=MAX_WIDTH).contains(&width) && (1..=MAX_TIMES).contains(&times);
    fits.then_some(Width { width, times })
}

/// A checked order for a network, from which a family's builder works.
#[derive(Debug, Clone)]
pub(super) struct Request {
    name: &'static str,
    takes: Takes,
    pub(super) spec: Spec,
    /// The list of widths, where the architecture takes one.
    pub(super) widths: Vec<Width>,
    /// The numbers, where it takes them; as many as it takes.
    numbers: Vec<f64>,
}

impl Request {
    pub(super) fn new(
        name: &'static str,
        takes: Takes,
        spec: Spec,
        options: Option<&str>,
    ) -> Result<Self, ArchitectureError> {
        let sizes = [
            (spec.channels, "channels"),
            (spec.height, "rows of pixels"),
            (spec.width, "columns of pixels"),
            (spec.outputs, "outputs"),
        ];
        if let Some((_, what)) = sizes.into_iter().find(|&(size, _)| size == 0) {
            return Err(ArchitectureError::Empty { name, what });
        }
        let Some((widths, numbers)) = takes.parse(options) else {
            return Err(misread(name, takes, None, options.unwrap_or_default()));
        };
        Ok(Self { name, takes, spec, widths, numbers })
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// A number that was declared whole.
    pub(super) fn whole(&self, at: usize) -> usize {
        self.numbers[at] as usize
    }

    /// A number with a fraction.
    pub(super) fn factor(&self, at: usize) -> f64 {
        self.numbers[at]
    }

    /// A published width times the first number, which is a multiplier.
    pub(super) fn scaled(&self, width: usize) -> usize {
        ((width as f64 * self.numbers[0]).round() as usize).max(1)
    }

    /// Whether the image is near ImageNet's size, so that the published stem, which quarters it,
    /// leaves enough. Smaller images get a stem that keeps their size.
    pub(super) fn is_large(&self) -> bool {
        self.spec.side() >= 96
    }

    /// Refuses images with a side shorter than this.
    pub(super) fn at_least(&self, smallest: usize) -> Result<(), ArchitectureError> {
        let Spec { height, width, .. } = self.spec;
        if self.spec.side() < smallest {
            return Err(ArchitectureError::TooSmall { name: self.name(), height, width, smallest });
        }
        Ok(())
    }

    /// Refuses images with a side that is not a multiple of this.
    pub(super) fn multiple_of(&self, of: usize) -> Result<(), ArchitectureError> {
        let Spec { height, width, .. } = self.spec;
        if !(height.is_multiple_of(of) && width.is_multiple_of(of)) {
            return Err(ArchitectureError::NotMultiple { name: self.name(), height, width, of });
        }
        Ok(())
    }

    /// The list of widths, refused unless it has `N`.
    pub(super) fn exactly<const N: usize>(&self) -> Result<[Width; N], ArchitectureError> {
        self.widths.as_slice().try_into().map_err(|_| {
            let texts = self.widths.iter().map(|w| format!("{}x{}", w.width, w.times));
            misread(self.name, self.takes, Some(N), &texts.collect::<Vec<_>>().join(","))
        })
    }
}

fn misread(
    name: &'static str,
    takes: Takes,
    count: Option<usize>,
    text: &str,
) -> ArchitectureError {
    let count = count.map(|n| format!(" of exactly {n}")).unwrap_or_default();
    ArchitectureError::Options {
        name,
        wanted: takes.describe() + &count,
        text: text.to_owned(),
        example: takes.example(name),
    }
}
