//! Noise that draws a new byte for every byte, whatever stands beside it.

use super::vectors::wide;
use crate::image::level::Level;
use faultlens_core::{Dose, Image, Stream};
use std::sync::OnceLock;

/// For a byte, how likely what comes of it is at most 0, 1, … 255.
pub(crate) type Cumulative = [f64; 256];

/// A fault that changes every byte by chance; the first image makes its table.
pub(crate) struct ByteNoise {
    level: Level<1>,
    /// From the fault's number and the byte.
    cumulative: fn(f64, u8) -> Cumulative,
    table: OnceLock<ChanceTable>,
}

impl ByteNoise {
    pub(crate) fn new(level: Level<1>, cumulative: fn(f64, u8) -> Cumulative) -> Self {
        Self { level, cumulative, table: OnceLock::new() }
    }

    pub(crate) fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        let [number] = self.level.numbers;
        let table =
            self.table.get_or_init(|| ChanceTable::new(|byte| (self.cumulative)(number, byte)));
        table.draw(image, stream)
    }

    pub(crate) fn dose(&self) -> Dose {
        self.level.dose
    }
}

/// How likely a normal number of mean 0 is below `x`.
pub(crate) fn normal_below(x: f64, deviation: f64) -> f64 {
    if deviation == 0.0 {
        return if x > 0.0 { 1.0 } else { 0.0 };
    }
    0.5 * libm::erfc(-x / (deviation * std::f64::consts::SQRT_2))
}

/// What may come of every byte: for each 256 cells of equal likelihood with one or two bytes in
/// them (Walker's alias method), so that 16 random bits and one look decide.
struct ChanceTable(Vec<[Cell; 256]>);

/// One byte in the lowest 8 bits, another above it, and above both the share of the first, of 256.
type Cell = u32;

type Rows = [[Cell; 256]; 256];

impl ChanceTable {
    fn new(cumulative: impl Fn(u8) -> Cumulative) -> Self {
        Self((0..=255).map(|byte| cells(counts(&cumulative(byte)))).collect())
    }

    fn draw(&self, image: &Image, stream: &mut Stream) -> Image {
        let mut changed = image.clone();
        if let Some(rows) = self.0.first_chunk() {
            draw(changed.rgb_mut(), rows, stream);
        }
        changed
    }
}

wide!(fn draw<'a>(bytes: &'a mut [u8], rows: &'a Rows, stream: &'a mut Stream) -> () = draw_kernel);

#[inline(always)]
fn draw_kernel(bytes: &mut [u8], rows: &Rows, stream: &mut Stream) {
    let mut words = [0; 1024];
    for bytes in bytes.chunks_mut(2 * words.len()) {
        let words = &mut words[..bytes.len().div_ceil(2)];
        stream.fill_u32(words);
        let (pairs, rest) = bytes.as_chunks_mut::<2>();
        for (pair, &word) in pairs.iter_mut().zip(&*words) {
            let [first, second] = *pair;
            *pair = [drawn(rows, first, word), drawn(rows, second, word >> 16)];
        }
        if let ([last], Some(&word)) = (rest, words.last()) {
            *last = drawn(rows, *last, word);
        }
    }
}

/// What comes of a byte, by the lower 16 bits of a word.
#[inline(always)]
fn drawn(rows: &Rows, byte: u8, word: u32) -> u8 {
    let cell = rows[usize::from(byte)][usize::from((word >> 8) as u8)];
    let second = u32::from(cell >> 16 <= word & 0xff);
    (cell >> (8 * second)) as u8
}

/// The likelihoods in parts of 65,536, rounded so that the errors do not add up.
fn counts(cumulative: &Cumulative) -> [u32; 256] {
    let up_to = cumulative.map(|share| (65_536.0 * share.clamp(0.0, 1.0) + 0.5) as u32);
    let mut before = 0;
    std::array::from_fn(|byte| {
        let up_to = if byte == 255 { 65_536 } else { up_to[byte].max(before) };
        up_to - std::mem::replace(&mut before, up_to)
    })
}

/// Fills every cell with what is left of a rare byte, and then from a byte that has too much.
fn cells(mut counts: [u32; 256]) -> [Cell; 256] {
    let (mut rare, mut ample): (Vec<usize>, Vec<usize>) =
        (0..256).partition(|&byte| counts[byte] < 256);
    let mut cells = std::array::from_fn(|byte| byte as u32 | 256 << 16);
    while let (Some(byte), Some(&other)) = (rare.pop(), ample.last()) {
        cells[byte] = byte as u32 | (other as u32) << 8 | counts[byte] << 16;
        counts[other] -= 256 - counts[byte];
        if counts[other] < 256 {
            rare.extend(ample.pop());
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All 65,536 draws of a byte, counted.
    fn drawn_counts(table: &ChanceTable, byte: u8) -> [u32; 256] {
        let rows = table.0.first_chunk::<256>().unwrap();
        let mut counts = [0; 256];
        for word in 0..65_536 {
            counts[usize::from(drawn(rows, byte, word))] += 1;
        }
        counts
    }

    #[test]
    fn every_byte_comes_as_often_as_it_should() {
        let triangle = |byte: u8| {
            std::array::from_fn(|at| ((at + 1) as f64 / f64::from(byte).max(1.0)).powi(2))
        };
        let table = ChanceTable::new(triangle);
        for byte in [0, 1, 2, 90, 255] {
            let mut up_to = 0;
            let wanted: Cumulative = triangle(byte);
            for (at, count) in drawn_counts(&table, byte).into_iter().enumerate() {
                up_to += count;
                let wanted = 65_536.0 * wanted[at].min(1.0);
                assert!(at == 255 || (f64::from(up_to) - wanted).abs() <= 0.5, "{byte} to {at}");
            }
        }
    }

    #[test]
    fn sure_bytes_and_odd_numbers_of_bytes_are_drawn() {
        let next = |byte: u8| std::array::from_fn(|at| f64::from(u8::from(at > usize::from(byte))));
        let table = ChanceTable::new(next);
        let image = Image::from_rgb(1, 1, vec![0, 100, 254]).unwrap();
        let changed = table.draw(&image, &mut faultlens_core::Seed::new(1).stream());
        assert_eq!(changed.rgb(), [1, 101, 255]);
        assert_eq!((normal_below(0.0, 0.0), normal_below(0.1, 0.0)), (0.0, 1.0));
        assert_eq!(normal_below(0.0, 3.0), 0.5);
    }
}
