//! What Ultralytics' exporter writes into a model's metadata: `task`, `imgsz`, and `names` as
//! Python prints them.

use std::collections::BTreeMap;

use faultlens_engine::Graph;

/// More names than this are none of a detector.
const MAX_NAMES: usize = 1 << 16;

/// What the model is for, such as `detect`; exports of YOLOv5 do not say it.
pub(super) fn task(graph: &Graph) -> Option<&str> {
    exported(graph).then(|| graph.metadata("task")).flatten()
}

/// Rows and columns of the input that it was exported for.
pub(super) fn size(graph: &Graph) -> Option<[usize; 2]> {
    let text = exported(graph).then(|| graph.metadata("imgsz")).flatten()?;
    let sides = text.trim().trim_matches(['[', ']', '(', ')']).split(',');
    let sides: Option<Vec<usize>> = sides.map(|side| side.trim().parse().ok()).collect();
    match *sides?.as_slice() {
        [side] => Some([side, side]),
        [height, width] => Some([height, width]),
        _ => None,
    }
}

/// The names of its classes.
pub(super) fn names(graph: &Graph) -> Option<BTreeMap<usize, String>> {
    exported(graph).then(|| graph.metadata("names")).flatten().and_then(parse)
}

/// Other exporters may mean something else by such common words.
fn exported(graph: &Graph) -> bool {
    graph.metadata("stride").is_some() && graph.metadata("names").is_some()
}

/// A dictionary from numbers to texts, or a list of texts, as Python prints them.
fn parse(text: &str) -> Option<BTreeMap<usize, String>> {
    let text = text.trim();
    let numbered = text.starts_with('{');
    let inner = if numbered {
        text.strip_prefix('{')?.strip_suffix('}')?
    } else {
        text.strip_prefix('[')?.strip_suffix(']')?
    };
    let mut rest = inner.trim_start();
    let mut names = BTreeMap::new();
    while !rest.is_empty() {
        let mut index = names.len();
        if numbered {
            let (number, behind) = rest.split_once(':')?;
            index = number.trim().parse().ok()?;
            rest = behind.trim_start();
        }
        let (name, behind) = quoted(rest)?;
        names.insert(index, name);
        rest = behind.trim_start();
        rest = match rest.strip_prefix(',') {
            Some(more) => more.trim_start(),
            None if rest.is_empty() => rest,
            None => return None,
        };
        if index >= MAX_NAMES || names.len() > MAX_NAMES {
            return None;
        }
    }
    (!names.is_empty()).then_some(names)
}

/// The text in quotes at the start, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|c| ['\'', '"'].contains(c))?;
    let mut name = String::new();
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => {
                name.push(c);
                escaped = false;
            }
            '\\' => escaped = true,
            c if c == quote => return Some((name, &text[at + c.len_utf8()..])),
            c => name.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_python_prints_them() {
        let read = |text: &str| parse(text).map(|names| names.into_iter().collect::<Vec<_>>());
        let wanted = |names: &[(usize, &str)]| {
            Some(names.iter().map(|&(at, name)| (at, name.to_owned())).collect::<Vec<_>>())
        };
        for (text, names) in [
            ("{0: 'person', 1: 'traffic light'}", wanted(&[(0, "person"), (1, "traffic light")])),
            (r#"{7: "driver's {seat}, left: 1", }"#, wanted(&[(7, "driver's {seat}, left: 1")])),
            (r"['a\'b', 'Ü']", wanted(&[(0, "a'b"), (1, "Ü")])),
            ("{}", None),
            ("", None),
            ("{0: 'open", None),
            ("{0: 'open}", None),
            ("{x: 'a'}", None),
            ("{99999999: 'a'}", None),
            ("{0: 'a' 1: 'b'}", None),
            ("{0: person}", None),
        ] {
            assert_eq!(read(text), names, "{text}");
        }
    }
}
