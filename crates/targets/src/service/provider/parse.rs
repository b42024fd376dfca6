//! Names, scores, boxes and texts in responses, none of them taken on trust.

use super::super::wire_format::WireError;
use super::http_error::describe_body;
use faultlens_core::{Bounds, Image, Names, Response, Text};
use serde::de::DeserializeOwned;

/// More entries than any service answers.
pub(super) const MAX_ENTRIES: usize = 10_000;

/// The longest name of a label, and the longest text, in characters.
const MAX_NAME: usize = 1_000;
const MAX_TEXT: usize = 1_000_000;

/// The largest coordinate of a box, in sides of the image: boxes may reach beyond it, by so much.
const MAX_SIDES: f64 = 100.0;

/// The name of detected faces, which services do not name.
pub(super) const FACE: &str = "face";

/// A response that cannot be understood, and why.
pub(super) fn malformed<T>(why: impl Into<String>) -> Result<T, WireError> {
    Err(WireError::Malformed(why.into()))
}

/// The JSON of a body.
pub(super) fn json<T: DeserializeOwned>(body: &[u8]) -> Result<T, WireError> {
    serde_json::from_slice(body).or_else(|error| {
        let start = describe_body(body);
        malformed(format!("invalid JSON, {error}; it begins with {start:?}"))
    })
}

/// A list of acceptable length.
pub(super) fn bounded<T>(list: Vec<T>) -> Result<Vec<T>, WireError> {
    if list.len() > MAX_ENTRIES {
        return malformed(format!("{} entries, at most {MAX_ENTRIES} are read", list.len()));
    }
    Ok(list)
}

/// A label's name.
pub(super) fn name(name: String) -> Result<String, WireError> {
    if name.trim().is_empty() {
        return malformed("a label without a name");
    }
    if name.chars().nth(MAX_NAME).is_some() {
        return malformed(format!("a label of more than {MAX_NAME} characters"));
    }
    Ok(name)
}

/// A score from 0 to `whole` as a score from 0 to 1. The division is done in 64 bits, so that a
/// 32-bit score that a server multiplied by 100 comes back exactly.
pub(super) fn score(value: f64, whole: f64) -> Result<f32, WireError> {
    let share = value / whole;
    // 32-bit scores that were rounded on the way may lie slightly outside.
    if !(-1e-6..=1.0 + 1e-6).contains(&share) {
        return malformed(format!("a score of {value}, which must be from 0 to {whole}"));
    }
    Ok(share.clamp(0.0, 1.0) as f32)
}

/// A box in pixels, from left, top, right and bottom as fractions of the image.
pub(super) fn bounds(fractions: [f64; 4], image: &Image) -> Result<Bounds, WireError> {
    let [left, top, right, bottom] = fractions;
    let is_in_range = fractions.iter().all(|fraction| fraction.abs() <= MAX_SIDES);
    if !is_in_range || left > right || top > bottom {
        return malformed(format!("a box with the sides {fractions:?}"));
    }
    let width = image.width() as f64;
    let height = image.height() as f64;
    Ok(Bounds {
        left: (left * width) as f32,
        top: (top * height) as f32,
        right: (right * width) as f32,
        bottom: (bottom * height) as f32,
    })
}

/// A box in pixels, from left, top, right and bottom in pixels.
pub(super) fn bounds_of_pixels(sides: [f64; 4], image: &Image) -> Result<Bounds, WireError> {
    let [left, top, right, bottom] = sides;
    let width = image.width() as f64;
    let height = image.height() as f64;
    // Only checked as fractions: dividing and multiplying again would round.
    bounds([left / width, top / height, right / width, bottom / height], image)?;
    let [left, top, right, bottom] = sides.map(|side| side as f32);
    Ok(Bounds { left, top, right, bottom })
}

/// A text, character by character.
pub(super) fn text(text: &str) -> Result<Response, WireError> {
    let classes: Vec<usize> = text.trim().chars().map(|letter| letter as usize).collect();
    if classes.len() > MAX_TEXT {
        return malformed(format!("a text of {} characters", classes.len()));
    }
    Ok(Response::Text(Text { classes, names: Names::Letters, finite: true }))
}

/// A text from its lines.
pub(super) fn lines(lines: &[String]) -> Result<Response, WireError> {
    text(&lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_of_32_bits_comes_back() {
        for bits in (0..0x3f80_0000u32).step_by(9973) {
            let own = f32::from_bits(bits);
            assert_eq!(score(f64::from(own), 1.0).unwrap(), own);
            let written = (f64::from(own) * 100.0).to_string();
            assert_eq!(score(written.parse().unwrap(), 100.0).unwrap(), own, "{written}");
        }
        assert_eq!(score(100.00001, 100.0).unwrap(), 1.0);
        for odd in [-1.0, 101.0, f64::NAN, f64::INFINITY] {
            assert!(score(odd, 100.0).is_err());
        }
    }

    #[test]
    fn a_side_of_32_bits_comes_back() {
        let image = Image::from_rgb(641, 479, vec![0; 641 * 479 * 3]).unwrap();
        for step in 1..4000 {
            let left = step as f32 * 0.037;
            let right = step as f32 * 0.037 + 133.77;
            let from = f64::from(left) / 641.0;
            let size = f64::from(right) / 641.0 - from;
            let bounds = bounds([from, 0.0, from + size, 1.0], &image).unwrap();
            assert_eq!((bounds.left, bounds.right, bounds.bottom), (left, right, 479.0));
        }
        for odd in [[0.5, 0.0, 0.2, 1.0], [f64::NAN; 4], [0.0, 0.0, 1e9, 1.0]] {
            assert!(bounds(odd, &image).is_err());
        }
    }
}
