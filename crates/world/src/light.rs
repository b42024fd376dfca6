//! Time of day and weather: the light on things and the air before them.

use crate::paint::{Canvas, Rgb, Shade, hex, mix, scaled};
use faultlens_core::{Seed, Stream};

/// When a picture was taken; the stratum `light`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Light {
    /// Full light.
    Day,
    /// A low, warm sun.
    Dusk,
    /// Headlights and lamps.
    Night,
}

/// What lies in the air; the stratum `weather`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weather {
    /// Nothing.
    Clear,
    /// Mist that grows with distance.
    Haze,
    /// A grey sky and falling drops.
    Rain,
}

/// How far away what matters is; the stratum `distance`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distance {
    /// Close enough to be sharp.
    Near,
    /// Small in the picture.
    Far,
}

impl Light {
    /// Every light, brightest first.
    pub const ALL: [Self; 3] = [Self::Day, Self::Dusk, Self::Night];

    /// Its name as a stratum.
    pub fn name(self) -> &'static str {
        ["day", "dusk", "night"][self as usize]
    }

    pub(crate) fn random(stream: &mut Stream) -> Self {
        Self::ALL[[0, 0, 1, 2][stream.below(4)]]
    }
}

impl Weather {
    /// Every weather, best first.
    pub const ALL: [Self; 3] = [Self::Clear, Self::Haze, Self::Rain];

    /// Its name as a stratum.
    pub fn name(self) -> &'static str {
        ["clear", "haze", "rain"][self as usize]
    }

    pub(crate) fn random(stream: &mut Stream) -> Self {
        Self::ALL[[0, 0, 0, 1, 2][stream.below(5)]]
    }
}

impl Distance {
    /// Both distances, nearest first.
    pub const ALL: [Self; 2] = [Self::Near, Self::Far];

    /// Its name as a stratum.
    pub fn name(self) -> &'static str {
        ["near", "far"][self as usize]
    }

    pub(crate) fn random(stream: &mut Stream) -> Self {
        Self::ALL[stream.below(2)]
    }
}

/// The light and air of one picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ambience {
    pub(crate) light: Light,
    pub(crate) weather: Weather,
    /// The light that falls on everything.
    pub(crate) gain: Rgb,
    /// The colour of distant air.
    pub(crate) air: Rgb,
    /// How much air a metre puts in front of things.
    density: f32,
}

impl Ambience {
    pub(crate) fn random(light: Light, weather: Weather, stream: &mut Stream) -> Self {
        let (gain, air) = match light {
            Light::Day => (hex(0xfffdf8), hex(0xbfd0dc)),
            Light::Dusk => (hex(0xc09a92), hex(0xd69a78)),
            Light::Night => (hex(0x262b3c), hex(0x10141f)),
        };
        let level = stream.between(0.86, 1.06) as f32;
        let grey = match (weather, light) {
            (Weather::Clear, _) => air,
            (_, Light::Day) => hex(0xb4bbc0),
            (_, Light::Dusk) => hex(0xa08c88),
            (_, Light::Night) => hex(0x1a1e28),
        };
        let (dim, density) = match weather {
            Weather::Clear => (1.0, 0.002),
            Weather::Haze => (0.94, stream.between(0.016, 0.030) as f32),
            Weather::Rain => (0.80, 0.009),
        };
        Self { light, weather, gain: scaled(gain, level * dim), air: grey, density }
    }

    /// The share of air in front of something, 0 to 1.
    pub(crate) fn haze(&self, metres: f32) -> f32 {
        1.0 - libm::expf(-self.density * metres)
    }

    /// What our own headlights add at a place ahead, 0 to 1; nothing by day.
    pub(crate) fn headlights(&self, metres: f32, sideways: f32) -> f32 {
        if self.light != Light::Night {
            return 0.0;
        }
        let spread = sideways / (1.6 + 0.22 * metres);
        libm::expf(-metres / 24.0) / (1.0 + spread * spread * spread * spread)
    }

    /// The shade of something upright; `retro` is how well it throws headlights back.
    pub(crate) fn shade(&self, metres: f32, sideways: f32, retro: f32) -> Shade {
        let beam = self.headlights(metres, sideways) * retro;
        let gain = std::array::from_fn(|c| self.gain[c] + beam * [1.0, 0.97, 0.88][c]);
        Shade { gain, air: self.air, haze: self.haze(metres) }
    }

    /// Lays falling drops over a finished picture, if it rains.
    pub(crate) fn rain(&self, canvas: &mut Canvas, seed: Seed) {
        if self.weather != Weather::Rain {
            return;
        }
        let mut stream = seed.stream();
        let width = canvas.width() as f32;
        let height = canvas.height() as f32;
        let colour = mix(self.air, [0.85; 3], if self.light == Light::Night { 0.3 } else { 0.7 });
        let slant = stream.between(-0.3, 0.3) as f32;
        for _ in 0..(width * height / 110.0) as usize {
            let x = stream.between(0.0, f64::from(width)) as f32;
            let y = stream.between(-6.0, f64::from(height)) as f32;
            let length = stream.between(3.0, 3.0 + f64::from(height) / 14.0) as f32;
            let strength = stream.between(0.08, 0.26) as f32;
            for step in 0..length as usize {
                let px = x + slant * step as f32;
                let py = y + step as f32;
                if px >= 0.0 && py >= 0.0 {
                    canvas.blend(px as usize, py as usize, colour, strength);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn darkness_falls_and_haze_thickens() {
        let mut stream = Seed::new(2).stream();
        let mut of = |light, weather| Ambience::random(light, weather, &mut stream);
        let day = of(Light::Day, Weather::Clear);
        let night = of(Light::Night, Weather::Clear);
        let mist = of(Light::Day, Weather::Haze);
        assert!(day.gain[0] > 3.0 * night.gain[0]);
        assert!(mist.haze(20.0) > 4.0 * day.haze(20.0) && mist.haze(40.0) > mist.haze(20.0));
        assert_eq!(day.headlights(10.0, 0.0), 0.0);
        assert!(night.headlights(10.0, 0.0) > night.headlights(30.0, 0.0));
        assert!(night.headlights(10.0, 0.0) > night.headlights(10.0, 6.0));
    }

    #[test]
    fn only_rain_leaves_streaks() {
        for weather in Weather::ALL {
            let mut canvas = Canvas::new(40, 40);
            let air = Ambience::random(Light::Day, weather, &mut Seed::new(1).stream());
            air.rain(&mut canvas, Seed::new(5));
            assert_eq!(canvas != Canvas::new(40, 40), weather == Weather::Rain);
        }
    }
}
