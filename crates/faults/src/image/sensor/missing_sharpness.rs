//! A camera that does not sharpen.

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, strength};
use crate::image::paint::vectors::wide;
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, SettingError, Settings, Stream,
};

described! {
    /// # What it does
    /// Softens edges as if the camera had not sharpened them: moves every pixel towards the mean of
    /// its 3×3 neighbourhood, weighted 1 2 1.
    /// # When it happens
    /// The sharpening step of the camera's image pipeline is missing.
    pub struct MissingSharpness(Level<1>);
}

impl Fault for MissingSharpness {
    const FACTS: Facts = Facts {
        name: "missing_sharpness",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "processing", "no")),
        parameters: &[
            SEVERITY,
            strength(
                "amount",
                "how far pixels move towards the mean of their neighbours, as a fraction",
                0.0,
                1.0,
            ),
        ],
        domain: Some(Domain::together(&[Range::new("amount", 0.0, 1.0)])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(POINTS.level(settings)?))
    }
}

const POINTS: Points<1> =
    Points { names: ["amount"], photo: [[0.2], [0.4], [0.6], [0.8], [1.0]], small: None };

impl ImageFault for MissingSharpness {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        // The mean is in parts of 16, the amount in parts of 256.
        let amount = libm::round(256.0 * self.0.numbers[0]) as i32;
        soften(image, amount)
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }

    fn draws(&self) -> bool {
        false
    }
}

wide!(fn soften<'a>(image: &'a Image, amount: i32) -> Image = soften_kernel);

#[inline(always)]
fn soften_kernel(image: &Image, amount: i32) -> Image {
    let length = 3 * image.width();
    let row = |at: usize| &image.rgb()[length * at..][..length];
    let mut changed = image.clone();
    let mut sums = vec![0; length + 6];
    for (at, to) in changed.rgb_mut().chunks_exact_mut(length).enumerate() {
        let [above, below] = [at.saturating_sub(1), (at + 1).min(image.height() - 1)].map(row);
        let sides = above.iter().zip(below);
        for ((sum, &here), (&above, &below)) in sums[3..].iter_mut().zip(row(at)).zip(sides) {
            *sum = u16::from(above) + 2 * u16::from(here) + u16::from(below);
        }
        sums.copy_within(3..6, 0);
        sums.copy_within(length..length + 3, length + 3);
        let across = sums.iter().zip(&sums[3..]).zip(&sums[6..]);
        for (to, ((&left, &here), &right)) in to.iter_mut().zip(across) {
            let mean = i32::from(left + 2 * here + right);
            let value = i32::from(*to) << 12;
            *to = ((value + (mean - (i32::from(*to) << 4)) * amount + 2048) >> 12) as u8;
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Seed;

    fn soft(amount: f64, width: usize, values: &[u8]) -> Vec<u8> {
        let rgb: Vec<u8> = values.iter().flat_map(|&value| [value; 3]).collect();
        let image = Image::from_rgb(width, values.len() / width, rgb).unwrap();
        let dose = Dose { axis: "amount", amount };
        let fault = MissingSharpness(Level { numbers: [amount], dose });
        let soft = fault.change(&image, &mut Seed::new(0).stream());
        soft.rgb().iter().step_by(3).copied().collect()
    }

    #[test]
    fn a_point_becomes_the_kernel() {
        let mut point = [0; 25];
        point[12] = 160;
        let all = soft(1.0, 5, &point);
        assert_eq!(all[5..10], [0, 10, 20, 10, 0]);
        assert_eq!(all[10..15], [0, 20, 40, 20, 0]);
        assert_eq!(soft(0.5, 5, &point)[10..15], [0, 10, 100, 10, 0]);
        assert_eq!(soft(0.0, 5, &point), point);
        assert_eq!(soft(1.0, 1, &[77]), [77]);
        assert_eq!(soft(1.0, 2, &[0, 100, 0, 100]), [25, 75, 25, 75]);
    }
}
