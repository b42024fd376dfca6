//! Names that people type: when one is unknown, say which one they may have meant.

/// The known name nearest to `wanted`, when it is near enough to be a likely slip.
pub fn did_you_mean<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (wanted.chars().count() / 3).clamp(1, 4);
    known
        .into_iter()
        .map(|name| (distance(&wanted.to_lowercase(), &name.to_lowercase()), name))
        .filter(|&(d, _)| d <= limit)
        .min()
        .map(|(_, name)| name)
}

/// Levenshtein distance, with one row of the table at a time.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_offered_and_far_ones_are_not() {
        let known = ["brightness", "contrast", "gaussian_noise"];
        assert_eq!(did_you_mean("brightnes", known), Some("brightness"));
        assert_eq!(did_you_mean("Contrast", known), Some("contrast"));
        assert_eq!(did_you_mean("fog", known), None);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
