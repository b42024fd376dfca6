//! VIF-P, the pixel form of visual information fidelity, which most libraries mean by VIF: the same
//! model on Gaussian windows of the pixels at four scales instead of wavelet bands.

use super::information::Information;
use super::plane::{Plane, luma_row};
use faultlens_core::Image;

/// The windows of the scales, finest first.
const WINDOWS: [usize; 4] = [17, 9, 5, 3];
/// The shortest side that all scales fit into.
pub(super) const MIN_SIDE: usize = 41;
/// The variance of the noise inside an observer.
const NOISE: f64 = 2.0;
/// What counts as nothing.
const NOTHING: f64 = 1e-10;

/// The original and the changed image at one scale.
enum Scale<'a> {
    /// The pixels, whose luma is made row by row.
    Images([&'a Image; 2]),
    /// A coarser one, which is small enough to be kept.
    Planes([Plane; 2]),
}

impl Scale<'_> {
    fn size(&self) -> [usize; 2] {
        match self {
            Self::Images([image, _]) => [image.width(), image.height()],
            Self::Planes([plane, _]) => [plane.width, plane.height],
        }
    }

    /// A row of one of both.
    fn row(&self, which: usize, y: usize, out: &mut [f64]) {
        match self {
            Self::Images(images) => luma_row(images[which], y, out),
            Self::Planes(planes) => out.copy_from_slice(planes[which].row(y)),
        }
    }

    /// The next scale: every second row and column of what the window makes of this one.
    fn next(&self, half: &[f64]) -> Self {
        Self::Planes([0, 1].map(|which| {
            let [width, height] = self.size();
            let mut window = Filter::new(half, width);
            let [columns, rows] = [width, height].map(|side| side - 2 * window.reach());
            let mut out = Plane::new(columns.div_ceil(2), rows.div_ceil(2), 0);
            let mut filtered = vec![0.0; columns];
            for y in 0..height {
                window.push(|row| self.row(which, y, row));
                // From the first row on; the rows between are not looked at.
                if let Some(at) = window.first(y).filter(|at| at % 2 == 0) {
                    window.filter(at, &mut filtered);
                    let places = filtered.iter().step_by(2);
                    out.write(at / 2, |out| {
                        out.iter_mut().zip(places).for_each(|(out, value)| *out = *value);
                    });
                }
            }
            out
        }))
    }
}

/// VIF-P of two images of one size; `None` where the original is flat, for which nothing is
/// published.
pub(super) fn vif_p(original: &Image, changed: &Image) -> Option<f64> {
    let mut left = Information::default();
    let mut known = Information::default();
    let mut scale = Scale::Images([original, changed]);
    for (number, side) in WINDOWS.into_iter().enumerate() {
        let half = gaussian(side);
        if number > 0 {
            scale = scale.next(&half);
        }
        add_scale(&scale, &half, &mut left, &mut known);
    }
    let known = known.bits();
    (known > 0.0).then(|| left.bits() / known)
}

/// Adds what is left and what there was in all windows of a scale.
fn add_scale(scale: &Scale<'_>, half: &[f64], left: &mut Information, known: &mut Information) {
    let [width, height] = scale.size();
    let mut windows = [(); 5].map(|()| Filter::new(half, width));
    let mut means = [(); 5].map(|()| vec![0.0; width - 2 * windows[0].reach()]);
    let [mut x, mut y] = [(); 2].map(|()| vec![0.0; width]);
    for row in 0..height {
        scale.row(0, row, &mut x);
        scale.row(1, row, &mut y);
        let factors: [[&[f64]; 2]; 3] = [[&x, &x], [&y, &y], [&x, &y]];
        for (window, [a, b]) in windows.iter_mut().zip(factors) {
            window.push(|out| {
                for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
                    *out = a * b;
                }
            });
        }
        windows[3].push(|out| out.copy_from_slice(&x));
        windows[4].push(|out| out.copy_from_slice(&y));
        let Some(first) = windows[0].first(row) else { continue };
        for (window, means) in windows.iter_mut().zip(&mut means) {
            window.filter(first, means);
        }
        let [xx, yy, xy, x, y] = &means;
        let ratios: Vec<[f64; 2]> = (0..x.len())
            .map(|at| {
                let [x, y] = [x[at], y[at]];
                channel(xx[at] - x * x, yy[at] - y * y, xy[at] - x * y)
            })
            .collect();
        left.add(&[1.0], &ratios.iter().map(|[left, _]| *left).collect::<Vec<_>>());
        known.add(&[1.0], &ratios.iter().map(|[_, known]| *known).collect::<Vec<_>>());
    }
}

