//! What JPEG loses: colour at half the resolution and quantised cosine waves. The step that loses
//! nothing, packing the numbers into bytes, is left out, so no file is ever made.
//!
//! Follows ITU-T T.81 with the choices of libjpeg, which most cameras, browsers and services use:
//! its quality scale, 4:2:0, chroma averaged going down and weighted 3:1 going up.

use super::channels::{Channels, GROUP, apart, luma, together, whole_group};
use super::cosine::{Quantiser, Tile, WIDTH};
use super::round::{byte, byte_in_range};
use super::vectors::wide;
use faultlens_core::Image;

/// The weights of colours are whole numbers of this, so that no sum is rounded.
const PART: f32 = 1.0 / 65_536.0;

/// T.81, table K.1.
const LUMA: [u16; 64] = [
    16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56,
    14, 17, 22, 29, 51, 87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113,
    92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
];

/// T.81, table K.2.
const CHROMA: [u16; 64] = [
    17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99, 99, 99,
    47, 66, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
    99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
];

/// JPEG at one quality.
pub(crate) struct Jpeg {
    luma: Quantiser,
    chroma: Quantiser,
}

impl Jpeg {
    /// `quality` from 1 to 100, on libjpeg's scale.
    pub(crate) fn new(quality: u16) -> Self {
        Self {
            luma: Quantiser::new(&steps(&LUMA, quality)),
            chroma: Quantiser::new(&steps(&CHROMA, quality)),
        }
    }

    /// The image after compression and decompression.
    pub(crate) fn lossy(&self, image: &Image) -> Image {
        let [mut luma, mut blue, mut red] = split(image);
        quantise(&self.luma, &mut luma);
        quantise(&self.chroma, &mut blue);
        quantise(&self.chroma, &mut red);
        let mut changed = image.clone();
        join([&luma, &blue, &red], &mut changed);
        changed
    }
}

/// The steps of quantisation: the table's at quality 50, doubled at 25, all 1 at 100.
fn steps(table: &[u16; 64], quality: u16) -> [f32; 64] {
    let quality = quality.clamp(1, 100);
    let percent = if quality < 50 { 5000 / quality } else { 200 - 2 * quality };
    table.map(|at| ((u32::from(at) * u32::from(percent) + 50) / 100).clamp(1, 255) as f32)
}

/// One channel, with room for whole groups of pixels and whole blocks.
struct Plane {
    /// What of it shows.
    width: usize,
    height: usize,
    stride: usize,
    values: Vec<u8>,
}

impl Plane {
    fn new(width: usize, height: usize) -> Self {
        let stride = width.next_multiple_of(GROUP);
        Self { width, height, stride, values: vec![0; stride * height.next_multiple_of(8)] }
    }

    #[inline(always)]
    fn row(&self, row: usize) -> &[u8] {
        &self.values[row * self.stride..][..self.stride]
    }

    #[inline(always)]
    fn row_mut(&mut self, row: usize) -> &mut [u8] {
        &mut self.values[row * self.stride..][..self.stride]
    }

    /// Repeats the last row down to where the last block ends.
    fn repeat_last_row(&mut self) {
        let (shown, below) = self.values.split_at_mut(self.stride * self.height);
        let last = &shown[shown.len() - self.stride..];
        for row in below.chunks_exact_mut(self.stride) {
            row.copy_from_slice(last);
        }
    }
}

wide!(fn quantise<'a>(quantiser: &'a Quantiser, plane: &'a mut Plane) -> () = quantise_kernel);

#[inline(always)]
fn quantise_kernel(quantiser: &Quantiser, plane: &mut Plane) {
    let stride = plane.stride;
    for strip in plane.values.chunks_exact_mut(8 * stride) {
        for left in (0..plane.width).step_by(WIDTH) {
            let mut tile: Tile = [0; 512];
            for (to, row) in tile.chunks_exact_mut(WIDTH).zip(strip.chunks_exact(stride)) {
                to.copy_from_slice(&row[left..left + WIDTH]);
            }
            quantiser.quantise(&mut tile);
            for (from, row) in tile.chunks_exact(WIDTH).zip(strip.chunks_exact_mut(stride)) {
                row[left..left + WIDTH].copy_from_slice(from);
            }
        }
    }
}

wide!(fn split<'a>(image: &'a Image) -> [Plane; 3] = split_kernel);

/// Luma at full size, and blue and red chroma at half of it.
#[inline(always)]
fn split_kernel(image: &Image) -> [Plane; 3] {
    let width = image.width();
    let height = image.height();
    let half = [width.div_ceil(2), height.div_ceil(2)];
    let mut luma = Plane::new(width, height);
    let [mut blue, mut red] = [Plane::new(half[0], half[1]), Plane::new(half[0], half[1])];
    let length = 2 * blue.stride;
    let [mut blues, mut reds] = [vec![0; 2 * length], vec![0; 2 * length]];
    for down in 0..half[1] {
        let rows = [2 * down, (2 * down + 1).min(height - 1)];
        let chroma = blues.chunks_exact_mut(length).zip(reds.chunks_exact_mut(length));
        for (at, (blues, reds)) in rows.into_iter().zip(chroma) {
            let pixels = &image.rgb()[3 * width * at..][..3 * width];
            split_row(pixels.as_chunks().0, luma.row_mut(at), blues, reds);
        }
        average(&blues, blue.row_mut(down));
        average(&reds, red.row_mut(down));
    }
    [luma, blue, red].map(|mut plane| {
        plane.repeat_last_row();
        plane
    })
}

