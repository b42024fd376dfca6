//! Both answers of a trial, drawn side by side with what they say.

use std::ops::Range;

use faultlens::campaign::Record;
use faultlens::campaign::scene::Retold;
use faultlens::campaign::sighting::{Answered, Fate, Pair, Sighting, Thing};
use faultlens::{Bounds, Image};

use crate::command::canvas::{Canvas, GAP};
use crate::command::letters;

/// Images are shown with a longer side of so many pixels at least, so that words fit in.
const LEAST: usize = 640;
/// How many pixels of the longer side one pixel of a frame, and of a letter, stands for.
const PER_LINE: usize = 200;
const PER_LETTER: usize = 640;

const BLACK: [u8; 3] = [0; 3];
const WHITE: [u8; 3] = [255; 3];

/// What a frame stands for; the last ones lie on top.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stands {
    /// Moved out of the image by the fault.
    Out,
    Same,
    Own,
    Touched,
    Changed,
}

impl Stands {
    /// The colour of its frame, and of words on it.
    fn colours(self) -> [[u8; 3]; 2] {
        match self {
            Self::Out => [[150, 150, 150], BLACK],
            Self::Same => [[0, 200, 83], BLACK],
            Self::Own => [[0, 229, 255], BLACK],
            Self::Touched => [[41, 98, 255], WHITE],
            Self::Changed => [[229, 28, 35], WHITE],
        }
    }
}

/// A frame and what is written at it.
struct Mark {
    stands: Stands,
    bounds: Bounds,
    text: String,
}

/// Sizes that follow from those of the image.
struct Scale {
    /// How many pixels each of the image is wide.
    zoom: usize,
    /// How wide frames are.
    line: usize,
    /// How wide each pixel of a letter is.
    letter: usize,
}

impl Scale {
    fn of(image: &Image) -> Self {
        let longer = image.width().max(image.height()).max(1);
        let zoom = LEAST.div_ceil(longer);
        let longer = longer * zoom;
        Self { zoom, line: longer.div_ceil(PER_LINE), letter: (longer / PER_LETTER).max(1) }
    }

    /// How high a line of the caption is.
    fn row(&self) -> usize {
        letters::HEIGHT * 2 * self.letter + GAP
    }
}

/// The undisturbed image and the changed one, each with what was found in it; words above, and
/// what the colours mean below.
pub(super) fn picture(
    record: &Record,
    retold: &Retold,
    sighting: &Sighting,
    answer: &Answered,
    moved: bool,
) -> anyhow::Result<Image> {
    let (before, after) = (&retold.case.image, &sighting.image);
    let scale = Scale::of(before);
    let side = |image: &Image| [image.width() * scale.zoom, image.height() * scale.zoom];
    let [[left, high], [right, higher]] = [side(before), side(after)];
    let width = left + right + 3 * GAP;
    let caption = caption(record, retold, moved, (width - 2 * GAP) / (12 * scale.letter));
    let head = GAP + (caption.len() + 1) * scale.row();
    let tall = high.max(higher);
    let mut canvas = Canvas::new(width, head + tall + 2 * GAP + scale.row());
    for (at, line) in caption.iter().enumerate() {
        canvas.write(line, GAP, GAP + at * scale.row(), 2 * scale.letter);
    }
    let titles = [format!("before: {}", found(&sighting.golden)), after_title(sighting, answer)];
    let marks = [before_marks(retold, sighting, answer), after_marks(retold, sighting, answer)];
    let panels = [(before, GAP), (after, left + 2 * GAP)];
    for ((title, marks), (image, from)) in titles.iter().zip(&marks).zip(panels) {
        canvas.write(title, from, head - scale.row(), 2 * scale.letter);
        canvas.show(&zoomed(image, scale.zoom), from, head);
        let [wide, high] = side(image);
        let panel = Panel { columns: from..from + wide, rows: head..head + high, scale: &scale };
        panel.draw(&mut canvas, marks);
    }
    legend(&mut canvas, &scale, retold, &marks, head + tall + GAP);
    canvas.finish()
}

