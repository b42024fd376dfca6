//! Colours that do not meet.

use super::lanczos::enlarged;
use super::level::{Level, Points, SEVERITY, strength};
use faultlens_core::{Dose, Hazard, Image, ImageFault, Place, Plugin, Stream};

/// # What it does
/// Enlarges green a little and blue more, around the middle, so that edges get coloured seams that
/// grow towards the corners.
/// # When it happens
/// Cheap or damaged lenses, which bend blue light more than red.
pub(super) const CHROMATIC_ABERRATION: Plugin<dyn ImageFault> = Plugin {
    name: "chromatic_aberration",
    about: "enlarges green and blue against red, so that edges get coloured seams",
    when: "cheap or damaged lenses, which bend blue light more than red",
    parameters: &[
        SEVERITY,
        strength("factor", "1 enlarges green by 1.8% and blue by 4.4%, 2 by twice that", 0.0, 10.0),
    ],
    build: |settings| Ok(Box::new(ChromaticAberration(POINTS.level(settings)?))),
};

const POINTS: Points<1> =
    Points { names: ["factor"], photo: [[0.2], [0.5], [1.0], [2.0], [3.0]], small: None };

/// What a factor of 1 enlarges green and blue by.
const GROWTH: [(usize, f64); 2] = [(1, 0.018), (2, 0.044)];

struct ChromaticAberration(Level<1>);

impl ImageFault for ChromaticAberration {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        let size = [image.width(), image.height()];
        let mut changed = image.clone();
        for (channel, growth) in GROWTH {
            let factor = 1.0 + growth * self.0.numbers[0];
            let plane: Vec<u8> = image.rgb().iter().skip(channel).step_by(3).copied().collect();
            let large = size.map(|side| libm::rint(factor * side as f64) as usize);
            let plane = enlarged(&plane, size, large);
            for (pixel, value) in changed.rgb_mut().as_chunks_mut::<3>().0.iter_mut().zip(plane) {
                pixel[channel] = value;
            }
        }
        changed
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }

    fn hazard(&self) -> Option<Hazard> {
        Some(Hazard::new(Place::Observer, "spectrum", "where else"))
    }

    fn draws(&self) -> bool {
        false
    }
}
