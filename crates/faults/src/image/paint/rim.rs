//! The relief of drops: how their surface rises from the rim and faces the light.

use super::edge::Edge;

/// Steps of brightness that make a rim, and those that go on where one is.
const STRONG: i16 = 150;
const WEAK: i16 = 50;

/// From this distance on, in pixels, a surface is flat.
const FLAT: usize = 20;

/// How much of the light every point of a surface throws back.
pub(crate) struct Relief(pub(crate) Vec<u8>);

/// The relief of drops on a layer that is black elsewhere: the distance from the nearest rim as a
/// height, evened out over all heights, lit from the upper left.
pub(crate) fn relief(layer: &[u8], width: usize) -> Relief {
    let heights = distances(rims(layer, width), width);
    let heights = averaged(&heights, width, |sum| sum / 9);
    let lit = lit(&equalised(&heights), width);
    Relief(averaged(&lit, width, |sum| (sum + 4) / 9))
}

/// Where the rows above, at and below a row start.
fn neighbours(y: usize, width: usize, height: usize) -> [usize; 3] {
    [-1, 0, 1].map(|by| Edge::Mirror.index(y as isize + by, height) * width)
}

/// Where brightness steps: 0 at the crests of the steps, as Canny's edge detector (1986) finds them
/// with hysteresis between [`WEAK`] and [`STRONG`]; [`FLAT`] elsewhere.
fn rims(layer: &[u8], width: usize) -> Vec<i16> {
    let height = layer.len() / width;
    let slopes = Slopes::new(layer, width);
    let mut crests = vec![0; layer.len()];
    for y in 1..height.saturating_sub(1) {
        let row = |y: usize| y * width..(y + 1) * width;
        let steep = [y - 1, y, y + 1].map(|y| &slopes.steep[row(y)]);
        if let [_, inner @ .., _] = &mut crests[row(y)] {
            find_crests(inner, steep, &slopes.across[row(y)][1..], &slopes.down[row(y)][1..]);
        }
    }
    join_crests(&mut crests, width);
    for crest in &mut crests {
        *crest = if *crest == STRONG_CREST { 0 } else { FLAT as i16 };
    }
    crests
}

const WEAK_CREST: i16 = 1;
const STRONG_CREST: i16 = 2;

/// Marks the points of a row, without its ends, that are as steep as their neighbours along the
/// slope. Apart from its caller, so that the compiler knows the rows to be distinct.
#[inline(never)]
fn find_crests(crests: &mut [i16], steep: [&[i16]; 3], across: &[i16], down: &[i16]) {
    let n = crests.len();
    let [[a, b, c], [d, e, f], [g, h, k]] =
        steep.map(|row| [&row[..n], &row[1..][..n], &row[2..][..n]]);
    let across = &across[..n];
    let down = &down[..n];
    for i in 0..n {
        // All are read, whichever is taken, so that eight points can be worked on at once.
        let [[a, b, c], [d, e, f], [g, h, k]] =
            [[a[i], b[i], c[i]], [d[i], e[i], f[i]], [g[i], h[i], k[i]]];
        let [right, low] = [across[i].abs(), down[i].abs()];
        // 5/12 and 12/5 are the tangents of 22.5° and 67.5°, nearly.
        let level = 12 * low < 5 * right;
        let upright = 5 * low > 12 * right;
        let falling = (across[i] ^ down[i]) >= 0;
        let [before, after] = if falling { [a, k] } else { [c, g] };
        let [before, after] = if upright { [b, h] } else { [before, after] };
        let [before, after] = if level { [d, f] } else { [before, after] };
        let grade = if e > STRONG { STRONG_CREST } else { WEAK_CREST };
        let grade = if e > WEAK { grade } else { 0 };
        let grade = if e > before { grade } else { 0 };
        crests[i] = if e >= after { grade } else { 0 };
    }
}

/// Weak crests count where they touch a strong one, or one that does. Points of the edge are
/// neither.
fn join_crests(crests: &mut [i16], width: usize) {
    let near = |at: usize| [at - width, at, at + width].into_iter().flat_map(|at| at - 1..=at + 1);
    let mut open = Vec::new();
    for first in (0..crests.len()).step_by(8) {
        let last = (first + 8).min(crests.len());
        if !crests[first..last].contains(&WEAK_CREST) {
            continue;
        }
        for at in first..last {
            let weak = crests[at] == WEAK_CREST;
            if weak && near(at).any(|at| crests[at] == STRONG_CREST) {
                crests[at] = STRONG_CREST;
                open.push(at);
            }
        }
    }
    while let Some(at) = open.pop() {
        for at in near(at) {
            if crests[at] == WEAK_CREST {
                crests[at] = STRONG_CREST;
                open.push(at);
            }
        }
    }
}

