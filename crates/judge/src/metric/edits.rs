//! How far one text is from another.

/// How many letters must be put in, left out or changed to make one sequence the other, at least:
/// Levenshtein's distance.
pub fn edits(a: &[usize], b: &[usize]) -> usize {
    // The distances of what was read of `a` so far to every start of `b`.
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (read, letter) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = read + 1;
        for (at, other) in b.iter().enumerate() {
            let changed = diagonal + usize::from(letter != other);
            diagonal = row[at + 1];
            row[at + 1] = changed.min(diagonal + 1).min(row[at] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn textbook_distances() {
        let classes = |text: &str| text.chars().map(|c| c as usize).collect::<Vec<_>>();
        for (a, b, wanted) in [
            ("", "", 0),
            ("stop", "stop", 0),
            ("", "stop", 4),
            ("kitten", "sitting", 3),
            ("saturday", "sunday", 3),
            ("intention", "execution", 5),
            ("ab", "ba", 2),
        ] {
            assert_eq!(edits(&classes(a), &classes(b)), wanted, "{a} {b}");
            assert_eq!(edits(&classes(b), &classes(a)), wanted, "{b} {a}");
        }
    }
}
