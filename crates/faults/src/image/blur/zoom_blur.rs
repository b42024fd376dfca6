//! Radial motion blur (`zoom_blur` of ImageNet-C): the mean of bilinear magnifications about the centre.

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, TABLE, strength};
use crate::image::paint::pixels::with_rgb;
use crate::image::paint::round::level_byte;
use crate::image::paint::zoom::{Step, Zoom};
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, SettingError, Settings, Stream,
};

described! {
    /// # What it does
    /// Averages the image with magnified copies of its centre.
    /// # When it happens
    /// Fast motion towards the scene, or a zoom lens that is turned while the shutter is open.
    pub struct ZoomBlur(Level<2>);
}

impl Fault for ZoomBlur {
    const FACTS: Facts = Facts {
        name: "zoom_blur",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "magnification", "faster")),
        parameters: &[
            SEVERITY,
            TABLE,
            strength("most", "the largest magnification", 1.0, 4.0),
            strength("step", "difference between one magnification and the next", 0.001, 1.0),
        ],
        domain: Some(Domain::together(&[
            Range::new("most", 1.0, 1.31),
            Range::new("step", 0.01, 0.03),
        ])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(POINTS.level(settings)?))
    }
}

const POINTS: Points<2> = Points {
    names: ["most", "step"],
    photo: [[1.11, 0.01], [1.16, 0.01], [1.21, 0.02], [1.26, 0.02], [1.31, 0.03]],
    small: Some([[1.06, 0.01], [1.11, 0.01], [1.16, 0.01], [1.21, 0.01], [1.26, 0.01]]),
};

/// Red, green, blue and nothing: four numbers are worked on at once.
type Pixel = [f32; 4];

impl ImageFault for ZoomBlur {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        let [width, height] = [image.width(), image.height()];
        let factors = factors(self.0.numbers);
        let zooms: Vec<[Zoom; 2]> =
            factors.map(|factor| [Zoom::new(width, factor), Zoom::new(height, factor)]).collect();
        let (pixels, _) = image.rgb().as_chunks::<3>();
        let pixels: Vec<Pixel> =
            pixels.iter().map(|pixel| [0, 1, 2, 0].map(|i| f32::from(pixel[i]))).collect();
        let scale = 1.0 / (zooms.len() + 1) as f32;
        // Two pixels more than a row has, for where there is nothing.
        let mut between = vec![[0.0; 4]; width + 2];
        let mut rgb = vec![0; 3 * pixels.len()];
        for y in 0..height {
            let mut sums = pixels[y * width..][..width].to_vec();
            for [across, down] in &zooms {
                let step = down.steps[y];
                if step.first == height {
                    continue;
                }
                let row = |at: usize| {
                    let y = (down.start + at).min(height - 1);
                    &pixels[y * width + across.start..][..across.count]
                };
                mix_rows(&mut between, row(step.first), row(step.first + 1), step.part);
                add_stretched(&mut sums, &between, across);
            }
            let (out, _) = rgb[3 * y * width..][..3 * width].as_chunks_mut::<3>();
            for (out, sum) in out.iter_mut().zip(&sums) {
                *out = [sum[0], sum[1], sum[2]].map(|sum| level_byte(sum * scale));
            }
        }
        with_rgb(image, rgb)
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }

    fn draws(&self) -> bool {
        false
    }
}

/// From 1 up to the largest, as numpy's `arange` counts: rounding may add one.
fn factors([max, step]: [f64; 2]) -> impl Iterator<Item = f64> {
    let count = libm::ceil((max - 1.0) / step) as usize;
    let step = (1.0 + step) - 1.0;
    (0..count).map(move |at| 1.0 + at as f64 * step)
}

fn mix_rows(out: &mut [Pixel], upper: &[Pixel], lower: &[Pixel], part: f32) {
    let rows = upper.as_flattened().iter().zip(lower.as_flattened());
    for (out, (upper, lower)) in out.as_flattened_mut().iter_mut().zip(rows) {
        *out = upper + part * (lower - upper);
    }
}

fn add_stretched(sums: &mut [Pixel], row: &[Pixel], zoom: &Zoom) {
    for (sum, &Step { first, part }) in sums.iter_mut().zip(&zoom.steps) {
        if let &[left, right] = &row[first..first + 2] {
            // All four are read before one is written: they can be worked on at once.
            let old = *sum;
            *sum = [0, 1, 2, 3].map(|i| old[i] + (left[i] + part * (right[i] - left[i])));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magnifications_are_counted_as_numpy_does() {
        let counts = POINTS.photo.map(|point| factors(point).count());
        assert_eq!(counts, [12, 16, 11, 13, 11]);
        let last = factors(POINTS.photo[0]).last().unwrap();
        assert!((last - 1.11).abs() < 1e-12);
    }
}
