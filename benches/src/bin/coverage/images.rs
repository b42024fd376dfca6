//! Simulated images, whose rates are known.

use faultlens_core::Stream;

/// How the rates of images are distributed.
#[derive(Clone, Copy)]
pub(crate) enum Images {
    /// A beta distribution with this mean and this correlation of trials of one image.
    Beta(f64, f64),
    /// This share of images fails always, the others once in a hundred trials.
    Rare(f64),
}

impl Images {
    pub(crate) fn mean(self) -> f64 {
        match self {
            Self::Beta(mean, _) => mean,
            Self::Rare(share) => share + (1.0 - share) * 0.01,
        }
    }

    pub(crate) fn variance(self) -> f64 {
        let mean = self.mean();
        match self {
            Self::Beta(_, correlation) => mean * (1.0 - mean) * correlation,
            Self::Rare(share) => share * (1.0 - share) * 0.99 * 0.99,
        }
    }

    pub(crate) fn draw(self, stream: &mut Stream) -> f64 {
        match self {
            Self::Beta(mean, 0.0) => mean,
            Self::Beta(mean, correlation) => {
                let size = 1.0 / correlation - 1.0;
                let a = gamma(mean * size, stream);
                let b = gamma((1.0 - mean) * size, stream);
                if a + b > 0.0 { a / (a + b) } else { f64::from(u8::from(stream.chance(mean))) }
            }
            Self::Rare(share) => {
                if stream.chance(share) {
                    1.0
                } else {
                    0.01
                }
            }
        }
    }

    pub(crate) fn label(self) -> String {
        match self {
            Self::Beta(mean, correlation) => format!("rate {mean}, correlation {correlation}"),
            Self::Rare(share) => format!("{}% of images always fail", 100.0 * share),
        }
    }
}

/// A gamma variable (Marsaglia and Tsang 2000).
fn gamma(shape: f64, stream: &mut Stream) -> f64 {
    if shape < 1.0 {
        let boost = stream.uniform().max(1e-300).powf(1.0 / shape);
        return boost * gamma(shape + 1.0, stream);
    }
    let d = shape - 1.0 / 3.0;
    loop {
        let x = stream.gaussian();
        let v = (1.0 + x / (9.0 * d).sqrt()).powi(3);
        if v > 0.0 && stream.uniform().ln() < x * x / 2.0 + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}
