//! Both answers of a trial, drawn side by side with what they say.

use faultlens::Image;
use faultlens::campaign::object_comparison::{Answered, ObjectComparison, ObjectStatus};
use faultlens::campaign::scene::ReplayedImage;
use faultlens::record::LabelledBox;
use faultlens::record::Record;

use super::marks::{Mark, MarkKind, after_marks, before_marks};
use super::panel::{Panel, Scale};
use crate::command::canvas::{Canvas, GAP};
use crate::command::letters;

/// Lines of a caption beyond this are left out.
const MAX_LINES: usize = 4;

/// The undisturbed image and the changed one, each with what was found in it; words above, and
/// what the colours mean below.
pub(super) fn picture(
    record: &Record,
    replayed: &ReplayedImage,
    detection_diff: &ObjectComparison,
    answer: &Answered,
    moved: bool,
) -> anyhow::Result<Image> {
    let before = &replayed.case.image;
    let after = &detection_diff.image;
    let scale = Scale::of(before);
    let side = |image: &Image| [image.width() * scale.zoom, image.height() * scale.zoom];
    let [left, high] = side(before);
    let [right, higher] = side(after);
    let width = left + right + 3 * GAP;
    let caption =
        caption(record, replayed, moved, letters::fitting(width - 2 * GAP, 2 * scale.letter));
    let head = GAP + (caption.len() + 1) * scale.row();
    let tall = high.max(higher);
    let mut canvas = Canvas::new(width, head + tall + 2 * GAP + scale.row());
    for (at, line) in caption.iter().enumerate() {
        canvas.write(line, GAP, GAP + at * scale.row(), 2 * scale.letter);
    }
    let titles =
        [format!("before: {}", found(&detection_diff.golden)), after_title(detection_diff, answer)];
    let marks = [
        before_marks(replayed, detection_diff, answer),
        after_marks(replayed, detection_diff, answer),
    ];
    let panels = [(before, GAP), (after, left + 2 * GAP)];
    for ((title, marks), (image, from)) in titles.iter().zip(&marks).zip(panels) {
        canvas.write(title, from, head - scale.row(), 2 * scale.letter);
        canvas.show(&zoomed(image, scale.zoom), from, head);
        let [wide, high] = side(image);
        let panel = Panel { columns: from..from + wide, rows: head..head + high, scale: &scale };
        panel.draw(&mut canvas, marks);
    }
    legend(&mut canvas, &scale, replayed, &marks, head + tall + GAP);
    canvas.finish()
}

/// What the picture is of, in lines of so many letters.
fn caption(record: &Record, replayed: &ReplayedImage, moved: bool, letters: usize) -> Vec<String> {
    let ReplayedImage { fault, target, case, .. } = replayed;
    let moved = if moved { ", moved as far as it still changes the answer" } else { "" };
    let number = record.number;
    let outcome = record.outcome.kind();
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
    lines.truncate(MAX_LINES);
    lines
}

fn found(things: &[LabelledBox]) -> String {
    format!("{} found", things.len())
}

fn after_title(detection_diff: &ObjectComparison, answer: &Answered) -> String {
    let mut words = vec![format!("after: {}", found(&answer.observed))];
    for status in [
        ObjectStatus::Missed,
        ObjectStatus::Spurious,
        ObjectStatus::Relabelled,
        ObjectStatus::Misplaced,
    ] {
        let count = detection_diff.changes().filter(|pair| pair.status == status).count();
        if count > 0 {
            words.push(format!("{count} {}", status.name()));
        }
    }
    words.join(", ")
}

