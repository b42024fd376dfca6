//! Crops: one sign each, as a detector would hand it to a classifier.

use super::{SIGN_CLASSES, backdrop, plate};
use crate::light::{Ambience, Distance, Light, Weather};
use crate::paint::{Canvas, Grain, Path, Shade, Sprite, Transform, hex};
use faultlens_core::{Case, Seed, Stream};

/// The side of a crop in pixels.
pub const SIGN_SIZE: usize = 48;

/// Under what circumstances a crop is taken; each is one of its strata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conditions {
    /// The time of day.
    pub light: Light,
    /// The air.
    pub weather: Weather,
    /// Far signs were small in the camera and are enlarged.
    pub distance: Distance,
}

impl Conditions {
    /// Conditions as they come: half of them by day, half of them near, most of them clear.
    pub fn random(stream: &mut Stream) -> Self {
        Self {
            light: Light::random(stream),
            weather: Weather::random(stream),
            distance: Distance::random(stream),
        }
    }
}

/// `n` crops of all classes alike: of any 14 in a row from a multiple of 14, each shows another.
pub fn signs(seed: Seed, n: usize) -> Vec<Case> {
    (0..n as u64).map(|index| sign(seed, index)).collect()
}

/// One crop of a set; the same whichever others are asked for.
pub fn sign(seed: Seed, index: u64) -> Case {
    let n = SIGN_CLASSES.len() as u64;
    let mut order: [usize; SIGN_CLASSES.len()] = std::array::from_fn(|class| class);
    seed.child("order").at(index / n).stream().shuffle(&mut order);
    let own = seed.child("sign").at(index);
    let conditions = Conditions::random(&mut own.child("conditions").stream());
    let mut case = sign_of(order[(index % n) as usize], conditions, own);
    case.name = format!("sign-{index:06}");
    case
}

/// A crop of a class under chosen conditions; everything else comes from the seed.
///
/// A class that does not exist gives a backdrop without a sign and without a label.
pub fn sign_of(class: usize, conditions: Conditions, seed: Seed) -> Case {
    let mut stream = seed.child("view").stream();
    let side = match conditions.distance {
        Distance::Near => SIGN_SIZE,
        Distance::Far => 25 + stream.below(6),
    };
    let ambience = Ambience::random(conditions.light, conditions.weather, &mut stream);
    let mut canvas = Canvas::new(side, side);
    paint(&mut canvas, class, conditions, &ambience, &mut stream);
    if side != SIGN_SIZE {
        canvas = canvas.resized(SIGN_SIZE, SIGN_SIZE);
    }
    ambience.rain(&mut canvas, seed.child("rain"));
    expose(&mut canvas, &mut stream);
    Grain { amount: stream.between(0.008, 0.03) as f32, seed: seed.child("grain") }
        .add(&mut canvas);
    let name = SIGN_CLASSES.get(class).copied();
    let mut case = Case::new(name.unwrap_or("nothing"), canvas.image());
    case.label = name.map(|_| class);
    let strata = [
        ("light", conditions.light.name()),
        ("weather", conditions.weather.name()),
        ("distance", conditions.distance.name()),
    ];
    case.strata = strata.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    case
}

fn paint(
    canvas: &mut Canvas,
    class: usize,
    conditions: Conditions,
    ambience: &Ambience,
    stream: &mut Stream,
) {
    let metres = match conditions.distance {
        Distance::Near => stream.between(4.0, 9.0),
        Distance::Far => stream.between(12.0, 20.0),
    } as f32;
    let behind =
        Shade { haze: ambience.haze(metres + 25.0) * 0.8, ..ambience.shade(metres, 9.0, 0.3) };
    let front = ambience.shade(metres, 0.0, stream.between(0.75, 1.15) as f32);
    backdrop::paint(canvas, &behind, conditions.light == Light::Night, stream);
    let view = view(canvas.width() as f32, stream);
    if stream.chance(0.85) {
        let pole = Path::rect(-0.09, 0.0, 0.09, 4.0);
        let shade = ambience.shade(metres, 1.0, 0.4);
        Sprite::default().support(pole, hex(0x858b90)).moved(&view).draw(canvas, &shade);
    }
    let stamp = plate(class).moved(&view).draw(canvas, &front);
    if conditions.light != Light::Night && stream.chance(0.3) {
        let on_plate = stamp.object();
        let shadow = shadow(canvas.width() as f32, stream);
        let width = canvas.width();
        canvas.each(|x, y, colour| {
            let dark = if on_plate[y * width + x] { shadow(x as f32, y as f32) } else { 0.0 };
            colour.map(|c| c * (1.0 - dark))
        });
    }
}