/// What the picture is of, in lines of so many letters.
fn caption(record: &Record, retold: &Retold, moved: bool, letters: usize) -> Vec<String> {
    let Retold { fault, target, case, .. } = retold;
    let moved = if moved { ", moved on as far as it disturbs" } else { "" };
    let (number, outcome) = (record.number, record.outcome.kind());
    let text =
        format!("trial {number}: {fault}{moved} on {}, asked of {target}: {outcome}", case.name);
    let mut lines = vec![String::new()];
    for word in text.to_lowercase().split(' ') {
        let line = lines.last_mut().filter(|line| {
            line.is_empty() || line.chars().count() + 1 + word.chars().count() <= letters
        });
        match line {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => *line = format!("{line} {word}"),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

fn found(things: &[Thing]) -> String {
    format!("{} found", things.len())
}

fn after_title(sighting: &Sighting, answer: &Answered) -> String {
    let mut words = vec![format!("after: {}", found(&answer.observed))];
    for fate in [Fate::Missed, Fate::Spurious, Fate::Relabelled, Fate::Misplaced] {
        let count = sighting.changes().filter(|pair| pair.fate == fate).count();
        if count > 0 {
            words.push(format!("{count} {}", fate.name()));
        }
    }
    words.join(", ")
}

fn said(thing: &Thing) -> String {
    format!("{} {:.2}", thing.label.to_lowercase(), thing.score)
}

fn before_marks(retold: &Retold, sighting: &Sighting, answer: &Answered) -> Vec<Mark> {
    let taken_out = retold.touched.as_ref().is_some_and(|touched| touched.object.is_none());
    let mark = |(at, thing): (usize, &Thing)| {
        let pair = answer.pairs.iter().find(|pair| pair.golden == Some(at));
        let (stands, text) = match pair.map(|pair| pair.fate) {
            Some(Fate::Same) => (Stands::Same, said(thing)),
            Some(Fate::Missed) => (Stands::Changed, format!("missed: {}", said(thing))),
            Some(_) => (Stands::Changed, said(thing)),
            None if taken_out => (Stands::Touched, format!("taken out: {}", said(thing))),
            None => (Stands::Out, said(thing)),
        };
        Mark { stands, bounds: thing.bounds, text }
    };
    sighting.golden.iter().enumerate().map(mark).collect()
}

fn after_marks(retold: &Retold, sighting: &Sighting, answer: &Answered) -> Vec<Mark> {
    let mark = |pair: &Pair| {
        let thing = pair.after.as_ref()?;
        let (stands, text) = match (pair.fate, &pair.before) {
            (Fate::Same, _) => (Stands::Same, said(thing)),
            (Fate::Relabelled, Some(before)) => {
                let was = before.label.to_lowercase();
                (Stands::Changed, format!("{}, was {was}", said(thing)))
            }
            (fate, _) => (Stands::Changed, format!("{}: {}", fate.name(), said(thing))),
        };
        Some(Mark { stands, bounds: thing.bounds, text })
    };
    let own = answer.own.iter().map(|thing| Mark {
        stands: Stands::Own,
        bounds: thing.bounds,
        text: said(thing),
    });
    let touched = retold.touched.as_ref().zip(sighting.touched).map(|(touched, bounds)| {
        let label = touched.label.to_lowercase();
        let text = match &touched.object {
            Some(_) => format!("inserted {label}"),
            None => format!("{label} stood here"),
        };
        Mark { stands: Stands::Touched, bounds, text }
    });
    answer.pairs.iter().filter_map(mark).chain(own).chain(touched).collect()
}

/// What the colours mean, of those that are there.
fn legend(canvas: &mut Canvas, scale: &Scale, retold: &Retold, marks: &[Vec<Mark>], top: usize) {
    let inserted = retold.touched.as_ref().is_some_and(|touched| touched.object.is_some());
    let side = letters::HEIGHT * scale.letter * 2;
    let mut left = GAP;
    for (stands, text) in [
        (Stands::Same, "as before"),
        (Stands::Changed, "changed"),
        (Stands::Touched, if inserted { "inserted" } else { "taken out" }),
        (Stands::Own, "found of it, does not count"),
        (Stands::Out, "moved out of the image"),
    ] {
        if marks.iter().flatten().any(|mark| mark.stands == stands) {
            canvas.fill(stands.colours()[0], left..left + side, top..top + side);
            left += side + GAP;
            canvas.write(text, left, top + scale.letter, 2 * scale.letter);
            left += letters::width(text, 2 * scale.letter) + 3 * GAP;
        }
    }
}

/// Where an image lies on the canvas.
struct Panel<'a> {
    columns: Range<usize>,
    rows: Range<usize>,
    scale: &'a Scale,
}

/// Columns and rows of the canvas.
type Area = (Range<usize>, Range<usize>);

impl Panel<'_> {
    /// Draws frames, and words at them where they cover each other least.
    fn draw(&self, canvas: &mut Canvas, marks: &[Mark]) {
        let mut order: Vec<&Mark> = marks.iter().collect();
        order.sort_by_key(|mark| mark.stands);
        for mark in &order {
            self.frame(canvas, mark);
        }
        let mut taken: Vec<Area> = Vec::new();
        for mark in order.iter().rev() {
            let Some(area) = self.place(mark, &taken) else { continue };
            let ([back, ink], pixel) = (mark.stands.colours(), self.letter(mark));
            canvas.fill(back, area.0.clone(), area.1.clone());
            canvas.write_in(ink, &mark.text, area.0.start + pixel, area.1.start + pixel, pixel);
            taken.push(area);
        }
    }

    /// What stayed as it was is written small.
    fn letter(&self, mark: &Mark) -> usize {
        match mark.stands {
            Stands::Same | Stands::Out => self.scale.letter,
            _ => 2 * self.scale.letter,
        }
    }

    /// A frame around a box, as far as it lies in the image.
    fn frame(&self, canvas: &mut Canvas, mark: &Mark) {
        let (columns, rows) = self.area(&mark.bounds);
        let line = self.scale.line;
        let within = |at: usize, of: &Range<usize>| at.clamp(of.start, of.end);
        let outer = |range: &Range<usize>, of: &Range<usize>| {
            within(range.start.saturating_sub(line), of)..within(range.end + line, of)
        };
        let (wide, high) = (outer(&columns, &self.columns), outer(&rows, &self.rows));
        let colour = mark.stands.colours()[0];
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
        let (columns, rows) = (&self.columns, &self.rows);
        let (left, top) = (cut(b.left, columns), cut(b.top, rows));
        (left..cut(b.right, columns).max(left), top..cut(b.bottom, rows).max(top))
    }

    /// Where a mark's words have room: above its box, in it, below it, at its end; where they
    /// would cover others everywhere, above it. `None` where the image is too small for them.
    fn place(&self, mark: &Mark, taken: &[Area]) -> Option<Area> {
        let pixel = self.letter(mark);
        let wide = letters::width(&mark.text, pixel) + 2 * pixel;
        let high = letters::HEIGHT * pixel + pixel;
        let (columns, rows) = self.area(&mark.bounds);
        let (last_left, last_top) =
            (self.columns.end.checked_sub(wide)?, self.rows.end.checked_sub(high)?);
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
        let meets = |a: &Area, b: &Area| {
            a.0.start < b.0.end && b.0.start < a.0.end && a.1.start < b.1.end && b.1.start < a.1.end
        };
        let free = areas.iter().find(|area| taken.iter().all(|other| !meets(area, other)));
        Some(free.unwrap_or(&areas[0]).clone())
    }
}

/// The image with every pixel so many times as wide and high.
fn zoomed(image: &Image, zoom: usize) -> Image {
    if zoom == 1 {
        return image.clone();
    }
    let mut rgb = Vec::with_capacity(image.rgb().len() * zoom * zoom);
    for row in image.rgb().chunks_exact(image.width() * 3) {
        let wide: Vec<u8> = row.as_chunks::<3>().0.iter().flat_map(|p| p.repeat(zoom)).collect();
        (0..zoom).for_each(|_| rgb.extend_from_slice(&wide));
    }
    let size = [image.width() * zoom, image.height() * zoom];
    Image::from_rgb(size[0], size[1], rgb).unwrap_or_else(|_| image.clone())
}
