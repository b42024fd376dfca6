//! One image of a picture: frames around what was found in it, with words where they have room.

use std::ops::Range;

use faultlens::{Bounds, Image};

use super::marks::{Mark, MarkKind};
use crate::command::canvas::{Canvas, GAP};
use crate::command::letters;

/// Images are shown with a longer side of so many pixels at least, so that words fit in.
const LEAST: usize = 640;
/// How many pixels of the longer side one pixel of a frame, and of a letter, stands for.
const PER_LINE: usize = 200;
const PER_LETTER: usize = 640;

/// Sizes that follow from those of the image.
pub(super) struct Scale {
    /// How many pixels each of the image is wide.
    pub(super) zoom: usize,
    /// How wide frames are.
    pub(super) line: usize,
    /// How wide each pixel of a letter is.
    pub(super) letter: usize,
}

impl Scale {
    pub(super) fn of(image: &Image) -> Self {
        let longer = image.width().max(image.height()).max(1);
        let zoom = LEAST.div_ceil(longer);
        let longer = longer * zoom;
        Self { zoom, line: longer.div_ceil(PER_LINE), letter: (longer / PER_LETTER).max(1) }
    }

    /// How high a line of the caption is.
    pub(super) fn row(&self) -> usize {
        letters::HEIGHT * 2 * self.letter + GAP
    }
}

/// Where an image lies on the canvas.
pub(super) struct Panel<'a> {
    pub(super) columns: Range<usize>,
    pub(super) rows: Range<usize>,
    pub(super) scale: &'a Scale,
}

/// Columns and rows of the canvas.
type Area = (Range<usize>, Range<usize>);

impl Panel<'_> {
    /// Draws frames, and words at them where they cover each other least.
    pub(super) fn draw(&self, canvas: &mut Canvas, marks: &[Mark]) {
        let mut order: Vec<&Mark> = marks.iter().collect();
        order.sort_by_key(|mark| mark.kind);
        for mark in &order {
            self.frame(canvas, mark);
        }
        let mut taken: Vec<Area> = Vec::new();
        for mark in order.iter().rev() {
            let text = self.words(mark);
            let pixel = self.letter(mark);
            let Some(area) = self.place(mark, &text, &taken) else { continue };
            let [back, ink] = mark.kind.colours();
            canvas.fill(back, area.0.clone(), area.1.clone());
            canvas.write_in(ink, &text, area.0.start + pixel, area.1.start + pixel, pixel);
            taken.push(area);
        }
    }

    /// Objects that did not change are labelled in small letters.
    fn letter(&self, mark: &Mark) -> usize {
        match mark.kind {
            MarkKind::Same | MarkKind::Out => self.scale.letter,
            _ => 2 * self.scale.letter,
        }
    }

    /// As much of a mark's text as the image has room for.
    fn words(&self, mark: &Mark) -> String {
        let pixel = self.letter(mark);
        let letters = letters::fitting(self.columns.len().saturating_sub(2 * pixel), pixel);
        mark.text.chars().take(letters).collect()
    }

    /// A frame around a box, as far as it lies in the image.
    fn frame(&self, canvas: &mut Canvas, mark: &Mark) {
        let (columns, rows) = self.area(&mark.bounds);
        let line = self.scale.line;
        let outer = |range: &Range<usize>, of: &Range<usize>| {
            let start = range.start.saturating_sub(line).clamp(of.start, of.end);
            start..(range.end + line).clamp(of.start, of.end)
        };
        let wide = outer(&columns, &self.columns);
        let high = outer(&rows, &self.rows);
        let colour = mark.kind.colours()[0];
        canvas.fill(colour, wide.clone(), high.start..(high.start + line).min(high.end));
        canvas.fill(colour, wide.clone(), high.end.saturating_sub(line).max(high.start)..high.end);
        canvas.fill(colour, wide.start..(wide.start + line).min(wide.end), high.clone());
        canvas.fill(colour, wide.end.saturating_sub(line).max(wide.start)..wide.end, high);
    }

    /// A box on the canvas; one that is none, or ends beyond the image, is cut at its edges.
    fn area(&self, b: &Bounds) -> Area {
        let zoom = self.scale.zoom as f32;
        let cut = |at: f32, of: &Range<usize>| {
            of.start + (at * zoom).round().clamp(0.0, of.len() as f32) as usize
        };
        let columns = &self.columns;
        let rows = &self.rows;
        let left = cut(b.left, columns);
        let top = cut(b.top, rows);
        (left..cut(b.right, columns).max(left), top..cut(b.bottom, rows).max(top))
    }

    /// Where a mark's words have room: above its box, in it, below it, at its end; where they
    /// would cover others everywhere, above it. `None` where the image is too small for them.
    fn place(&self, mark: &Mark, text: &str, taken: &[Area]) -> Option<Area> {
        let pixel = self.letter(mark);
        let wide = letters::width(text, pixel) + 2 * pixel;
        let high = letters::HEIGHT * pixel + pixel;
        let (columns, rows) = self.area(&mark.bounds);
        let last_left = self.columns.end.checked_sub(wide)?;
        let last_top = self.rows.end.checked_sub(high)?;
        let left = columns.start.saturating_sub(self.scale.line).min(last_left);
        let left = left.max(self.columns.start);
        let line = self.scale.line;
        let tops = [
            rows.start.saturating_sub(high + line),
            rows.start,
            rows.end + line,
            rows.end.saturating_sub(high),
            rows.start + high,
            rows.end + line + high,
        ];
        let areas = tops.map(|top| {
            let top = top.clamp(self.rows.start.min(last_top), last_top);
            (left..left + wide, top..top + high)
        });
        let free = areas.iter().find(|area| !taken.iter().any(|other| overlap(area, other)));
        Some(free.unwrap_or(&areas[0]).clone())
    }
}

/// Whether two areas share a pixel.
fn overlap(a: &Area, b: &Area) -> bool {
    a.0.start < b.0.end && b.0.start < a.0.end && a.1.start < b.1.end && b.1.start < a.1.end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_do_not_cover_each_other_where_there_is_room() {
        let scale = Scale { zoom: 1, line: 4, letter: 1 };
        let panel = Panel { columns: 8..648, rows: 50..530, scale: &scale };
        let mark = Mark {
            kind: MarkKind::Changed,
            bounds: Bounds { left: 300.0, top: 200.0, right: 400.0, bottom: 300.0 },
            text: "missed: car 0.50".to_owned(),
        };
        let mut taken: Vec<Area> = Vec::new();
        for _ in 0..4 {
            let area = panel.place(&mark, &mark.text, &taken).unwrap();
            assert!(
                taken
                    .iter()
                    .all(|other: &Area| area.1.end <= other.1.start || other.1.end <= area.1.start),
                "{area:?} {taken:?}"
            );
            assert!(area.0.start >= 8 && area.0.end <= 648 && area.1.end <= 530, "{area:?}");
            taken.push(area);
        }
    }
}
