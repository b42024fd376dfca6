//! Polygons become pixels exactly as pycocotools paints them, since the areas and overlaps that
//! others publish rest on it.

/// Points of the outline are found at this many times the image's size.
const FINE: f64 = 5.0;
/// Corners further out are refused.
const FAR: f64 = 1e6;
/// Longer outlines, in fine points, are refused: walking along them would take forever.
const LONG: i64 = 10_000_000;

/// Adds the pixels of one polygon (x, y, x, y …) to `bits`, which has rows of `width` pixels.
pub(in crate::format) fn paint(
    polygon: &[f64],
    width: usize,
    height: usize,
    bits: &mut [bool],
) -> Result<(), String> {
    if polygon.len() < 6 || !polygon.len().is_multiple_of(2) {
        return Err(format!("a polygon has {} numbers; three points need six", polygon.len()));
    }
    if polygon.iter().any(|at| !at.is_finite() || at.abs() > FAR) {
        return Err("a polygon has a corner far outside of the image".into());
    }
    // Where the outline crosses a column, all pixels from there on change sides. Pixels count
    // down the columns, so that the sum up to a pixel says whether it is inside.
    let mut crossed = vec![false; width * height];
    let mut before = None;
    let mut cross = |u: i64, v: i64| {
        if let Some(pixel) = before.and_then(|before| crossing(before, (u, v), width, height))
            && pixel < crossed.len()
        {
            crossed[pixel] ^= true;
        }
        before = Some((u, v));
    };
    let points: Vec<(i64, i64)> = polygon
        .chunks_exact(2)
        .map(|point| ((FINE * point[0] + 0.5) as i64, (FINE * point[1] + 0.5) as i64))
        .collect();
    // Each side leads from a point to the next one, the last one back to the first.
    let sides: Vec<((i64, i64), (i64, i64))> =
        points.iter().copied().zip(points.iter().copied().cycle().skip(1)).collect();
    if sides.iter().map(|&(from, to)| steps(from, to) + 1).sum::<i64>() > LONG {
        return Err("a polygon's outline is too long".into());
    }
    for (from, to) in sides {
        walk(from, to, &mut cross);
    }
    // A scan over the crossings, column by column: each one changes sides.
    let mut inside = false;
    for (at, &change) in crossed.iter().enumerate() {
        inside ^= change;
        bits[at % height * width + at / height] |= inside;
    }
    Ok(())
}

fn steps((x0, y0): (i64, i64), (x1, y1): (i64, i64)) -> i64 {
    (x1 - x0).abs().max((y1 - y0).abs())
}

/// Visits the points of a line, both ends included. The rounding is the same in both directions,
/// so that neighbours share their border.
fn walk(from: (i64, i64), to: (i64, i64), visit: &mut impl FnMut(i64, i64)) {
    let (x0, y0) = from;
    let (x1, y1) = to;
    let dx = (x1 - x0).abs();
    let dy = (y1 - y0).abs();
    let flat = dx >= dy;
    let flip = if flat { x0 > x1 } else { y0 > y1 };
    let ((xs, ys), (xe, ye)) = if flip { ((x1, y1), (x0, y0)) } else { ((x0, y0), (x1, y1)) };
    let steps = steps(from, to);
    let slope = match (flat, steps) {
        (_, 0) => 0.0,
        (true, _) => (ye - ys) as f64 / dx as f64,
        (false, _) => (xe - xs) as f64 / dy as f64,
    };
    for step in 0..=steps {
        let t = if flip { steps - step } else { step };
        let along = |start: i64| (start as f64 + slope * t as f64 + 0.5) as i64;
        if flat {
            visit(xs + t, along(ys));
        } else {
            visit(along(xs), ys + t);
        }
    }
}

/// The pixel, counted down the columns, from which on sides change between two points of the
/// outline; `None` where they do not cross the middle of a column.
fn crossing(
    (u0, v0): (i64, i64),
    (u1, v1): (i64, i64),
    width: usize,
    height: usize,
) -> Option<usize> {
    if u0 == u1 {
        return None;
    }
    let column = (if u1 < u0 { u1 } else { u1 - 1 }) as f64;
    let column = (column + 0.5) / FINE - 0.5;
    if column.floor() != column || column < 0.0 || column > width as f64 - 1.0 {
        return None;
    }
    let row = (v0.min(v1) as f64 + 0.5) / FINE - 0.5;
    let row = row.clamp(0.0, height as f64).ceil();
    Some(column as usize * height + row as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_is_its_pixels() {
        let mut bits = vec![false; 20];
        paint(&[1.0, 1.0, 4.0, 1.0, 4.0, 3.0, 1.0, 3.0], 5, 4, &mut bits).unwrap();
        let set: Vec<usize> = (0..20).filter(|&at| bits[at]).collect();
        assert_eq!(set, [6, 7, 8, 11, 12, 13]);
    }

    #[test]
    fn no_outline_is_endless_or_open() {
        let zigzag: Vec<f64> = (0..200).map(|at| if at % 4 < 2 { -FAR } else { FAR }).collect();
        for polygon in
            [&[0.0, 0.0, 1.0, 1.0][..], &[0.0; 7], &[1e300; 6], &[f64::NAN; 6], &[], &zigzag]
        {
            assert!(paint(polygon, 5, 4, &mut [false; 20]).is_err(), "{polygon:?}");
        }
        // Far outside, but finite: nothing or everything is covered.
        let mut bits = vec![false; 20];
        paint(&[-900.0, -900.0, 900.0, -900.0, 900.0, 900.0, -900.0, 900.0], 5, 4, &mut bits)
            .unwrap();
        assert!(bits.iter().all(|&bit| bit));
    }
}
