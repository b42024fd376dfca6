//! Letters for pictures: names, numbers and what joins them, five pixels wide and nine high.

/// Rows from the top; of each the highest of five bits is on the left.
type Letter = [u8; 9];

const LETTERS: [(char, Letter); 49] = [
    ('%', [0b11001, 0b11010, 0b00010, 0b00100, 0b01000, 0b01011, 0b10011, 0b00000, 0b00000]),
    ('(', [0b00010, 0b00100, 0b01000, 0b01000, 0b01000, 0b00100, 0b00010, 0b00000, 0b00000]),
    (')', [0b01000, 0b00100, 0b00010, 0b00010, 0b00010, 0b00100, 0b01000, 0b00000, 0b00000]),
    ('+', [0b00000, 0b00100, 0b00100, 0b11111, 0b00100, 0b00100, 0b00000, 0b00000, 0b00000]),
    (',', [0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b01100, 0b01100, 0b01000, 0b00000]),
    ('-', [0b00000, 0b00000, 0b00000, 0b01110, 0b00000, 0b00000, 0b00000, 0b00000, 0b00000]),
    ('.', [0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b01100, 0b01100, 0b00000, 0b00000]),
    ('/', [0b00001, 0b00010, 0b00010, 0b00100, 0b01000, 0b01000, 0b10000, 0b00000, 0b00000]),
    ('0', [0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110, 0b00000, 0b00000]),
    ('1', [0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110, 0b00000, 0b00000]),
    ('2', [0b01110, 0b10001, 0b00001, 0b00010, 0b00100, 0b01000, 0b11111, 0b00000, 0b00000]),
    ('3', [0b01110, 0b10001, 0b00001, 0b00110, 0b00001, 0b10001, 0b01110, 0b00000, 0b00000]),
    ('4', [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010, 0b00000, 0b00000]),
    ('5', [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110, 0b00000, 0b00000]),
    ('6', [0b01110, 0b10000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110, 0b00000, 0b00000]),
    ('7', [0b11111, 0b00001, 0b00010, 0b00100, 0b00100, 0b00100, 0b00100, 0b00000, 0b00000]),
    ('8', [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110, 0b00000, 0b00000]),
    ('9', [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00001, 0b01110, 0b00000, 0b00000]),
    (':', [0b00000, 0b01100, 0b01100, 0b00000, 0b01100, 0b01100, 0b00000, 0b00000, 0b00000]),
    (';', [0b00000, 0b01100, 0b01100, 0b00000, 0b01100, 0b01100, 0b01000, 0b00000, 0b00000]),
    ('=', [0b00000, 0b00000, 0b11111, 0b00000, 0b11111, 0b00000, 0b00000, 0b00000, 0b00000]),
    ('?', [0b01110, 0b10001, 0b00001, 0b00010, 0b00100, 0b00000, 0b00100, 0b00000, 0b00000]),
    ('_', [0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b11111, 0b00000, 0b00000]),
    ('a', [0b00000, 0b00000, 0b01110, 0b00001, 0b01111, 0b10001, 0b01111, 0b00000, 0b00000]),
    ('b', [0b10000, 0b10000, 0b11110, 0b10001, 0b10001, 0b10001, 0b11110, 0b00000, 0b00000]),
    ('c', [0b00000, 0b00000, 0b01111, 0b10000, 0b10000, 0b10000, 0b01111, 0b00000, 0b00000]),
    ('d', [0b00001, 0b00001, 0b01111, 0b10001, 0b10001, 0b10001, 0b01111, 0b00000, 0b00000]),
    ('e', [0b00000, 0b00000, 0b01110, 0b10001, 0b11111, 0b10000, 0b01111, 0b00000, 0b00000]),
    ('f', [0b00110, 0b01000, 0b11110, 0b01000, 0b01000, 0b01000, 0b01000, 0b00000, 0b00000]),
    ('g', [0b00000, 0b00000, 0b01111, 0b10001, 0b10001, 0b01111, 0b00001, 0b00001, 0b01110]),
    ('h', [0b10000, 0b10000, 0b11110, 0b10001, 0b10001, 0b10001, 0b10001, 0b00000, 0b00000]),
    ('i', [0b00100, 0b00000, 0b01100, 0b00100, 0b00100, 0b00100, 0b01110, 0b00000, 0b00000]),
    ('j', [0b00010, 0b00000, 0b00110, 0b00010, 0b00010, 0b10010, 0b01100, 0b00000, 0b00000]),
    ('k', [0b10000, 0b10000, 0b10010, 0b10100, 0b11000, 0b10100, 0b10010, 0b00000, 0b00000]),
    ('l', [0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110, 0b00000, 0b00000]),
    ('m', [0b00000, 0b00000, 0b11010, 0b10101, 0b10101, 0b10101, 0b10101, 0b00000, 0b00000]),
    ('n', [0b00000, 0b00000, 0b11110, 0b10001, 0b10001, 0b10001, 0b10001, 0b00000, 0b00000]),
    ('o', [0b00000, 0b00000, 0b01110, 0b10001, 0b10001, 0b10001, 0b01110, 0b00000, 0b00000]),
    ('p', [0b00000, 0b00000, 0b11110, 0b10001, 0b10001, 0b11110, 0b10000, 0b10000, 0b00000]),
    ('q', [0b00000, 0b00000, 0b01111, 0b10001, 0b10001, 0b01111, 0b00001, 0b00001, 0b00000]),
    ('r', [0b00000, 0b00000, 0b10110, 0b11001, 0b10000, 0b10000, 0b10000, 0b00000, 0b00000]),
    ('s', [0b00000, 0b00000, 0b01111, 0b10000, 0b01110, 0b00001, 0b11110, 0b00000, 0b00000]),
    ('t', [0b01000, 0b01000, 0b11110, 0b01000, 0b01000, 0b01001, 0b00110, 0b00000, 0b00000]),
    ('u', [0b00000, 0b00000, 0b10001, 0b10001, 0b10001, 0b10001, 0b01111, 0b00000, 0b00000]),
    ('v', [0b00000, 0b00000, 0b10001, 0b10001, 0b10001, 0b01010, 0b00100, 0b00000, 0b00000]),
    ('w', [0b00000, 0b00000, 0b10101, 0b10101, 0b10101, 0b10101, 0b01010, 0b00000, 0b00000]),
    ('x', [0b00000, 0b00000, 0b10001, 0b01010, 0b00100, 0b01010, 0b10001, 0b00000, 0b00000]),
    ('y', [0b00000, 0b00000, 0b10001, 0b10001, 0b10001, 0b01111, 0b00001, 0b00001, 0b01110]),
    ('z', [0b00000, 0b00000, 0b11111, 0b00010, 0b00100, 0b01000, 0b11111, 0b00000, 0b00000]),
];

