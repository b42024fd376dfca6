//! How much of each pixel an outline covers, exactly.
//!
//! Each piece of a contour leaves, in every row that it crosses, the area to its right; a running
//! sum along the row turns these marks into coverage.

use super::{Path, Point};

/// What part of each pixel of a box is covered, from 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Coverage {
    left: usize,
    top: usize,
    width: usize,
    values: Vec<f32>,
}

impl Coverage {
    /// The coverage of a path on a canvas of a size; what lies outside is cut off.
    pub fn of(path: &Path, width: usize, height: usize) -> Self {
        let Some([left, top, right, bottom]) = path.extent() else { return Self::none() };
        let clamp = |v: f32, side: usize| v.clamp(0.0, side as f32) as usize;
        let left = clamp(left.floor(), width);
        let top = clamp(top.floor(), height);
        let right = clamp(right.ceil(), width);
        let bottom = clamp(bottom.ceil(), height);
        if left >= right || top >= bottom {
            return Self::none();
        }
        let mut marks = Marks::new(right - left, bottom - top);
        let local = |p: Point| [p[0] - left as f32, p[1] - top as f32];
        for contour in path.contours() {
            for (i, &p) in contour.iter().enumerate() {
                marks.line(local(p), local(contour[(i + 1) % contour.len()]));
            }
        }
        Self { left, top, width: right - left, values: marks.summed() }
    }

    fn none() -> Self {
        Self { left: 0, top: 0, width: 1, values: Vec::new() }
    }

    /// The covered pixels: column, row and part covered.
    pub fn pixels(&self) -> impl Iterator<Item = (usize, usize, f32)> + '_ {
        self.values
            .iter()
            .enumerate()
            .filter(|&(_, &part)| part > 0.0)
            .map(move |(i, &part)| (self.left + i % self.width, self.top + i / self.width, part))
    }
}

struct Marks {
    width: usize,
    height: usize,
    stride: usize,
    marks: Vec<f32>,
}

impl Marks {
    fn new(width: usize, height: usize) -> Self {
        let stride = width + 2;
        Self { width, height, stride, marks: vec![0.0; stride * height] }
    }

    /// One piece, cut at the sides of the box: what is left of it still covers whole rows.
    fn line(&mut self, a: Point, b: Point) {
        let (mut p, mut q, sign) = if a[1] <= b[1] { (a, b, 1.0) } else { (b, a, -1.0) };
        if q[1] <= 0.0 || p[1] >= self.height as f32 || p[1] == q[1] {
            return;
        }
        let slope = (q[0] - p[0]) / (q[1] - p[1]);
        let x_at = |y: f32| p[0] + slope * (y - p[1]);
        let top = p[1].max(0.0);
        let bottom = q[1].min(self.height as f32);
        (p, q) = ([x_at(top), top], [x_at(bottom), bottom]);
        // Where it crosses the left and the right side, in the order in which it does.
        let cross = |side: f32| {
            let crosses = (p[0] < side) != (q[0] < side);
            if crosses { (p[1] + (side - p[0]) / slope).clamp(p[1], q[1]) } else { p[1] }
        };
        let left = cross(0.0);
        let right = cross(self.width as f32);
        let cuts = [p[1], left.min(right), left.max(right), q[1]];
        let x = |y: f32, side: usize| (p[0] + slope * (y - p[1])).clamp(0.0, side as f32);
        for pair in cuts.windows(2) {
            let from = x(pair[0], self.width);
            let to = x(pair[1], self.width);
            self.inside([from, pair[0]], [to, pair[1]], sign);
        }
    }

    fn inside(&mut self, p: Point, q: Point, sign: f32) {
        if p[1] >= q[1] {
            return;
        }
        let slope = (q[0] - p[0]) / (q[1] - p[1]);
        let mut x = p[0];
        for row in p[1] as usize..(q[1].ceil() as usize).min(self.height) {
            let dy = (row as f32 + 1.0).min(q[1]) - (row as f32).max(p[1]);
            let next = (x + slope * dy).clamp(0.0, self.width as f32);
            self.row(row, x.min(next), x.max(next), sign * dy);
            x = next;
        }
    }

    /// A piece within one row from column `x0` to `x1` with signed height `d`.
    fn row(&mut self, row: usize, x0: f32, x1: f32, d: f32) {
        let first = x0 as usize;
        let last = (x1.ceil() as usize).max(first + 1);
        let marks = &mut self.marks[row * self.stride..][..self.stride];
        if last == first + 1 {
            let part = 0.5 * (x0 + x1) - first as f32;
            marks[first] += d * (1.0 - part);
            marks[first + 1] += d * part;
            return;
        }
        let per_column = d / (x1 - x0);
        let mut before = 0.0;
        for (column, mark) in marks.iter_mut().enumerate().take(last).skip(first) {
            let from = x0.max(column as f32);
            let to = x1.min(column as f32 + 1.0);
            // The area right of the piece in this column, plus what earlier columns passed on.
            let height = per_column * (to - from);
            let area = height * (column as f32 + 1.0 - 0.5 * (from + to));
            *mark += before + area;
            before = height - area;
        }
        marks[last] += before;
    }

    fn summed(self) -> Vec<f32> {
        let mut values = Vec::with_capacity(self.width * self.height);
        for row in self.marks.chunks_exact(self.stride) {
            let mut sum = 0.0;
            values.extend(row[..self.width].iter().map(|mark| {
                sum += mark;
                let part = f32::abs(sum);
                if part < 1e-4 { 0.0 } else { part.min(1.0) }
            }));
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(path: &Path) -> f32 {
        Coverage::of(path, 20, 20).pixels().map(|(_, _, part)| part).sum()
    }

    #[test]
    fn coverage_is_area() {
        let cases = [
            (Path::rect(1.25, 1.5, 3.75, 4.0), 6.25),
            (Path::rect(-5.0, -5.0, 5.0, 5.0), 25.0),
            (Path::rect(15.0, 15.0, 99.0, 99.0), 25.0),
            (Path::polygon([[0.0, 0.0], [20.0, 0.0], [0.0, 20.0]]), 200.0),
            (Path::polygon([[-20.0, 0.0], [20.0, 0.0], [20.0, 20.0]]), 300.0 - 150.0 + 150.0),
            (Path::circle([10.0, 10.0], 8.0), 200.0),
            (Path::rect(30.0, 30.0, 40.0, 40.0), 0.0),
        ];
        for (path, wanted) in cases {
            let got = area(&path);
            assert!((got - wanted).abs() < wanted * 0.01 + 1e-3, "{got} is not {wanted}");
        }
    }

    #[test]
    fn holes_are_empty_and_overlaps_count_once() {
        let ring = Path::ring(&[[5.0, 5.0], [15.0, 5.0], [15.0, 15.0], [5.0, 15.0]], 2.0);
        assert!((area(&ring) - 80.0).abs() < 1e-2);
        let twice = Path::rect(2.0, 2.0, 6.0, 6.0).and(Path::rect(4.0, 2.0, 8.0, 6.0));
        assert!((area(&twice) - 24.0).abs() < 1e-2);
    }
}
