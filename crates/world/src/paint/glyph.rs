//! Letters and digits as strokes, the few that signs carry.

use super::Path;
use super::path::sweep;

/// A glyph is 0.6 wide and 1 high; its strokes end on that box.
const WIDTH: f32 = 0.6;

/// A line of text about the origin: `height` high, strokes `weight` of the height thick.
///
/// Knows the digits 0, 3, 5 and 8 and the letters of STOP; any other character is a gap.
pub fn text(line: &str, height: f32, weight: f32) -> Path {
    let advance = WIDTH + weight + 0.13;
    let n = line.chars().count();
    let left = -(advance * n as f32 - 0.13 - weight) / 2.0;
    line.chars().enumerate().fold(Path::default(), |path, (i, letter)| {
        let place = super::Transform::IDENTITY
            .shifted(left + advance * i as f32, -0.5)
            .scaled(height, height * (1.0 - weight));
        path.and(glyph(letter, weight).moved(&place))
    })
}

fn glyph(letter: char, weight: f32) -> Path {
    let stroke = |points: &[Vec<[f32; 2]>]| Path::stroke(&points.concat(), weight);
    let ring = |cy: f32, rx: f32, ry: f32| {
        let mut points = sweep([0.3, cy], rx, ry, 0.0, 360.0);
        points.pop();
        Path::ring(&points, weight)
    };
    match letter {
        '0' | 'O' => Path::ring(
            &[sweep([0.3, 0.3], 0.3, 0.3, -180.0, 0.0), sweep([0.3, 0.7], 0.3, 0.3, 0.0, 180.0)]
                .concat(),
            weight,
        ),
        '3' => stroke(&[sweep([0.29, 0.25], 0.28, 0.25, -160.0, 80.0)])
            .and(stroke(&[sweep([0.29, 0.73], 0.31, 0.27, -80.0, 160.0)]))
            .and(Path::stroke(&[[0.2, 0.48], [0.38, 0.48]], weight)),
        '5' => stroke(&[
            vec![[0.56, 0.0], [0.1, 0.0], [0.06, 0.48]],
            sweep([0.29, 0.67], 0.31, 0.33, -135.0, 155.0),
        ]),
        '8' => ring(0.24, 0.26, 0.24).and(ring(0.74, 0.31, 0.26)),
        'S' => stroke(&[
            sweep([0.3, 0.25], 0.28, 0.25, -20.0, -270.0),
            sweep([0.3, 0.75], 0.3, 0.25, -90.0, 160.0),
        ]),
        'T' => Path::stroke(&[[-0.03, 0.0], [0.63, 0.0]], weight)
            .and(Path::stroke(&[[0.3, 0.0], [0.3, 1.0 + weight / 2.0]], weight)),
        'P' => Path::stroke(&[[0.02, -weight / 2.0], [0.02, 1.0 + weight / 2.0]], weight).and(
            stroke(&[
                vec![[0.02, 0.0]],
                sweep([0.3, 0.28], 0.29, 0.28, -90.0, 90.0),
                vec![[0.02, 0.56]],
            ]),
        ),
        _ => Path::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paint::Coverage;

    #[test]
    fn glyphs_differ_and_fit_their_line() {
        let glyphs: Vec<Path> =
            "0358STP".chars().map(|c| text(&c.to_string(), 10.0, 0.2)).collect();
        for (i, a) in glyphs.iter().enumerate() {
            let [left, top, right, bottom] = a.extent().unwrap();
            assert!(bottom - top < 10.4 && right - left < 9.0, "glyph {i}: {:?}", a.extent());
            let ink: f32 = Coverage::of(&a.moved(&shift()), 20, 20).pixels().map(|p| p.2).sum();
            assert!(ink > 20.0, "glyph {i} has {ink} pixels of ink");
            assert!(glyphs[i + 1..].iter().all(|b| a != b));
        }
        assert_eq!(text("x", 10.0, 0.2), Path::default());
    }

    fn shift() -> crate::paint::Transform {
        crate::paint::Transform::IDENTITY.shifted(10.0, 10.0)
    }
}
