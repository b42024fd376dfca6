//! Changes of the training input that make a model more robust: one file each.
//!
//! They work on the numbers that are fed, not on 8-bit pixels: noise of a thousandth would be lost
//! between two grey levels.

mod adversarial;
mod noise;

pub use adversarial::Adversarial;
pub use noise::Noise;

use crate::error::TrainError;
use faultlens_vision::{InputDescription, Layout};

/// How pixels from 0 to 1 lie among the numbers that are fed.
pub(crate) struct Pixels {
    /// By channel, what a step of one full pixel is, and where 0 lies.
    channels: Vec<(f32, f32)>,
    layout: Layout,
    /// Numbers of one channel of one image.
    plane: usize,
}

impl Pixels {
    pub(crate) fn of(input: &InputDescription) -> Self {
        let of = |numbers: &[f64], at: usize| numbers.get(at).or(numbers.first()).copied();
        let channels = (0..input.channels.count()).map(|at| {
            let std = of(&input.std, at).unwrap_or(1.0);
            let mean = of(&input.mean, at).unwrap_or(0.0);
            ((input.scale * 255.0 / std) as f32, (-mean / std) as f32)
        });
        let [height, width] = input.size;
        Self { channels: channels.collect(), layout: input.layout, plane: height * width }
    }

    /// Numbers of one image.
    fn image(&self) -> usize {
        self.plane * self.channels.len()
    }

    /// The unit of a number of an image, by its place: what a full pixel is, and where 0 lies.
    fn unit(&self, at: usize) -> (f32, f32) {
        match self.layout {
            Layout::Nchw => self.channels[at / self.plane],
            Layout::Nhwc => self.channels[at % self.channels.len()],
        }
    }
}

/// A share of samples, which may be all.
fn check_share(what: &'static str, share: f64) -> Result<(), TrainError> {
    refuse(what, share, share > 0.0 && share <= 1.0, "it must lie above 0 and up to 1")
}

fn refuse(what: &'static str, given: f64, fits: bool, why: &str) -> Result<(), TrainError> {
    if fits {
        return Ok(());
    }
    Err(TrainError::Recipe { what, given: given.to_string(), why: why.to_owned() })
}
