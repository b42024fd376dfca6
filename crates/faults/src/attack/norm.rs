//! How far a point lies from where it started.

/// A measure of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Norm {
    /// How many values differ.
    Zero,
    /// The sum of all differences.
    One,
    /// Their length.
    Two,
    /// The largest of them.
    Infinity,
}

impl Norm {
    /// What campaign files call the norms of gradients and distances.
    pub const WORDS: &'static [&'static str] = &["inf", "2", "1"];

    /// The norm of a word.
    pub fn named(word: &str) -> Option<Self> {
        match word {
            "0" => Some(Self::Zero),
            "1" => Some(Self::One),
            "2" => Some(Self::Two),
            "inf" => Some(Self::Infinity),
            _ => None,
        }
    }

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Zero => "0",
            Self::One => "1",
            Self::Two => "2",
            Self::Infinity => "inf",
        }
    }

    /// How far two points lie apart.
    pub fn distance(self, a: &[f32], b: &[f32]) -> f64 {
        let differences = a.iter().zip(b).map(|(a, b)| f64::from((a - b).abs()));
        match self {
            Self::Zero => differences.filter(|d| *d > 0.0).count() as f64,
            Self::One => differences.sum(),
            Self::Two => differences.map(|d| d * d).sum::<f64>().sqrt(),
            Self::Infinity => differences.fold(0.0, f64::max),
        }
    }
}
