//! Too low a resolution (`pixelate` of ImageNet-C).

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, TABLE, strength};
use crate::image::paint::vectors::wide;
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, SettingError, Settings, Stream,
};
use std::ops;

described! {
    /// # What it does
    /// Averages boxes of pixels and shows each box as one large pixel.
    /// # When it happens
    /// An enlarged thumbnail, digital zoom, anonymised faces and number plates.
    pub struct Pixelate(Level<1>);
}

impl Fault for Pixelate {
    const FACTS: Facts = Facts {
        name: "pixelate",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "resolution", "less")),
        parameters: &[
            SEVERITY,
            TABLE,
            strength(
                "kept",
                "resolution that is kept, as a fraction of the width and height",
                0.001,
                1.0,
            ),
        ],
        domain: Some(Domain::together(&[Range::new("kept", 1.0, 0.25)])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(POINTS.level(settings)?))
    }
}

const POINTS: Points<1> = Points {
    names: ["kept"],
    photo: [[0.6], [0.5], [0.4], [0.3], [0.25]],
    small: Some([[0.95], [0.9], [0.85], [0.75], [0.65]]),
};

impl ImageFault for Pixelate {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        let [kept] = self.0.numbers;
        let across = Boxes::new(image.width(), kept);
        let down = Boxes::new(image.height(), kept);
        let narrow = narrow(image, &across);
        let mut changed = image.clone();
        let length = 3 * image.width();
        let mut row = vec![0; 3 * across.sources.len()];
        let mut sums = vec![0; row.len()];
        let mut wide = vec![0; length];
        let mut last = None;
        for (at, to) in changed.rgb_mut().chunks_exact_mut(length).enumerate() {
            let source = down.shown[at];
            if last != Some(source) {
                let ops::Range { start, end } = down.sources[source];
                average_rows(&narrow[start * row.len()..end * row.len()], &mut sums, &mut row);
                across.widen(&row, &mut wide);
                last = Some(source);
            }
            to.copy_from_slice(&wide);
        }
        changed
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }

    fn draws(&self) -> bool {
        false
    }
}

/// One side of an image cut into boxes.
struct Boxes {
    /// The pixels that make up each box.
    sources: Vec<ops::Range<usize>>,
    /// The box that each pixel shows.
    shown: Vec<usize>,
}

impl Boxes {
    /// A pixel belongs to a box if its centre does.
    fn new(length: usize, kept: f64) -> Self {
        let boxes = ((length as f64 * kept) as usize).clamp(1, length);
        let side = length as f64 / boxes as f64;
        let mut sources = Vec::with_capacity(boxes);
        for at in 0..boxes {
            let centre = (at as f64 + 0.5) * side;
            let from = (centre - 0.5 * side + 0.5) as usize;
            let to = (centre + 0.5 * side + 0.5) as usize;
            sources.push(from.min(length - 1)..to.min(length));
        }
        // Added up as Pillow does, which decides for pixels whose centre lies between two boxes.
        let step = boxes as f64 / length as f64;
        let centres = std::iter::successors(Some(0.5 * step), |centre| Some(centre + step));
        let shown = centres.take(length).map(|centre| (centre as usize).min(boxes - 1));
        Self { shown: shown.collect(), sources }
    }

    /// The longest box, if all are that long or one shorter and none is long.
    fn short(&self) -> Option<usize> {
        let lengths = self.sources.iter().map(ops::Range::len);
        let min = lengths.clone().min()?;
        let max = lengths.max()?;
        (max <= SHORT && max - min <= 1).then_some(max)
    }

    /// A row with each box shown at its full width.
    fn widen(&self, narrow: &[u8], wide: &mut [u8]) {
        let (narrow, _) = narrow.as_chunks::<3>();
        for (to, &source) in wide.as_chunks_mut::<3>().0.iter_mut().zip(&self.shown) {
            *to = narrow[source];
        }
    }
}

/// Boxes up to this long are averaged at every place, wanted or not: vectors do that faster.
const SHORT: usize = 16;