const WIDTH: usize = 5;
/// How high a line is.
pub(crate) const HEIGHT: usize = 9;
/// From one letter to the next.
const ADVANCE: usize = WIDTH + 1;

/// How wide a text is, each of its pixels so many wide.
pub(crate) fn width(text: &str, pixel: usize) -> usize {
    (text.chars().count() * ADVANCE).saturating_sub(1) * pixel
}

/// How many letters fit into a width.
pub(crate) fn fitting(width: usize, pixel: usize) -> usize {
    (width + pixel) / (ADVANCE * pixel.max(1))
}

/// The pixels of a text, by column and row from its upper left corner; a character without a
/// letter is a question mark.
pub(crate) fn pixels(text: &str, pixel: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
    let letters = text.chars().enumerate().filter_map(|(at, character)| {
        let find = |wanted: char| LETTERS.iter().find(|(letter, _)| *letter == wanted);
        let known = find(character).or_else(|| find('?').filter(|_| character != ' '));
        Some((at * ADVANCE, &known?.1))
    });
    letters.flat_map(move |(left, rows)| {
        let all = (0..HEIGHT * pixel).flat_map(move |y| (0..WIDTH * pixel).map(move |x| (x, y)));
        let set =
            move |&(x, y): &(usize, usize)| rows[y / pixel] >> (WIDTH - 1 - x / pixel) & 1 == 1;
        all.filter(set).map(move |(x, y)| (left * pixel + x, y))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens::faults::IMAGE_FAULTS;

    #[test]
    fn every_name_can_be_written() {
        for plugin in IMAGE_FAULTS {
            assert!(
                plugin
                    .name
                    .chars()
                    .all(|wanted: char| LETTERS.iter().any(|(letter, _)| *letter == wanted)),
                "{}",
                plugin.name
            );
        }
        assert!(LETTERS.is_sorted_by_key(|(letter, _)| *letter));
        assert_eq!(width("ab", 2), 22);
        assert_eq!([21, 22, 33, 34].map(|wide| fitting(wide, 2)), [1, 2, 2, 3]);
        assert_eq!(pixels("-", 1).collect::<Vec<_>>(), [(1, 3), (2, 3), (3, 3)]);
        assert!(pixels("é", 1).eq(pixels("?", 1)) && pixels(" ", 1).next().is_none());
        assert!(pixels("ab1", 3).all(|(x, y)| x < width("ab1", 3) && y < 3 * HEIGHT));
    }
}
