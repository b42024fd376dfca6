//! What the measures look at: the luma of an image.

use faultlens_core::Image;

/// The margin of a plane that filters look at: as far as the widest of them reach.
pub(super) const MARGIN: usize = 4;

/// Numbers in rows, with a margin to the left and right of each that mirrors it, so that filters
/// need not ask where a row ends.
#[derive(Debug, Clone)]
pub(super) struct Plane {
    pub(super) width: usize,
    pub(super) height: usize,
    margin: usize,
    values: Vec<f64>,
}

impl Plane {
    /// All zero; the margins are made row by row, by [`write`](Self::write).
    pub(super) fn new(width: usize, height: usize, margin: usize) -> Self {
        let values = vec![0.0; (width + 2 * margin) * height];
        Self { width, height, margin, values }
    }

    /// Luma from 0 to 255, not rounded: whole thousandths, so that greys keep their level exactly.
    pub(super) fn luma(image: &Image) -> Self {
        let mut luma = Self::new(image.width(), image.height(), MARGIN);
        for y in 0..image.height() {
            luma.write(y, |out| luma_row(image, y, out));
        }
        luma
    }

    /// A row without its margins.
    pub(super) fn row(&self, y: usize) -> &[f64] {
        &self.wide_row(y)[self.margin..][..self.width]
    }

    /// A row with its margins.
    pub(super) fn wide_row(&self, y: usize) -> &[f64] {
        let stride = self.width + 2 * self.margin;
        &self.values[y * stride..][..stride]
    }

    /// The row so many below (or above) another, mirrored at the edge, with its margins.
    pub(super) fn near_row(&self, y: usize, below: isize) -> &[f64] {
        self.wide_row(mirrored(y as isize + below, self.height))
    }

    /// Writes a row and mirrors it into its margins.
    pub(super) fn write(&mut self, y: usize, write: impl FnOnce(&mut [f64])) {
        let width = self.width;
        let margin = self.margin;
        let stride = width + 2 * margin;
        let row = &mut self.values[y * stride..][..stride];
        write(&mut row[margin..][..width]);
        for at in 1..=margin {
            row[margin - at] = row[margin + mirrored(-(at as isize), width)];
            let beyond = width - 1 + at;
            row[margin + beyond] = row[margin + mirrored(beyond as isize, width)];
        }
    }
}

/// The luma of one row of an image.
pub(super) fn luma_row(image: &Image, y: usize, out: &mut [f64]) {
    let row = &image.rgb()[3 * image.width() * y..][..3 * image.width()];
    for (out, &pixel) in out.iter_mut().zip(row.as_chunks::<3>().0) {
        *out = f64::from(thousandths(pixel)) / 1000.0;
    }
}

/// The luma of a pixel in thousandths of a grey level.
pub(super) fn thousandths(pixel: [u8; 3]) -> i32 {
    let [red, green, blue] = pixel.map(i32::from);
    299 * red + 587 * green + 114 * blue
}

/// A place on a line, mirrored at its ends without repeating them; further out than the line is
/// long, the far end.
pub(super) fn mirrored(at: isize, length: usize) -> usize {
    let last = length as isize - 1;
    (if at > last { 2 * last - at } else { at.abs() }).clamp(0, last) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_on_as_in_a_mirror() {
        let around: Vec<usize> = (-4..8).map(|at| mirrored(at, 4)).collect();
        assert_eq!(around, [3, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 0]);
        assert_eq!(mirrored(-3, 1), 0);
    }

    #[test]
    fn greys_keep_their_level_and_colours_weigh_as_they_should() {
        let greys: Vec<u8> = (0..=255).flat_map(|level| [level; 3]).collect();
        let luma = Plane::luma(&Image::from_rgb(256, 1, greys).unwrap());
        assert!(luma.row(0).iter().enumerate().all(|(at, &luma)| luma == at as f64));
        assert_eq!(luma.wide_row(0)[..6], [4.0, 3.0, 2.0, 1.0, 0.0, 1.0]);
        let colours = Image::from_rgb(3, 1, vec![255, 0, 0, 0, 255, 0, 0, 0, 255]).unwrap();
        assert_eq!(Plane::luma(&colours).row(0), [76.245, 149.685, 29.07]);
    }
}
