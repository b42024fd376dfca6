//! How far one text is from another.

/// The Levenshtein distance: the smallest number of insertions, deletions and replacements that turn
/// one sequence into the other. By dynamic programming (Wagner and Fischer 1974) with one row of the
/// table at a time.
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

    fn classes(text: &str) -> Vec<usize> {
        text.chars().map(|c| c as usize).collect()
    }

    #[test]
    fn textbook_distances() {
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
