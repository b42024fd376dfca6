//! From good input to hostile input: single changes, several in a row, from a seeded stream.

mod json;
mod onnx;
mod png;

use faultlens_core::Stream;
pub use json::json;
pub use onnx::onnx;

/// Makes one change to an input; `others` are the whole corpus.
pub type Mutate = fn(&mut Vec<u8>, &[&[u8]], &mut Stream);

/// Inputs never grow beyond this.
pub(crate) const MAX_BYTES: usize = 1 << 20;

/// Whole numbers at which programs break.
pub(crate) const TEMPTING: &[i64] = &[
    0,
    1,
    -1,
    2,
    3,
    7,
    16,
    64,
    127,
    128,
    255,
    256,
    -128,
    32767,
    32768,
    65535,
    65536,
    1 << 20,
    1 << 24,
    (1 << 31) - 1,
    1 << 31,
    -(1 << 31),
    (1 << 32) - 1,
    1 << 32,
    1 << 40,
    1 << 62,
    i64::MAX,
    i64::MIN,
    i64::MIN + 1,
];

/// A number that tempts.
pub(crate) fn tempting(stream: &mut Stream) -> i64 {
    stream.pick(TEMPTING).copied().unwrap_or(0)
}

/// A change that knows nothing of the format.
pub fn bytes(input: &mut Vec<u8>, others: &[&[u8]], stream: &mut Stream) {
    if input.is_empty() {
        input.push(0);
    }
    let at = stream.below(input.len());
    match stream.below(9) {
        0 => input[at] ^= 1 << stream.below(8),
        1 => input[at] = [0, 1, 0x7f, 0x80, 0xff][stream.below(5)],
        2 => {
            let number = tempting(stream);
            let width = [1, 2, 4, 8][stream.below(4)];
            let little = stream.chance(0.5);
            let bytes = if little { number.to_le_bytes() } else { number.to_be_bytes() };
            let part = if little { &bytes[..width] } else { &bytes[8 - width..] };
            for (to, from) in input[at..].iter_mut().zip(part) {
                *to = *from;
            }
        }
        3 => {
            let end = (at + 1 + stream.below(16)).min(input.len());
            input.drain(at..end);
        }
        4 => {
            let more: Vec<u8> =
                (0..1 + stream.below(16)).map(|_| stream.below(256) as u8).collect();
            input.splice(at..at, more);
        }
        5 => {
            let end = (at + 1 + stream.below(64)).min(input.len());
            let part = input[at..end].to_vec();
            let to = stream.below(input.len());
            input.splice(to..to, part);
        }
        6 => input.truncate(at),
        7 => {
            // The beginning of this one, the end of another.
            if let Some(other) = stream.pick(others).filter(|other| !other.is_empty()) {
                let from = stream.below(other.len());
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
        }
        _ => digits(input, at, stream),
    }
    input.truncate(MAX_BYTES);
}

/// Another number in place of one in text.
fn digits(input: &mut Vec<u8>, at: usize, stream: &mut Stream) {
    let Some(start) = input[at..].iter().position(u8::is_ascii_digit).map(|more| at + more) else {
        return;
    };
    let end = input[start..].iter().position(|byte| !byte.is_ascii_digit());
    let end = end.map_or(input.len(), |more| start + more);
    let number = match stream.below(4) {
        0 => "1e308".to_owned(),
        1 => "9".repeat(1 + stream.below(400)),
        _ => tempting(stream).to_string(),
    };
    input.splice(start..end, number.into_bytes());
}

/// Words, lines and numbers of a text.
pub fn text(input: &mut Vec<u8>, others: &[&[u8]], stream: &mut Stream) {
    const WORDS: &[&str] = &[
        "null",
        "true",
        "~",
        "[]",
        "{}",
        "[[[[",
        "\"",
        "'",
        "- ",
        ": ",
        "&a ",
        "*a",
        "<<: ",
        "!!binary ",
        "|",
        ">",
        "\t",
        "#",
        ".nan",
        ".inf",
        "-.inf",
        "1e400",
        "0x7fffffffffffffff",
        "\u{feff}",
        "2026-11-18",
        "---\n",
        "...\n",
        "? ",
    ];
    let text = String::from_utf8_lossy(input).into_owned();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    if lines.is_empty() || stream.chance(0.4) {
        return bytes(input, others, stream);
    }
    let at = stream.below(lines.len());
    let mut lines: Vec<String> = lines.into_iter().map(str::to_owned).collect();
    match stream.below(5) {
        0 => drop(lines.remove(at)),
        1 => {
            let line = lines[at].clone();
            let to = stream.below(lines.len());
            lines.insert(to, line);
        }
        2 => lines[at].insert_str(0, &" ".repeat(1 + stream.below(5))),
        3 => {
            // A line of another file.
            let other = stream.pick(others).copied().unwrap_or_default();
            let other = String::from_utf8_lossy(other).into_owned();
            let others: Vec<&str> = other.split_inclusive('\n').collect();
            lines.insert(at, stream.pick(&others).copied().unwrap_or_default().to_owned());
        }
        _ => {
            let word = stream.pick(WORDS).copied().unwrap_or_default();
            let line = &mut lines[at];
            match line.find(": ") {
                Some(colon) if stream.chance(0.7) => {
                    *line = format!("{}: {word}\n", &line[..colon])
                }
                _ => {
                    let places: Vec<usize> = line.char_indices().map(|(place, _)| place).collect();
                    line.insert_str(stream.pick(&places).copied().unwrap_or(0), word);
                }
            }
        }
    }
    *input = lines.concat().into_bytes();
    input.truncate(MAX_BYTES);
}

/// Bytes of an image; the checksums of a PNG are made right again, or nothing behind them is read.
pub fn image(input: &mut Vec<u8>, others: &[&[u8]], stream: &mut Stream) {
    bytes(input, others, stream);
    if stream.chance(0.9) {
        png::correct_checksums(input);
    }
}

/// JSON or text or a database, as the input is.
pub fn run_directory(input: &mut Vec<u8>, others: &[&[u8]], stream: &mut Stream) {
    match input.first() {
        Some(b'{') => json(input, others, stream),
        Some(b'S') => bytes(input, &[], stream),
        _ => text(input, others, stream),
    }
}
