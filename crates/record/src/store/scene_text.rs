//! Objects as the database keeps them: a class, a number and a box each, separated by semicolons.
//! Runs of formats 5 and 6 have them in this form; a table with a row for each object would take
//! several times the space.

use crate::{Field, FoundObject, GoldenScene, KnownObject};

/// Separates objects.
const SEPARATOR: char = ';';

/// Separates the known objects of a golden scene from those that were found.
const SIDES: char = '|';

/// A golden scene as text: `class crowd left top width height` of every known object, then
/// `class score left top width height` of every found one.
pub(super) fn write(scene: &GoldenScene) -> String {
    let mut text = String::new();
    for object in &scene.known {
        if !text.is_empty() {
            text.push(SEPARATOR);
        }
        let KnownObject { class, crowd, left, top, width, height } = object;
        text.push_str(&format!("{class} {} {left} {top} {width} {height}", u8::from(*crowd)));
    }
    format!("{text}{SIDES}{}", Field::Found(&scene.found))
}

/// The golden scene that [`write`] made a text of; `None` for any other text.
pub(super) fn read(text: &str) -> Option<GoldenScene> {
    let (known, found) = text.split_once(SIDES)?;
    let mut objects = Vec::new();
    for part in known.split(SEPARATOR) {
        let (class, [crowd, left, top, width, height]) = numbers(part)?;
        let crowd = crowd > 0.0;
        objects.push(KnownObject { class, crowd, left, top, width, height });
    }
    Some(GoldenScene { known: objects, found: read_found(found)? })
}

/// The found objects in a text; `None` where it cannot be read.
pub(super) fn read_found(text: &str) -> Option<Vec<FoundObject>> {
    let mut objects = Vec::new();
    for part in text.split(SEPARATOR).filter(|part| !part.is_empty()) {
        let (class, [score, left, top, width, height]) = numbers(part)?;
        objects.push(FoundObject { class, score, left, top, width, height });
    }
    Some(objects)
}

/// A class and the five numbers after it.
fn numbers(part: &str) -> Option<(usize, [f32; 5])> {
    let (class, rest) = part.split_once(' ')?;
    let numbers: Option<Vec<f32>> = rest.split(' ').map(|text| text.parse().ok()).collect();
    Some((class.parse().ok()?, numbers?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_earlier_runs_are_read_and_written_again() {
        let text = "4 0 0.1 1.5 10 10;18446744073709551615 1 0.1 1.5 10 10|1 0.5 3 1.5 10 10";
        let scene = read(text).unwrap();
        assert_eq!((scene.known.len(), scene.known[1].crowd), (2, true));
        assert_eq!(scene.known[1].class, usize::MAX);
        assert_eq!((scene.found[0].class, scene.found[0].width), (1, 10.0));
        assert_eq!(write(&scene), text);
        let nothing = read("4 0 0.1 1.5 10 10|").unwrap();
        assert!(nothing.found.is_empty());
        assert_eq!(write(&nothing), "4 0 0.1 1.5 10 10|");
        assert!(read_found("2 NaN NaN 1 2 3").unwrap()[0].score.is_nan());
    }

    #[test]
    fn other_texts_are_not_read() {
        for text in ["", "1 2", "a 0 1 2 3 4", "1 0 1 2 3 x", "1 0 1 2 3"] {
            assert_eq!(read(&format!("{text}|")), None, "{text}");
        }
        assert_eq!(read("1 0 1 2 3 4"), None);
        assert_eq!(read_found("1 0.5 1 2 3 4;x"), None);
    }
}