/// How brightness rises to the right and down (Sobel's filter), and in all.
struct Slopes {
    across: Vec<i16>,
    down: Vec<i16>,
    steep: Vec<i16>,
}

impl Slopes {
    fn new(layer: &[u8], width: usize) -> Self {
        let height = layer.len() / width;
        let [mut across, mut down, mut steep] = [0, 1, 2].map(|_| vec![0; layer.len()]);
        let [mut smooth, mut steps] = [0, 1].map(|_| vec![0i16; width + 2]);
        for y in 0..height {
            let [above, here, below] =
                neighbours(y, width, height).map(|from| &layer[from..][..width]);
            let rows = above.iter().zip(here).zip(below);
            let out = smooth[1..].iter_mut().zip(&mut steps[1..]);
            for ((smooth, step), ((&above, &here), &below)) in out.zip(rows) {
                let [above, here, below] = [above, here, below].map(i16::from);
                *smooth = above + 2 * here + below;
                *step = below - above;
            }
            Edge::Mirror.pad(&mut smooth, 1, 1);
            Edge::Mirror.pad(&mut steps, 1, 1);
            let row = y * width..(y + 1) * width;
            let across = &mut across[row.clone()];
            for ((out, left), right) in across.iter_mut().zip(&smooth).zip(&smooth[2..]) {
                *out = right - left;
            }
            let down = &mut down[row.clone()];
            let columns = steps.iter().zip(&steps[1..]).zip(&steps[2..]);
            for (out, ((left, here), right)) in down.iter_mut().zip(columns) {
                *out = left + 2 * here + right;
            }
            for ((out, across), down) in steep[row].iter_mut().zip(across).zip(down) {
                *out = across.abs() + down.abs();
            }
        }
        Self { across, down, steep }
    }
}

/// The distance of every point from the nearest rim, at most [`FLAT`]: the exact Euclidean distance
/// transform in two passes, along columns and then along rows (Saito and Toriwaki 1994).
fn distances(mut vertical: Vec<i16>, width: usize) -> Vec<u8> {
    let height = vertical.len() / width;
    for y in 1..height {
        let (above, here) = vertical.split_at_mut(y * width);
        closer(&mut here[..width], &above[(y - 1) * width..]);
    }
    for y in (1..height).rev() {
        let (above, here) = vertical.split_at_mut(y * width);
        closer(&mut above[(y - 1) * width..], &here[..width]);
    }
    let roots: Vec<u8> = (0..=FLAT * FLAT).map(|square| libm::sqrt(square as f64) as u8).collect();
    let mut wide = vec![(FLAT * FLAT) as i16; width + 2 * FLAT];
    let mut nearest = vec![0; width];
    let mut out = vec![0; vertical.len()];
    for (out, row) in out.chunks_exact_mut(width).zip(vertical.chunks_exact(width)) {
        for (wide, &off) in wide[FLAT..].iter_mut().zip(row) {
            *wide = off * off;
        }
        nearest.copy_from_slice(&wide[FLAT..][..width]);
        for by in 1..FLAT {
            let square = (by * by) as i16;
            if farthest(&nearest) <= square {
                break;
            }
            let left = &wide[FLAT - by..][..width];
            let right = &wide[FLAT + by..][..width];
            nearer(&mut nearest, left, right, square);
        }
        for (out, &square) in out.iter_mut().zip(&nearest) {
            *out = roots[square as usize];
        }
    }
    out
}

/// Takes what lies a given square aside, where that is nearer. Apart from its caller, so that the
/// compiler knows the rows to be distinct.
#[inline(never)]
fn nearer(nearest: &mut [i16], left: &[i16], right: &[i16], square: i16) {
    for ((nearest, &left), &right) in nearest.iter_mut().zip(left).zip(right) {
        *nearest = (*nearest).min(left.min(right) + square);
    }
}

#[inline(never)]
fn farthest(row: &[i16]) -> i16 {
    let mut farthest = 0;
    for &here in row {
        farthest = if here > farthest { here } else { farthest };
    }
    farthest
}

/// Nobody is further than a step from where the neighbour is.
fn closer(row: &mut [i16], neighbours: &[i16]) {
    for (here, &there) in row.iter_mut().zip(neighbours) {
        *here = (*here).min(there + 1);
    }
}