/// What is left of the signal beside noise in a window, and what there was.
fn channel(own: f64, changed: f64, both: f64) -> [f64; 2] {
    let mut own = own.max(0.0);
    let changed = changed.max(0.0);
    let mut gain = both / (own + NOTHING);
    let mut noise = changed - gain * both;
    if own < NOTHING {
        [gain, noise, own] = [0.0, changed, 0.0];
    }
    if changed < NOTHING {
        [gain, noise] = [0.0, 0.0];
    }
    if gain < 0.0 {
        [gain, noise] = [0.0, changed];
    }
    let noise = if noise <= NOTHING { NOTHING } else { noise };
    [gain * gain * own / (noise + NOISE), own / NOISE]
}

/// Half of a Gaussian window, from its middle outwards; the whole sums up to 1.
fn gaussian(side: usize) -> Vec<f64> {
    let deviation = side as f64 / 5.0;
    let half: Vec<f64> =
        (0..=side / 2).map(|at| libm::exp(-0.5 * (at as f64 / deviation).powi(2))).collect();
    let sum = 2.0 * half.iter().sum::<f64>() - half[0];
    half.iter().map(|weight| weight / sum).collect()
}

/// The weighted mean of every window that fits, of rows that come one after the other.
struct Filter<'h> {
    half: &'h [f64],
    /// As many rows as a window has.
    rows: Vec<Vec<f64>>,
    next: usize,
    columns: Vec<f64>,
}

impl<'h> Filter<'h> {
    fn new(half: &'h [f64], width: usize) -> Self {
        let rows = vec![vec![0.0; width]; 2 * half.len() - 1];
        Self { half, rows, next: 0, columns: vec![0.0; width] }
    }

    fn reach(&self) -> usize {
        self.half.len() - 1
    }

    fn push(&mut self, write: impl FnOnce(&mut [f64])) {
        let at = self.next % self.rows.len();
        write(&mut self.rows[at]);
        self.next += 1;
    }

    /// The first row of the window that ends with a row, if it fits.
    fn first(&self, last: usize) -> Option<usize> {
        last.checked_sub(2 * self.reach())
    }

    /// The means of the windows whose first row is `y`, which end with the row that came last.
    fn filter(&mut self, y: usize, out: &mut [f64]) {
        let Self { half, rows, columns, .. } = self;
        let reach = half.len() - 1;
        let row = |y: usize| &rows[y % rows.len()];
        let middle = row(y + reach);
        columns.iter_mut().zip(middle).for_each(|(out, value)| *out = half[0] * value);
        for (away, weight) in half.iter().enumerate().skip(1) {
            let above = row(y + reach - away);
            let under = row(y + reach + away);
            for ((out, above), under) in columns.iter_mut().zip(above).zip(under) {
                *out += weight * (above + under);
            }
        }
        let places = |from: usize| columns[from..].iter();
        out.iter_mut().zip(places(reach)).for_each(|(out, value)| *out = half[0] * value);
        for (away, weight) in half.iter().enumerate().skip(1) {
            let sides = places(reach - away).zip(places(reach + away));
            for (out, (left, right)) in out.iter_mut().zip(sides) {
                *out += weight * (left + right);
            }
        }
    }
}
