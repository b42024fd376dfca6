//! A few pixels of any colour.

use super::generations::Space;
use super::search::{GENERATIONS, POPULATION, SEARCH, Search};
use super::step::count;
use super::{Attack, AttackSession, Halt, Needs, Norm};
use crate::doc::{about, described, when};
use faultlens_core::{Dose, Parameter, ParameterKind, Plugin, Setting, Unset};

const PIXELS: Parameter = Parameter {
    name: "pixels",
    about: "number of pixels that may change",
    kind: ParameterKind::Whole { min: 1, max: 4096 },
    unset: Unset::Is(Setting::Number(1.0)),
};

described! {
    /// # What it does
    /// Searches for positions and colours of a few pixels that change the answer, with a
    /// population of candidates (Su et al. 2019).
    /// # When to use it
    /// An attacker who can only query, gets scores, and may change a few pixels by any amount;
    /// comparable to dirt, dead pixels and stickers.
    struct Pixel {
        pixels: usize,
        search: Search,
    }
}

pub(super) const PIXEL: Plugin<dyn Attack> = Plugin {
    name: "pixel",
    about: about(Pixel::DOC),
    when: when(Pixel::DOC),
    parameters: &[PIXELS, SEARCH, GENERATIONS, POPULATION],
    build: |settings| {
        let pixels = count(settings, PIXELS.name)?;
        Ok(Box::new(Pixel { pixels, search: Search::of(settings)? }))
    },
};

impl Attack for Pixel {
    fn needs(&self) -> Needs {
        Needs::Scores
    }

    fn norm(&self) -> Norm {
        Norm::Zero
    }

    fn dose(&self) -> Dose {
        Dose { axis: "pixels", amount: self.pixels as f64 }
    }

    fn search(&self, session: &mut AttackSession<'_>) -> Result<(), Halt> {
        let shape = session.shape();
        // Row, column and colour of each pixel, all from 0 to 1.
        let values = self.pixels * (2 + shape[0]);
        for sample in session.open()? {
            let space =
                Space { bounds: vec![(0.0, 1.0); values], start: vec![0.5; values], width: 0.25 };
            self.search
                .run(session, sample, space, &|start, values| painted(shape, start, values))?;
        }
        Ok(())
    }
}

/// The image with the pixels in it; of several in one place the last one shows.
fn painted([channels, height, width]: [usize; 3], start: &[f32], values: &[f64]) -> Vec<f32> {
    let mut image = start.to_vec();
    if height == 0 || width == 0 {
        return image;
    }
    for pixel in values.chunks_exact(2 + channels) {
        let row = ((pixel[0] * height as f64) as usize).min(height - 1);
        let column = ((pixel[1] * width as f64) as usize).min(width - 1);
        let at = row * width + column;
        for (channel, colour) in pixel[2..].iter().enumerate() {
            if let Some(value) = image.get_mut(channel * height * width + at) {
                *value = colour.clamp(0.0, 1.0) as f32;
            }
        }
    }
    image
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_are_painted_where_they_belong() {
        let start = vec![0.0; 2 * 3 * 4];
        let image = painted([2, 3, 4], &start, &[0.99, 0.0, 0.25, 0.75, 0.0, 1.0, 1.0, 1.0]);
        let changed: Vec<(usize, f32)> =
            image.iter().copied().enumerate().filter(|(_, value)| *value > 0.0).collect();
        assert_eq!(changed, [(3, 1.0), (8, 0.25), (15, 1.0), (20, 0.75)]);
    }
}
