//! How the nine numbers of a 3×3 block of a band vary together.

/// The side of a block.
pub(super) const SIDE: usize = 3;
/// Numbers in a block.
pub(super) const BLOCK: usize = SIDE * SIDE;
/// Numbers that are added up side by side.
const LANES: usize = 4;

/// A matrix over the numbers of a block.
pub(super) type Square = [[f64; BLOCK]; BLOCK];

/// The covariance of all blocks of a band, overlapping ones too, inside of `width` and `height`.
/// Rows of the band, which are `wide`, are asked for one by one, from the top.
///
/// Two numbers of a block are as far apart in every block, so that there are few products of
/// whole rows; the blocks differ only in where they start and end.
pub(super) fn covariance(
    mut next_row: impl FnMut(usize, &mut [f64]),
    wide: usize,
    [width, height]: [usize; 2],
) -> Square {
    // A row and the two under it.
    let mut rows = [(); SIDE].map(|()| vec![0.0; wide]);
    let mut made = 0;
    let mut sums = [0.0; BLOCK];
    let mut products = [[0.0; BLOCK]; BLOCK];
    for y in 0..height {
        while made < height.min(y + SIDE) {
            next_row(made, &mut rows[made % SIDE]);
            made += 1;
        }
        let row = &rows[y % SIDE][..width];
        let starts = starts_with(y, height);
        let middle: f64 = row[2..width - 2].iter().sum();
        for column in 0..SIDE {
            let sum = middle + edges(width, column).map(|x| row[x]).sum::<f64>();
            starts.clone().for_each(|own| sums[own * SIDE + column] += sum);
        }
        for below in 0..SIDE.min(height - y) {
            let other = &rows[(y + below) % SIDE][..width];
            let middles = shifted_products(row, other);
            for (left, right) in pairs() {
                let shift = (right + 2) - left;
                let sum = middles[shift]
                    + edges(width, left).map(|x| row[x] * other[x + right - left]).sum::<f64>();
                for own in starts.clone().filter(|own| own + below < SIDE) {
                    products[own * SIDE + left][(own + below) * SIDE + right] += sum;
                }
            }
        }
    }
    let n = ((width - 2) * (height - 2)) as f64;
    let entry = |a: usize, b: usize| products[a][b] / n - (sums[a] / n) * (sums[b] / n);
    // The products are those of a number and one that does not stand above it.
    std::array::from_fn(|a| std::array::from_fn(|b| entry(a.min(b), a.max(b))))
}

/// Which rows of a block a row of the band can be.
fn starts_with(y: usize, height: usize) -> impl Iterator<Item = usize> + Clone {
    (0..SIDE).filter(move |&own| y >= own && y - own + SIDE <= height)
}

/// Columns of a block, the first of them and the second.
fn pairs() -> impl Iterator<Item = (usize, usize)> {
    (0..BLOCK).map(|at| (at / SIDE, at % SIDE))
}

/// The places that a column of a block visits beside those that all its columns visit.
fn edges(width: usize, column: usize) -> impl Iterator<Item = usize> {
    (column..2).chain(width - 2..width - 2 + column)
}

/// The sums of products of two rows, the second shifted by −2 to 2, over the middle of the first.
fn shifted_products(row: &[f64], other: &[f64]) -> [f64; 5] {
    let middle = &row[2..row.len() - 2];
    let mut lanes = [[0.0; LANES]; 5];
    let (groups, rest) = middle.as_chunks::<LANES>();
    for (at, group) in groups.iter().enumerate() {
        // Of known length, so that it can be looked into without asking.
        let Some(other) = other[LANES * at..].first_chunk::<{ LANES + 4 }>() else { break };
        for (shift, lanes) in lanes.iter_mut().enumerate() {
            for (lane, sum) in lanes.iter_mut().enumerate() {
                *sum += group[lane] * other[lane + shift];
            }
        }
    }
    let done = groups.len() * LANES;
    std::array::from_fn(|shift| {
        let last = rest.iter().zip(&other[done + shift..]).map(|(a, b)| a * b);
        lanes[shift].iter().sum::<f64>() + last.sum::<f64>()
    })
}