/// Where the plate lands: big enough to read, never cut off by much.
fn view(side: f32, stream: &mut Stream) -> Transform {
    let mut between = |low: f64, high: f64| stream.between(low, high) as f32;
    let radius = side * between(0.32, 0.43);
    let room = side / 2.0 - radius * 0.92;
    let squeeze = between(0.82, 1.0);
    let turn = between(-0.13, 0.13);
    Transform::IDENTITY
        .tilted(between(-0.1, 0.1), between(-0.08, 0.08))
        .sheared(between(-0.08, 0.08))
        .scaled(radius * squeeze, radius)
        .turned(turn)
        .shifted(side / 2.0 + room * between(-0.8, 0.8), side / 2.0 + room * between(-0.8, 0.8))
}

/// The soft shadow of something nearby: how much light it takes at a pixel.
fn shadow(side: f32, stream: &mut Stream) -> impl Fn(f32, f32) -> f32 + use<> {
    let angle = stream.between(0.0, std::f64::consts::TAU) as f32;
    let nx = libm::cosf(angle);
    let ny = libm::sinf(angle);
    let shift = stream.between(-0.2, 0.2) as f32;
    let depth = stream.between(0.25, 0.45) as f32;
    move |x, y| {
        let along = (x / side - 0.5) * nx + (y / side - 0.5) * ny + shift;
        depth * (along * 12.0 + 0.5).clamp(0.0, 1.0)
    }
}

/// The camera's choice of brightness and contrast.
fn expose(canvas: &mut Canvas, stream: &mut Stream) {
    let contrast = stream.between(0.82, 1.12) as f32;
    let brightness = stream.between(-0.05, 0.07) as f32;
    canvas.each(|_, _, colour| colour.map(|c| (c - 0.45) * contrast + 0.45 + brightness));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How strongly neighbouring pixels differ, over many crops.
    fn sharpness(distance: Distance) -> u64 {
        let conditions = Conditions { light: Light::Day, weather: Weather::Clear, distance };
        let crops = (0..30).map(|i| sign_of(2, conditions, Seed::new(9).at(i)).image);
        crops
            .map(|image| {
                image
                    .rgb()
                    .chunks_exact(SIGN_SIZE * 3)
                    .map(|row: &[u8]| -> u64 {
                        row.windows(4).map(|w| u64::from(w[0].abs_diff(w[3])).pow(2)).sum()
                    })
                    .sum::<u64>()
            })
            .sum()
    }

    #[test]
    fn far_signs_are_blurred() {
        assert!(sharpness(Distance::Near) * 3 > sharpness(Distance::Far) * 4);
    }

    #[test]
    fn a_crop_is_what_was_asked_for() {
        let conditions =
            Conditions { light: Light::Dusk, weather: Weather::Rain, distance: Distance::Far };
        let case = sign_of(4, conditions, Seed::new(1));
        assert_eq!((case.label, case.name.as_str()), (Some(4), "limit-80"));
        let strata: Vec<&str> = case.strata.values().map(String::as_str).collect();
        assert_eq!(strata, ["far", "dusk", "rain"]);
        assert_eq!(sign_of(99, conditions, Seed::new(1)).label, None);
    }

    #[test]
    fn signs_stay_inside_and_large_enough() {
        let mut stream = Seed::new(5).stream();
        for _ in 0..300 {
            let view = view(48.0, &mut stream);
            let [left, top, right, bottom] = plate(4).moved(&view).extent().unwrap();
            assert!(left > -2.5 && top > -2.5 && right < 50.5 && bottom < 50.5);
            assert!(right - left > 23.0 && bottom - top > 25.0);
        }
    }
}
