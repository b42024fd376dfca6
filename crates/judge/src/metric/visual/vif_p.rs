//! VIF-P, the pixel form of visual information fidelity, which most libraries mean by VIF: the same
//! model on Gaussian windows of the pixels at four scales instead of wavelet bands.

use super::information::Information;
use super::plane::Plane;

/// The windows of the scales, finest first.
const WINDOWS: [usize; 4] = [17, 9, 5, 3];
/// The shortest side that all scales fit into.
pub(super) const MIN_SIDE: usize = 41;
/// The variance of the noise inside an observer.
const NOISE: f64 = 2.0;
/// What counts as nothing.
const NOTHING: f64 = 1e-10;

/// VIF-P of two planes of one size; `None` where the original is flat, for which nothing is
/// published.
pub(super) fn vif_p(original: &Plane, changed: &Plane) -> Option<f64> {
    let mut left = Information::default();
    let mut known = Information::default();
    let mut planes = [original.clone(), changed.clone()];
    for (scale, side) in WINDOWS.into_iter().enumerate() {
        let window = gaussian(side);
        if scale > 0 {
            planes = planes.map(|plane| halved(&filtered(&plane, &window)));
        }
        let [x, y] = &planes;
        let products = [product(x, x), product(y, y), product(x, y)];
        let [xx, yy, xy] = products.map(|product| filtered(&product, &window));
        let [x, y] = planes.each_ref().map(|plane| filtered(plane, &window));
        for row in 0..x.height {
            let means = x.row(row).iter().zip(y.row(row));
            let squares = xx.row(row).iter().zip(yy.row(row)).zip(xy.row(row));
            let ratios: Vec<[f64; 2]> = means
                .zip(squares)
                .map(|((x, y), ((xx, yy), xy))| channel(xx - x * x, yy - y * y, xy - x * y))
                .collect();
            left.add(&[1.0], &ratios.iter().map(|[left, _]| *left).collect::<Vec<_>>());
            known.add(&[1.0], &ratios.iter().map(|[_, known]| *known).collect::<Vec<_>>());
        }
    }
    let known = known.bits();
    (known > 0.0).then(|| left.bits() / known)
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

/// The weighted mean of every window that fits.
fn filtered(plane: &Plane, half: &[f64]) -> Plane {
    let reach = half.len() - 1;
    let mut out = Plane::new(plane.width - 2 * reach, plane.height - 2 * reach, 0);
    let mut columns = vec![0.0; plane.width];
    for y in 0..out.height {
        let middle = plane.row(y + reach);
        columns.iter_mut().zip(middle).for_each(|(out, value)| *out = half[0] * value);
        for (away, weight) in half.iter().enumerate().skip(1) {
            let above = plane.row(y + reach - away);
            let under = plane.row(y + reach + away);
            for ((out, above), under) in columns.iter_mut().zip(above).zip(under) {
                *out += weight * (above + under);
            }
        }
        out.write(y, |out| {
            let places = |from: usize| columns[from..].iter();
            out.iter_mut().zip(places(reach)).for_each(|(out, value)| *out = half[0] * value);
            for (away, weight) in half.iter().enumerate().skip(1) {
                let sides = places(reach - away).zip(places(reach + away));
                for (out, (left, right)) in out.iter_mut().zip(sides) {
                    *out += weight * (left + right);
                }
            }
        });
    }
    out
}

/// Every second row and column, from the first on.
fn halved(plane: &Plane) -> Plane {
    let mut out = Plane::new(plane.width.div_ceil(2), plane.height.div_ceil(2), 0);
    for y in 0..out.height {
        let row = plane.row(2 * y).iter().step_by(2);
        out.write(y, |out| out.iter_mut().zip(row).for_each(|(out, value)| *out = *value));
    }
    out
}

fn product(a: &Plane, b: &Plane) -> Plane {
    let mut out = Plane::new(a.width, a.height, 0);
    for y in 0..a.height {
        let rows = a.row(y).iter().zip(b.row(y));
        out.write(y, |out| out.iter_mut().zip(rows).for_each(|(out, (a, b))| *out = a * b));
    }
    out
}
