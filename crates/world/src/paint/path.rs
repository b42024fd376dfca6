//! Outlines: closed contours of straight pieces, short enough to pass for curves.

use super::point::Point;
use super::transform::Transform;
use std::f32::consts::{PI, TAU};

/// Closed contours. A contour inside another that runs the other way round is a hole.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Path {
    contours: Vec<Vec<Point>>,
}

impl Path {
    /// One contour through the corners.
    pub fn polygon(corners: impl Into<Vec<Point>>) -> Self {
        Self { contours: vec![corners.into()] }
    }

    /// A box by its sides.
    pub fn rect(left: f32, top: f32, right: f32, bottom: f32) -> Self {
        Self::polygon([[left, top], [right, top], [right, bottom], [left, bottom]])
    }

    /// An ellipse about a centre.
    pub fn ellipse(centre: Point, rx: f32, ry: f32) -> Self {
        Self::polygon(arc(centre, rx, ry, 0.0, TAU * 35.0 / 36.0, 36))
    }

    /// A circle about a centre.
    pub fn circle(centre: Point, radius: f32) -> Self {
        Self::ellipse(centre, radius, radius)
    }

    /// A polygon of `n` equal sides, its first corner at `angle` from the positive x axis.
    pub fn regular(n: usize, radius: f32, angle: f32) -> Self {
        Self::polygon(
            (0..n)
                .map(|i| {
                    let at = angle + TAU * i as f32 / n as f32;
                    [radius * libm::cosf(at), radius * libm::sinf(at)]
                })
                .collect::<Vec<_>>(),
        )
    }

    /// The smallest polygon without dents around all points.
    pub fn hull(points: impl IntoIterator<Item = Point>) -> Self {
        let mut points: Vec<Point> = points.into_iter().collect();
        points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
        let mut contour = half_hull(points.iter());
        contour.extend(half_hull(points.iter().rev()));
        Self::polygon(contour)
    }

    /// A line of a width along the points, with square ends.
    pub fn stroke(points: &[Point], width: f32) -> Self {
        let side = |h| (0..points.len()).map(move |i| offset(points, i, h, false));
        let mut contour: Vec<Point> = side(width / 2.0).collect();
        contour.extend(side(-width / 2.0).rev());
        Self::polygon(contour)
    }

    /// A line of a width around the points, back to the first.
    pub fn ring(points: &[Point], width: f32) -> Self {
        let side = |h| (0..points.len()).map(move |i| offset(points, i, h, true));
        let inner = side(-width / 2.0).rev().collect();
        Self { contours: vec![side(width / 2.0).collect(), inner] }
    }

    /// The same outline with every corner rounded off over a length of `radius`.
    pub fn rounded(&self, radius: f32) -> Self {
        let mut contours = Vec::new();
        for contour in &self.contours {
            let n = contour.len();
            let mut rounded = Vec::new();
            for (i, &point) in contour.iter().enumerate() {
                rounded.extend(corner(
                    contour[(i + n - 1) % n],
                    point,
                    contour[(i + 1) % n],
                    radius,
                ));
            }
            contours.push(rounded);
        }
        Self { contours }
    }

    /// Both outlines as one.
    pub fn and(mut self, other: Self) -> Self {
        self.contours.extend(other.contours);
        self
    }

    /// The outline with every point moved.
    pub fn moved(&self, transform: &Transform) -> Self {
        Self {
            contours: self
                .contours
                .iter()
                .map(|c: &Vec<Point>| c.iter().map(|&p| transform.apply(p)).collect())
                .collect(),
        }
    }

    /// The contours, each closed by a piece from its last point to its first.
    pub fn contours(&self) -> &[Vec<Point>] {
        &self.contours
    }

    /// All points of all contours.
    pub fn points(&self) -> impl Iterator<Item = Point> + '_ {
        self.contours.iter().flatten().copied()
    }

    /// Left, top, right and bottom; `None` for a path without points.
    pub fn extent(&self) -> Option<[f32; 4]> {
        let first = self.points().next()?;
        Some(self.points().fold(
            [first[0], first[1], first[0], first[1]],
            |e: [f32; 4], p: Point| {
                [e[0].min(p[0]), e[1].min(p[1]), e[2].max(p[0]), e[3].max(p[1])]
            },
        ))
    }
}

