//! A lens out of focus (`defocus_blur` of ImageNet-C): convolution with a disk. Every row of the disk is
//! the difference of two prefix sums, so that the cost grows with the radius, not with its square.

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, TABLE, strength};
use crate::image::paint::edge::Edge;
use crate::image::paint::pixels::{HALF_SCALE, widened, with_rgb};
use crate::image::paint::round::{larger, level_byte, smaller};
use crate::image::paint::smooth::{Kernel, smoothed};
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, SettingError, Settings, Stream,
};

described! {
    /// # What it does
    /// Spreads every pixel evenly over a disk with a softened rim, as a lens out of focus does.
    /// # When it happens
    /// A failed autofocus, or a knock against the lens.
    pub struct DefocusBlur(Level<2>);
}

impl Fault for DefocusBlur {
    const FACTS: Facts = Facts {
        name: "defocus_blur",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "focus", "other than")),
        parameters: &[
            SEVERITY,
            TABLE,
            strength("radius", "radius of the disk, in pixels", 0.0, 200.0),
            strength(
                "softness",
                "standard deviation of the disk's softened rim, in pixels",
                0.0,
                5.0,
            ),
        ],
        // The range of Hu et al. (ICSE 2022).
        domain: Some(Domain::together(&[
            Range::new("radius", 1.0, 10.0),
            Range::new("softness", 0.0, 1.0),
        ])),
        small_domain: Some(Domain::together(&[
            Range::new("radius", 0.0, 10.0),
            Range::new("softness", 0.0, 1.0),
        ])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(POINTS.level(settings)?))
    }
}

const POINTS: Points<2> = Points {
    names: ["radius", "softness"],
    photo: [[3.0, 0.1], [4.0, 0.5], [6.0, 0.5], [8.0, 0.5], [10.0, 0.5]],
    small: Some([[0.3, 0.4], [0.4, 0.5], [0.5, 0.6], [1.0, 0.2], [1.5, 0.1]]),
};

impl ImageFault for DefocusBlur {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        let [radius, softness] = self.0.numbers;
        // A soft disk is a disk on a softened image. The reference softens over 3×3 pixels, and
        // over 5×5 for large disks.
        let reach = if softness > 0.0 { if radius > 8.0 { 2 } else { 1 } } else { 0 };
        let kernel = Kernel::gaussian_within(softness, reach);
        let wide = widened(image, HALF_SCALE);
        let soft = smoothed(&wide, image.width(), 3, [&kernel, &kernel], Edge::Mirror);
        // The softening's weight one pixel further.
        let next = libm::exp(-0.5 / (softness * softness).max(1e-9));
        let rim = next / (1.0 + 2.0 * next);
        with_rgb(image, Disk::new(radius, rim).averages(soft, image.width()))
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }

    fn draws(&self) -> bool {
        false
    }
}

/// How far a disk reaches to either side in each of its rows, from the middle one outwards.
struct Disk {
    reach: Vec<usize>,
    /// How much more the rim weighs: where a disk fills the reference's grid, what would soften
    /// beyond the grid comes back twice.
    rim: f32,
}

impl Disk {
    fn new(radius: f64, rim: f64) -> Self {
        let mut reach = Vec::new();
        for row in 0..=radius as i32 {
            reach.push(libm::sqrt(radius * radius - f64::from(row * row)) as usize);
        }
        let fills = radius >= 8.0 && radius.fract() == 0.0;
        let rim = if fills { rim as f32 } else { 0.0 };
        Self { reach, rim }
    }

    fn area(&self) -> usize {
        let rows = self.reach.iter().map(|reach| 2 * reach + 1);
        2 * rows.sum::<usize>() - (2 * self.reach[0] + 1)
    }

    /// The mean over the disk around every pixel, of levels at [`HALF_SCALE`]. Where the sum over
    /// a disk fits into sixteen bits, twice as many are worked on at once.
    fn averages(&self, mut values: Vec<u16>, width: usize) -> Vec<u8> {
        let max = 255 * self.area();
        let bits = if max <= 65535 { (65535 / max).ilog2().min(4) } else { 4 };
        // Bits beyond a grey level are kept as there is room.
        let cut = HALF_SCALE - bits;
        values.iter_mut().for_each(|value| *value = (*value + (1 << (cut - 1))) >> cut);
        if max <= 65535 {
            self.summed::<u16>(&values, width, bits)
        } else {
            self.summed::<u32>(&values, width, bits)
        }
    }

    /// Every row of the disk is the difference of two running sums.
    fn summed<T: Sum>(&self, values: &[u16], width: usize, bits: u32) -> Vec<u8> {
        let stride = 3 * width;
        let height = values.len() / stride;
        let border = self.reach[0] + 2;
        let sums = running_sums::<T>(values, width, border);
        let sums_stride = 3 * (width + 2 * border + 1);
        let scale = 1.0 / (self.area() << bits) as f32;
        let [mut disk, mut rim] = [vec![T::default(); stride], vec![T::default(); stride]];
        let mut out = vec![0; values.len()];
        for (y, out) in out.chunks_exact_mut(stride).enumerate() {
            let part = |Part { row, from, to }: Part| {
                let y = Edge::Mirror.index(y as isize + row, height);
                let at = |at: isize| 3 * (border as isize + at) as usize;
                let sums = &sums[y * sums_stride..][..sums_stride];
                [&sums[at(to)..][..stride], &sums[at(from)..][..stride]]
            };
            add_parts(&mut disk, &self.rows(), part);
            if self.rim > 0.0 {
                add_parts(&mut rim, &self.rim_parts(), part);
            }
            for ((out, disk), rim) in out.iter_mut().zip(&disk).zip(&rim) {
                let sum = disk.level() + self.rim * rim.signed();
                // A hair's breadth, so that flat areas keep their level.
                *out = level_byte(smaller(larger(sum * scale + 0.02, 0.0), 255.0));
            }
        }
        out
    }