/// One row; the last pixel is repeated to the ends.
#[inline(always)]
fn split_row(pixels: &[[u8; 3]], luma: &mut [u8], blues: &mut [u8], reds: &mut [u8]) {
    let mut last = [0; 3];
    for (at, part) in pixels.chunks(GROUP).enumerate() {
        let group = luma_and_chroma(&apart(&whole_group(part)));
        let at = GROUP * at..GROUP * at + GROUP;
        luma[at.clone()].copy_from_slice(&group[0]);
        blues[at.clone()].copy_from_slice(&group[1]);
        reds[at].copy_from_slice(&group[2]);
        last = group.map(|values| values[GROUP - 1]);
    }
    let end = pixels.len().next_multiple_of(GROUP);
    for (row, last) in [luma, blues, reds].into_iter().zip(last) {
        row[end..].fill(last);
    }
}

#[inline(always)]
fn luma_and_chroma([reds, greens, blues]: &Channels) -> Channels {
    // What no colour is stored as, less the smallest part: halves round down.
    const MIDDLE: f32 = 128.0 - PART;
    let mut group = [[0; GROUP]; 3];
    for at in 0..GROUP {
        let [red, green, blue] = [reds[at], greens[at], blues[at]].map(f32::from);
        group[0][at] = luma([red, green, blue]);
        let blue_chroma = 32_768.0 * PART * blue - 11_059.0 * PART * red - 21_709.0 * PART * green;
        let red_chroma = 32_768.0 * PART * red - 27_439.0 * PART * green - 5_329.0 * PART * blue;
        group[1][at] = byte_in_range(MIDDLE + blue_chroma);
        group[2][at] = byte_in_range(MIDDLE + red_chroma);
    }
    group
}

/// Means of 2×2 pixels; halves round down and up in turn.
#[inline(always)]
fn average(rows: &[u8], to: &mut [u8]) {
    let (above, below) = rows.split_at(rows.len() / 2);
    let pairs = above.as_chunks::<2>().0.iter().zip(below.as_chunks::<2>().0);
    for (at, (to, ([a, b], [c, d]))) in to.iter_mut().zip(pairs).enumerate() {
        let half = 1 + (at as u16 & 1);
        *to = ((u16::from(*a) + u16::from(*b) + u16::from(*c) + u16::from(*d) + half) >> 2) as u8;
    }
}

wide!(fn join<'a>(planes: [&'a Plane; 3], image: &'a mut Image) -> () = join_kernel);

#[inline(always)]
fn join_kernel([luma, blue, red]: [&Plane; 3], image: &mut Image) {
    let mut sums = vec![0; blue.width];
    let length = (2 * blue.width).next_multiple_of(GROUP);
    let [mut blues, mut reds] = [vec![0; length], vec![0; length]];
    for (at, pixels) in image.rgb_mut().chunks_exact_mut(3 * luma.width).enumerate() {
        enlarge(blue, at, &mut sums, &mut blues);
        enlarge(red, at, &mut sums, &mut reds);
        let groups = luma.row(at).as_chunks::<GROUP>().0.iter();
        let chroma = blues.as_chunks().0.iter().zip(reds.as_chunks().0);
        let pixels = pixels.as_chunks_mut::<3>().0.chunks_mut(GROUP);
        for ((pixels, luma), (blues, reds)) in pixels.zip(groups).zip(chroma) {
            let group = together(&colours([luma, blues, reds]));
            pixels.copy_from_slice(&group[..pixels.len()]);
        }
    }
}

#[inline(always)]
fn colours([luma, blues, reds]: [&[u8; GROUP]; 3]) -> Channels {
    let mut group = [[0; GROUP]; 3];
    for at in 0..GROUP {
        let luma = f32::from(luma[at]);
        let [blue, red] = [blues[at], reds[at]].map(|value| f32::from(value) - 128.0);
        group[0][at] = byte(luma + 91_881.0 * PART * red);
        group[1][at] = byte(luma - 22_554.0 * PART * blue - 46_802.0 * PART * red);
        group[2][at] = byte(luma + 116_130.0 * PART * blue);
    }
    group
}

/// One row of a plane at twice its size: every pixel takes 3/4 of the nearer one and 1/4 of the
/// farther one, down and across.
#[inline(always)]
fn enlarge(plane: &Plane, row: usize, sums: &mut [u16], to: &mut [u8]) {
    let near = &plane.row(row / 2)[..plane.width];
    let (pairs, _) = to.as_chunks_mut::<2>();
    if plane.width <= 2 {
        for (pair, &value) in pairs.iter_mut().zip(near) {
            *pair = [value; 2];
        }
        return;
    }
    let far = if row.is_multiple_of(2) { (row / 2).saturating_sub(1) } else { row / 2 + 1 };
    let far = &plane.row(far.min(plane.height - 1))[..plane.width];
    for ((sum, &near), &far) in sums.iter_mut().zip(near).zip(far) {
        *sum = 3 * u16::from(near) + u16::from(far);
    }
    let last = sums.len() - 1;
    pairs[0][0] = ((4 * sums[0] + 8) >> 4) as u8;
    pairs[last][1] = ((4 * sums[last] + 7) >> 4) as u8;
    let between = sums.windows(2);
    for (at, pair) in between.enumerate() {
        pairs[at][1] = ((3 * pair[0] + pair[1] + 7) >> 4) as u8;
        pairs[at + 1][0] = ((3 * pair[1] + pair[0] + 8) >> 4) as u8;
    }
}