/// The mean of each point and its eight neighbours.
fn averaged(values: &[u8], width: usize, mean: impl Fn(u16) -> u16) -> Vec<u8> {
    let height = values.len() / width;
    let mut sums = vec![0u16; width + 2];
    let mut out = vec![0; values.len()];
    for (y, out) in out.chunks_exact_mut(width).enumerate() {
        let [above, here, below] =
            neighbours(y, width, height).map(|from| &values[from..][..width]);
        for (((sum, &a), &b), &c) in sums[1..].iter_mut().zip(above).zip(here).zip(below) {
            *sum = u16::from(a) + u16::from(b) + u16::from(c);
        }
        Edge::Mirror.pad(&mut sums, 1, 1);
        let columns = sums.iter().zip(&sums[1..]).zip(&sums[2..]);
        for (out, ((left, here), right)) in out.iter_mut().zip(columns) {
            *out = mean(left + here + right) as u8;
        }
    }
    out
}

/// Heights spread so that all are about equally frequent: histogram equalisation as OpenCV's
/// `equalizeHist`, which the reference uses.
fn equalised(heights: &[u8]) -> Vec<u8> {
    // Four counts in turn: one would wait for itself where heights repeat.
    let mut turns = [[0usize; 256]; 4];
    for four in heights.chunks(4) {
        for (counts, &height) in turns.iter_mut().zip(four) {
            counts[usize::from(height)] += 1;
        }
    }
    let mut counts = [0; 256];
    for (height, count) in counts.iter_mut().enumerate() {
        *count = turns.iter().map(|counts| counts[height]).sum();
    }
    let lowest = counts.iter().copied().find(|&count| count > 0).unwrap_or(0);
    let others = heights.len() - lowest;
    if others == 0 {
        return heights.to_vec();
    }
    let mut below = 0;
    let table = counts.map(|count| {
        below += count;
        libm::rint(255.0 * below.saturating_sub(lowest) as f64 / others as f64) as u8
    });
    heights.iter().map(|&height| table[usize::from(height)]).collect()
}

/// Slopes that face the upper left are dark, those that face the lower right are bright.
fn lit(heights: &[u8], width: usize) -> Vec<u8> {
    let height = heights.len() / width;
    // What the point to the left, the point itself and the one to the right give.
    let mut thirds = [0, 1, 2].map(|_| vec![0i16; width + 2]);
    let mut out = vec![0; heights.len()];
    for (y, out) in out.chunks_exact_mut(width).enumerate() {
        let [above, here, below] =
            neighbours(y, width, height).map(|from| &heights[from..][..width]);
        let rows = above.iter().zip(here).zip(below);
        let [left, middle, right] = &mut thirds;
        let sums = left[1..].iter_mut().zip(&mut middle[1..]).zip(&mut right[1..]);
        for (((left, middle), right), ((&above, &here), &below)) in sums.zip(rows) {
            let [above, here, below] = [above, here, below].map(i16::from);
            *left = -2 * above - here;
            *middle = here + below - above;
            *right = here + 2 * below;
        }
        thirds.iter_mut().for_each(|third| Edge::Mirror.pad(third, 1, 1));
        let [left, middle, right] = &thirds;
        let columns = left.iter().zip(&middle[1..]).zip(&right[2..]);
        for (out, ((left, middle), right)) in out.iter_mut().zip(columns) {
            *out = (left + middle + right).clamp(0, 255) as u8;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bright square of 16×16 in the middle of 48×48.
    fn square() -> Vec<u8> {
        let inside = |at: usize| (16..32).contains(&(at % 48)) && (16..32).contains(&(at / 48));
        (0..48 * 48).map(|at| if inside(at) { 200 } else { 0 }).collect()
    }

    #[test]
    fn a_square_has_a_thin_rim_all_around() {
        let rims = rims(&square(), 48);
        let count = rims.iter().filter(|&&rim| rim == 0).count();
        assert!((52..=72).contains(&count), "{count}");
        assert!(rims[24 * 48 + 24] > 0 && rims[0] > 0);
        let rim_within =
            |mut columns: std::ops::Range<usize>| columns.any(|x| rims[24 * 48 + x] == 0);
        assert!(rim_within(14..18) && rim_within(30..34));
    }

    #[test]
    fn distances_are_straight_lines() {
        let mut rims = vec![FLAT as i16; 48 * 48];
        rims[10 * 48 + 10] = 0;
        let far = distances(rims, 48);
        for (x, y, wanted) in [(10, 10, 0), (13, 14, 5), (10, 22, 12), (22, 15, 13), (47, 47, 20)] {
            assert_eq!(far[y * 48 + x], wanted, "{x} {y}");
        }
    }

    #[test]
    fn tiny_layers_have_a_relief_too() {
        for (width, height) in [(1, 1), (1, 4), (4, 1), (2, 2), (3, 3)] {
            let layer: Vec<u8> = (0..width * height).map(|at| (at * 90 % 256) as u8).collect();
            assert_eq!(relief(&layer, width).0.len(), width * height);
        }
    }
}