/// What the colours mean, of those that are there.
fn legend(
    canvas: &mut Canvas,
    scale: &Scale,
    replayed: &ReplayedImage,
    marks: &[Vec<Mark>],
    top: usize,
) {
    let inserted = replayed.touched.as_ref().is_some_and(|touched| touched.object.is_some());
    let side = letters::HEIGHT * scale.letter * 2;
    let mut left = GAP;
    for (stands, text) in [
        (MarkKind::Same, "as before"),
        (MarkKind::Changed, "changed"),
        (MarkKind::Touched, if inserted { "inserted" } else { "taken out" }),
        (MarkKind::Own, "detected as the inserted object, not counted"),
        (MarkKind::Out, "moved out of the image"),
    ] {
        if marks.iter().flatten().any(|mark| mark.kind == stands) {
            canvas.fill(stands.colours()[0], left..left + side, top..top + side);
            left += side + GAP;
            canvas.write(text, left, top + scale.letter, 2 * scale.letter);
            left += letters::width(text, 2 * scale.letter) + 3 * GAP;
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens::campaign::object_comparison::Pair;
    use faultlens::record::{Cost, Measures, TrialId};
    use faultlens::{Bounds, Case, Outcome};
    use std::collections::BTreeMap;

    fn thing(label: &str, [left, top, right, bottom]: [f32; 4]) -> LabelledBox {
        let bounds = Bounds { left, top, right, bottom };
        LabelledBox { label: label.to_owned(), score: 0.5, bounds }
    }

    fn record() -> Record {
        Record {
            number: 7,
            trial: TrialId([0; 16]),
            target: 0,
            case: 0,
            fault: 0,
            repeat: 0,
            outcome: Outcome::Changed,
            site: None,
            answer: None,
            score: None,
            cost: Cost { queries: 1, micros: 0 },
            digest: None,
            measures: Measures::default(),
            extra: BTreeMap::new(),
        }
    }

    fn drawn(things: &[LabelledBox]) -> Image {
        let image = Image::from_rgb(40, 20, vec![100; 2400]).unwrap();
        let pairs = things.iter().enumerate().map(|(at, thing)| Pair {
            status: ObjectStatus::Missed,
            golden: Some(at),
            before: Some(thing.clone()),
            after: None,
        });
        let answer = Answered { observed: vec![], own: vec![], pairs: pairs.collect() };
        let detection_diff = ObjectComparison {
            image: image.clone(),
            touched: None,
            golden: things.to_vec(),
            expected: things.to_vec(),
            answer: Ok(answer.clone()),
        };
        let replayed = ReplayedImage {
            case: Case::new("a", image),
            objects: vec![],
            target: "t".to_owned(),
            fault: "mirror".to_owned(),
            touched: None,
            comparison: detection_diff.clone(),
            furthest: None,
        };
        picture(&record(), &replayed, &detection_diff, &answer, false).unwrap()
    }

    #[test]
    fn what_is_missed_is_framed_and_named_in_the_image_before() {
        let image = drawn(&[thing("car", [10.0, 8.0, 20.0, 16.0])]);
        // Sixteen times as large, one beside the other, under two lines of words.
        assert_eq!(image.width(), 2 * 640 + 3 * GAP);
        let scale = Scale::of(&Image::from_rgb(40, 20, vec![0; 2400]).unwrap());
        assert_eq!((scale.zoom, scale.line, scale.letter), (16, 4, 1));
        let head = GAP + 2 * scale.row();
        let pixel = |x: usize, y: usize| &image.rgb()[((head + y) * image.width() + x) * 3..][..3];
        let [red, white] = MarkKind::Changed.colours();
        let left = GAP + 160;
        assert_eq!([pixel(left - 1, 200), pixel(left + 161, 200)], [red, red]);
        assert_eq!(pixel(left + 80, 200), [100; 3], "the thing itself is seen");
        let words = (0..20).flat_map(|y| (0..300).map(move |x| (left + x, 128 - 4 - y)));
        assert!(words.clone().any(|(x, y)| pixel(x, y) == white));
        // Nothing is framed in the image after.
        assert!((0..640).all(|x| pixel(left + 640 + x.min(400), 200) != red));
    }

    #[test]
    fn any_box_and_any_name_can_be_drawn() {
        let inf = f32::INFINITY;
        let nan = f32::NAN;
        let long = "x".repeat(5000);
        let wanted = drawn(&[]);
        for (label, sides) in [
            ("", [0.0; 4]),
            ("nan", [nan; 4]),
            ("vast", [-inf, -inf, inf, inf]),
            ("beyond", [900.0, 900.0, 950.0, 950.0]),
            ("turned", [30.0, 10.0, 5.0, 2.0]),
            (long.as_str(), [5.0, 5.0, 9.0, 9.0]),
            ("名前 ß", [5.0, 5.0, 9.0, 9.0]),
        ] {
            let image = drawn(&[thing(label, sides)]);
            assert_eq!((image.width(), image.height()), (wanted.width(), wanted.height()));
        }
    }

    #[test]
    fn captions_are_broken_between_words() {
        let detection_diff = ObjectComparison {
            image: Image::from_rgb(1, 1, vec![0; 3]).unwrap(),
            touched: None,
            golden: vec![],
            expected: vec![],
            answer: Err("nobody".to_owned()),
        };
        let replayed = ReplayedImage {
            case: Case::new("A.png", detection_diff.image.clone()),
            objects: vec![],
            target: "yolo".to_owned(),
            fault: "mirror".to_owned(),
            touched: None,
            comparison: detection_diff,
            furthest: None,
        };
        let lines = caption(&record(), &replayed, true, 24);
        assert_eq!(lines[..2], ["trial 7: mirror, moved", "as far as it still"]);
        assert!(lines.iter().all(|line| line.len() <= 24), "{lines:?}");
    }
}