    fn rows(&self) -> Vec<Part> {
        let last = self.reach.len() as isize - 1;
        let mut rows = Vec::new();
        for row in -last..=last {
            let reach = self.reach[row.unsigned_abs()] as isize;
            rows.push(Part { row, from: -reach, to: reach + 1 });
        }
        rows
    }

    /// What the rim weighs more, and the four pixels beyond the grid that are missing.
    fn rim_parts(&self) -> Vec<Part> {
        let last = self.reach.len() as isize - 1;
        let reach = self.reach[last as usize - 1] as isize;
        let mut parts = Vec::new();
        for row in -reach..=reach {
            parts.push(Part { row, from: last, to: last + 1 });
            parts.push(Part { row, from: -last, to: -last + 1 });
        }
        for row in [-last, last] {
            parts.push(Part { row, from: -reach, to: reach + 1 });
        }
        let beyond = last + 1;
        for (row, at) in [(-beyond, 0), (beyond, 0), (0, -beyond), (0, beyond)] {
            parts.push(Part { row, from: at + 1, to: at });
        }
        parts
    }
}

/// The pixels `from..to` of a row, relative to each pixel; taken away where they end before they
/// start.
#[derive(Clone, Copy)]
struct Part {
    row: isize,
    from: isize,
    to: isize,
}

/// Sums that may wrap around on the way, as long as the difference fits.
trait Sum: Copy + Default {
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn of(level: u16) -> Self;
    fn level(self) -> f32;
    /// Of a sum that may lie below zero.
    fn signed(self) -> f32;
}

impl Sum for u16 {
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }

    fn of(level: u16) -> Self {
        level
    }

    fn level(self) -> f32 {
        f32::from(self)
    }

    fn signed(self) -> f32 {
        f32::from(self.cast_signed())
    }
}

impl Sum for u32 {
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }

    fn of(level: u16) -> Self {
        Self::from(level)
    }

    fn level(self) -> f32 {
        // A conversion that starts from a sign is a single step.
        self as i32 as f32
    }

    fn signed(self) -> f32 {
        self.level()
    }
}

/// The sum over some parts of rows; three at a time, so that it is written less often.
fn add_parts<'a, T: Sum + 'a>(out: &mut [T], parts: &[Part], part: impl Fn(Part) -> [&'a [T]; 2]) {
    out.fill(T::default());
    let (threes, rest) = parts.as_chunks::<3>();
    for three in threes {
        let [[a, b], [c, d], [e, f]] = three.map(&part);
        let pairs = a.iter().zip(b).zip(c.iter().zip(d)).zip(e.iter().zip(f));
        for (out, (((a, b), (c, d)), (e, f))) in out.iter_mut().zip(pairs) {
            let sum = a.minus(*b).plus(c.minus(*d)).plus(e.minus(*f));
            *out = out.plus(sum);
        }
    }
    for &last in rest {
        let [high, low] = part(last);
        for ((out, high), low) in out.iter_mut().zip(high).zip(low) {
            *out = out.plus(high.minus(*low));
        }
    }
}

/// For every row, going on beyond the edges, the sums of all pixels before each.
fn running_sums<T: Sum>(values: &[u16], width: usize, border: usize) -> Vec<T> {
    let padded = width + 2 * border;
    let columns: Vec<usize> =
        (0..padded).map(|at| Edge::Mirror.index(at as isize - border as isize, width)).collect();
    let mut sums = vec![T::default(); 3 * (padded + 1) * (values.len() / (3 * width))];
    let rows = sums.chunks_exact_mut(3 * (padded + 1)).zip(values.chunks_exact(3 * width));
    for (sums, row) in rows {
        let (pixels, _) = row.as_chunks::<3>();
        let (sums, _) = sums.as_chunks_mut::<3>();
        let mut sum = [T::default(); 3];
        for (out, &column) in sums[1..].iter_mut().zip(&columns) {
            let pixel = pixels[column];
            sum = [0, 1, 2].map(|i| sum[i].plus(T::of(pixel[i])));
            *out = sum;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_have_the_rows_of_a_circle() {
        assert_eq!(Disk::new(0.5, 0.0).reach, [0]);
        assert_eq!(Disk::new(3.0, 0.0).reach, [3, 2, 2, 0]);
        assert_eq!(Disk::new(6.0, 0.0).reach, [6, 5, 5, 5, 4, 3, 0]);
        assert_eq!((Disk::new(3.0, 0.0).area(), Disk::new(6.0, 0.0).area()), (29, 113));
    }

    #[test]
    fn flat_areas_keep_their_level_whatever_the_radius() {
        for level in [0, 77, 255] {
            for radius in [0.0, 1.5, 6.0, 10.0, 200.0] {
                let values = vec![level << HALF_SCALE; 7 * 5 * 3];
                let out = Disk::new(radius, 0.0).averages(values, 7);
                assert!(out.iter().all(|&out| u16::from(out) == level), "{radius}: {out:?}");
            }
        }
    }
}
