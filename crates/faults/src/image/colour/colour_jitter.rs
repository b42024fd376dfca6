//! Random brightness, contrast, saturation and hue.

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, strength};
use crate::image::paint::by_value::channel_means;
use crate::image::paint::channels::map_colours;
use crate::image::paint::round::byte;
use crate::image::paint::vectors::wide;
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, SettingError, Settings, Stream,
};

described! {
    /// # What it does
    /// Changes brightness, contrast, saturation and hue by random amounts, in this order. Hues
    /// rotate about the grey axis, so luma stays the same.
    /// # When it happens
    /// Cameras, light or image processing that differ from those of the training data.
    pub struct ColourJitter(Level<4>);
}

impl Fault for ColourJitter {
    const FACTS: Facts = Facts {
        name: "colour_jitter",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "spectrum", "other than")),
        parameters: &[
            SEVERITY,
            strength("brightness", "largest deviation of the brightness factor from 1", 0.0, 1.0),
            strength("contrast", "largest deviation of the contrast factor from 1", 0.0, 1.0),
            strength("saturation", "largest deviation of the saturation factor from 1", 0.0, 1.0),
            strength(
                "hue",
                "largest rotation of the hue, as a fraction of the colour circle",
                0.0,
                0.5,
            ),
        ],
        // The range of Hu et al. (ICSE 2022).
        domain: Some(Domain::apart(&[
            Range::new("brightness", 0.5, 1.0),
            Range::new("contrast", 0.5, 1.0),
            Range::new("saturation", 0.5, 1.0),
            // Shares of the colour circle, of which half is as far as a hue can turn.
            Range::new("hue", 0.25, 0.5),
        ])),
        small_domain: Some(Domain::apart(&[
            Range::new("brightness", 0.0, 1.0),
            Range::new("contrast", 0.0, 1.0),
            Range::new("saturation", 0.0, 1.0),
            Range::new("hue", 0.0, 0.5),
        ])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(POINTS.level(settings)?))
    }
}

const POINTS: Points<4> = Points {
    names: ["brightness", "contrast", "saturation", "hue"],
    photo: [
        [0.1, 0.1, 0.1, 0.02],
        [0.2, 0.2, 0.2, 0.05],
        [0.35, 0.35, 0.4, 0.1],
        [0.5, 0.5, 0.6, 0.2],
        [0.7, 0.7, 0.9, 0.35],
    ],
    small: None,
};

impl ImageFault for ColourJitter {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        let [brightness, contrast, saturation, hue] =
            self.0.numbers.map(|max| stream.between(-max, max));
        let light = 1.0 + brightness;
        let middle = light * dot(LUMA, channel_means(image));
        let bright = (1.0 + contrast) * light;
        let colours = turned(1.0 + saturation, std::f64::consts::TAU * hue);
        let offset = (-contrast * middle) as f32;
        let rows = colours.map(|row| row.map(|weight| (bright * weight) as f32));
        mix(image, rows, offset)
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }
}

wide!(fn mix<'a>(image: &'a Image, rows: [[f32; 3]; 3], offset: f32) -> Image = mix_kernel);

#[inline(always)]
fn mix_kernel(image: &Image, rows: [[f32; 3]; 3], offset: f32) -> Image {
    map_colours(image, |[red, green, blue]| {
        rows.map(|row| byte(row[0] * red + row[1] * green + row[2] * blue + offset))
    })
}

const LUMA: [f64; 3] = [0.299, 0.587, 0.114];

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The matrix that scales the colours (what is left without luma) and turns them. Every row sums
/// up to 1, so greys stay.
fn turned(scale: f64, angle: f64) -> [[f64; 3]; 3] {
    // The plane of the colours: I and Q of the NTSC, and the way back.
    const IQ: [[f64; 3]; 2] = [[0.5959, -0.2746, -0.3213], [0.2115, -0.5227, 0.3112]];
    const BACK: [[f64; 2]; 3] = [[0.956, 0.619], [-0.272, -0.647], [-1.106, 1.703]];
    let [cos, sin] = [scale * libm::cos(angle), scale * libm::sin(angle)];
    let turned: [[f64; 3]; 2] = [
        std::array::from_fn(|at| cos * IQ[0][at] - sin * IQ[1][at]),
        std::array::from_fn(|at| sin * IQ[0][at] + cos * IQ[1][at]),
    ];
    BACK.map(|[i, q]| std::array::from_fn(|at| LUMA[at] + i * turned[0][at] + q * turned[1][at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greys_and_luma_stay_while_colours_turn() {
        let near = |a: f64, b: f64| (a - b).abs() < 5e-3;
        for (row, one) in
            turned(1.0, 0.0).iter().zip([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        {
            assert!(row.iter().zip(one).all(|(&a, b)| near(a, b)), "{row:?}");
        }
        let half = turned(0.7, std::f64::consts::PI);
        let red = half.map(|row| row[0]);
        assert!(near(dot(LUMA, red), LUMA[0]) && red[0] < red[1], "{red:?}");
        assert!(half.iter().all(|row| near(row.iter().sum(), 1.0)));
        for row in turned(0.0, 1.0) {
            assert!(row.iter().zip(LUMA).all(|(&a, b)| near(a, b)), "{row:?}");
        }
    }
}