wide!(fn narrow<'a>(image: &'a Image, boxes: &'a Boxes) -> Vec<u8> = narrow_kernel);

/// The rows of an image with one pixel in place of each box.
#[inline(always)]
fn narrow_kernel(image: &Image, boxes: &Boxes) -> Vec<u8> {
    let length = 3 * image.width();
    let mut narrow = vec![0; 3 * boxes.sources.len() * image.height()];
    let rows = image.rgb().chunks_exact(length);
    let rows = rows.zip(narrow.chunks_exact_mut(3 * boxes.sources.len()));
    let Some(longest_box) = boxes.short() else {
        rows.for_each(|(row, to)| average_boxes(row.as_chunks().0, boxes, to.as_chunks_mut().0));
        return narrow;
    };
    // The means of boxes one shorter than the longest, then those of the longest.
    let mut means = vec![0; 2 * length];
    let mut places: Vec<usize> = Vec::with_capacity(boxes.sources.len());
    for source in &boxes.sources {
        places.push(3 * source.start + if source.len() == longest_box { length } else { 0 });
    }
    let mut sums = vec![0; length];
    for (row, to) in rows {
        let (shorter, longest) = means.split_at_mut(length);
        sums.fill(0);
        (0..longest_box - 1).for_each(|at| add(row.get(3 * at..).unwrap_or_default(), &mut sums));
        short_means(&sums, longest_box - 1, shorter);
        add(row.get(3 * (longest_box - 1)..).unwrap_or_default(), &mut sums);
        short_means(&sums, longest_box, longest);
        for (to, &at) in to.as_chunks_mut::<3>().0.iter_mut().zip(&places) {
            to.copy_from_slice(&means[at..at + 3]);
        }
    }
    narrow
}

#[inline(always)]
fn add(row: &[u8], sums: &mut [u16]) {
    for (sum, &value) in sums.iter_mut().zip(row) {
        *sum += u16::from(value);
    }
}

/// Rounded means of up to [`SHORT`] values from their sums.
#[inline(always)]
fn short_means(sums: &[u16], count: usize, means: &mut [u8]) {
    let count = count.max(1) as u32;
    let half = count / 2;
    let inverse = 65_536_u32.div_ceil(count);
    for (mean, &sum) in means.iter_mut().zip(sums) {
        *mean = (((u32::from(sum) + half) * inverse) >> 16) as u8;
    }
}

/// Rounded means of boxes of any length.
#[inline(always)]
fn average_boxes(pixels: &[[u8; 3]], boxes: &Boxes, to: &mut [[u8; 3]]) {
    for (to, source) in to.iter_mut().zip(&boxes.sources) {
        let mut sums = [0; 3];
        for pixel in &pixels[source.clone()] {
            for (sum, &value) in sums.iter_mut().zip(pixel) {
                *sum += u32::from(value);
            }
        }
        *to = sums.map(|sum| mean(sum, source.len()));
    }
}

fn mean(sum: u32, count: usize) -> u8 {
    ((sum as usize + count / 2) / count) as u8
}

wide!(fn average_rows<'a>(rows: &'a [u8], sums: &'a mut [u16], to: &'a mut [u8]) -> () = average_rows_kernel);

/// The rounded means of some rows that follow each other.
#[inline(always)]
fn average_rows_kernel(rows: &[u8], sums: &mut [u16], to: &mut [u8]) {
    let count = rows.len() / to.len();
    if count > SHORT {
        for (at, to) in to.iter_mut().enumerate() {
            *to =
                mean(rows.iter().skip(at).step_by(sums.len()).map(|&v| u32::from(v)).sum(), count);
        }
        return;
    }
    sums.fill(0);
    rows.chunks_exact(sums.len()).for_each(|row| add(row, sums));
    short_means(sums, count, to);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A box's length, the image's and the number of boxes.
    #[test]
    fn every_pixel_is_in_one_box_and_means_are_plain_means() {
        for (width, kept) in [(500, 0.4), (375, 0.6), (97, 0.05), (97, 0.01), (1, 0.5), (9, 1.0)] {
            let boxes = Boxes::new(width, kept);
            let all: Vec<usize> = boxes.sources.iter().cloned().flatten().collect();
            assert_eq!(all, (0..width).collect::<Vec<_>>(), "{width} by {kept}");
            let rgb: Vec<u8> = (0..6 * width).map(|at| (at * 89 % 256) as u8).collect();
            let image = Image::from_rgb(width, 2, rgb).unwrap();
            let mut plain = vec![[0; 3]; 2 * boxes.sources.len()];
            for (row, to) in
                image.rgb().chunks(3 * width).zip(plain.chunks_mut(boxes.sources.len()))
            {
                average_boxes(row.as_chunks().0, &boxes, to);
            }
            assert_eq!(narrow(&image, &boxes), plain.concat(), "{width} by {kept}");
        }
    }

    #[test]
    fn short_means_are_exact() {
        for count in 1..=SHORT {
            let sums: Vec<u16> = (0..=255 * count as u16).collect();
            let mut means = vec![0; sums.len()];
            short_means(&sums, count, &mut means);
            assert!(sums.iter().zip(means).all(|(&sum, got)| got == mean(u32::from(sum), count)));
        }
    }
}
