//! Colours, and how light and air change them.

/// Red, green and blue from 0 to 1, as they are shown.
pub type Rgb = [f32; 3];

/// A colour from the notation `0xRRGGBB`.
pub const fn hex(code: u32) -> Rgb {
    [
        ((code >> 16) & 255) as f32 / 255.0,
        ((code >> 8) & 255) as f32 / 255.0,
        (code & 255) as f32 / 255.0,
    ]
}

/// The colour on the way from `a` (0) to `b` (1).
pub fn mix(a: Rgb, b: Rgb, amount: f32) -> Rgb {
    std::array::from_fn(|c| a[c] + (b[c] - a[c]) * amount)
}

/// A colour made brighter or darker.
pub fn scaled(colour: Rgb, factor: f32) -> Rgb {
    colour.map(|c| c * factor)
}

/// What becomes of a surface's colour on the way to the camera.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shade {
    /// The light that falls on the surface.
    pub gain: Rgb,
    /// The colour of the air in front of it.
    pub air: Rgb,
    /// How much of the air is in front of it: 0 none, 1 nothing else can be seen.
    pub haze: f32,
}

impl Shade {
    /// Full light and clear air: colours as they are mixed.
    pub const PLAIN: Self = Self { gain: [1.0; 3], air: [0.0; 3], haze: 0.0 };

    /// The colour that reaches the camera; a surface with `glow` 1 shines by itself.
    pub fn lit(&self, colour: Rgb, glow: f32) -> Rgb {
        let light = mix(self.gain, [1.0; 3], glow);
        let lit = std::array::from_fn(|c| colour[c] * light[c]);
        mix(lit, self.air, self.haze * (1.0 - 0.7 * glow))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lamps_ignore_the_dark_and_haze_hides_the_rest() {
        let night = Shade { gain: [0.1; 3], air: [0.5; 3], haze: 0.0 };
        let near = |a: Rgb, b: Rgb| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(near(night.lit(hex(0xff0000), 0.0), [0.1, 0.0, 0.0]));
        assert!(near(night.lit(hex(0xff0000), 1.0), [1.0, 0.0, 0.0]));
        let fog = Shade { haze: 1.0, ..night };
        assert!(near(fog.lit(hex(0xff0000), 0.0), [0.5; 3]));
        assert!(fog.lit(hex(0xff0000), 1.0)[0] > 0.6);
    }
}