/// `n + 1` points along a piece of an ellipse; angles in radians, clockwise as seen.
pub(super) fn arc(centre: Point, rx: f32, ry: f32, from: f32, to: f32, n: usize) -> Vec<Point> {
    (0..=n)
        .map(|i| {
            let angle = from + (to - from) * i as f32 / n as f32;
            [centre[0] + rx * libm::cosf(angle), centre[1] + ry * libm::sinf(angle)]
        })
        .collect()
}

/// An arc with angles in degrees.
pub(super) fn sweep(centre: Point, rx: f32, ry: f32, from: f32, to: f32) -> Vec<Point> {
    arc(centre, rx, ry, from * PI / 180.0, to * PI / 180.0, 14)
}

fn minus(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1]]
}

fn unit(v: Point) -> Point {
    let length = (v[0] * v[0] + v[1] * v[1]).sqrt().max(1e-9);
    [v[0] / length, v[1] / length]
}

/// Point `i` of a line moved sideways by `h`, mitred where the line turns.
fn offset(points: &[Point], i: usize, h: f32, closed: bool) -> Point {
    let n = points.len();
    let before = if i > 0 {
        i - 1
    } else if closed {
        n - 1
    } else {
        0
    };
    let after = if i + 1 < n {
        i + 1
    } else if closed {
        0
    } else {
        n - 1
    };
    let mut a = minus(points[i], points[before]);
    let mut b = minus(points[after], points[i]);
    if before == i {
        a = b;
    }
    if after == i {
        b = a;
    }
    let a = unit(a);
    let b = unit(b);
    let normal = unit([-(a[1] + b[1]), a[0] + b[0]]);
    let miter = (normal[0] * -a[1] + normal[1] * a[0]).max(0.5);
    [points[i][0] + normal[0] * h / miter, points[i][1] + normal[1] * h / miter]
}

fn corner(before: Point, at: Point, after: Point, radius: f32) -> [Point; 5] {
    let toward = |other: Point| {
        let d = unit(minus(other, at));
        [at[0] + d[0] * radius, at[1] + d[1] * radius]
    };
    let a = toward(before);
    let b = toward(after);
    std::array::from_fn(|i| {
        let t = i as f32 / 4.0;
        let u = (1.0 - t) * (1.0 - t);
        let v = 2.0 * t * (1.0 - t);
        let w = t * t;
        [u * a[0] + v * at[0] + w * b[0], u * a[1] + v * at[1] + w * b[1]]
    })
}

fn half_hull<'a>(points: impl Iterator<Item = &'a Point>) -> Vec<Point> {
    let mut hull: Vec<Point> = Vec::new();
    for &p in points {
        while let [.., a, b] = hull[..] {
            let ab = minus(b, a);
            let ap = minus(p, a);
            if ab[0] * ap[1] - ab[1] * ap[0] > 0.0 {
                break;
            }
            hull.pop();
        }
        hull.push(p);
    }
    hull.pop();
    hull
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strokes_have_their_width() {
        let line = Path::stroke(&[[0.0, 0.0], [10.0, 0.0]], 2.0);
        assert_eq!(line.extent(), Some([0.0, -1.0, 10.0, 1.0]));
        let ring = Path::ring(&[[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]], 2.0);
        let extent = ring.extent().unwrap();
        assert!((extent[0] + 1.0).abs() < 1e-5 && (extent[3] - 5.0).abs() < 1e-5);
    }

    #[test]
    fn a_hull_drops_what_lies_inside() {
        let square = [[0.0, 0.0], [2.0, 0.0], [1.0, 1.0], [2.0, 2.0], [0.0, 2.0]];
        assert_eq!(Path::hull(square).points().count(), 4);
    }

    #[test]
    fn rounding_keeps_sides_and_cuts_corners() {
        let square = Path::rect(0.0, 0.0, 10.0, 10.0).rounded(2.0);
        assert!(square.points().all(|p| p != [0.0, 0.0]));
        assert_eq!(square.extent(), Some([0.0, 0.0, 10.0, 10.0]));
    }
}
