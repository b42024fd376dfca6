//! Numbers and columns as people read them.

pub(crate) use faultlens::analysis::format::{count as grouped, duration as time};
use faultlens::report::plain;

/// Rounded with a unit: `386 M`.
pub(crate) fn rounded(n: u64) -> String {
    let units = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    match units.iter().find(|(unit, _)| n as f64 >= *unit) {
        Some((unit, name)) => {
            let value = n as f64 / unit;
            let digits = if value < 10.0 {
                2
            } else if value < 100.0 {
                1
            } else {
                0
            };
            format!("{value:.digits$} {name}")
        }
        None => n.to_string(),
    }
}

/// Scores with as many digits as tell them apart at a glance; any size fits the column.
pub(crate) fn score(value: f32) -> String {
    match value.abs() {
        size if !size.is_finite() => value.to_string(),
        size if size >= 1e6 => format!("{value:.3e}"),
        _ => format!("{value:.4}"),
    }
}

/// A share as a bar of so many cells.
pub(crate) fn bar(share: f64, width: usize) -> String {
    let full = ((share * width as f64) as usize).min(width);
    "█".repeat(full) + &"░".repeat(width - full)
}

/// Which side of its column a text keeps to.
#[derive(Clone, Copy)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Lines of a table: columns as wide as their widest cell, two spaces between.
pub(crate) fn table<const N: usize>(align: [Align; N], rows: &[[String; N]]) -> Vec<String> {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut lines = Vec::with_capacity(rows.len());
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            // Names come from outside: they must not control the terminal.
            let text = plain(cell);
            let width = widths[column];
            line.push_str(&match align[column] {
                Align::Left => format!("{text:<width$}  "),
                Align::Right => format!("{text:>width$}  "),
            });
        }
        lines.push(line.trim_end().to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(rounded(385_900_000), "386 M");
        assert_eq!(rounded(4_652_008), "4.65 M");
        assert_eq!(rounded(999), "999");
        assert_eq!(score(0.5), "0.5000");
        assert_eq!(score(f32::NAN), "NaN");
        assert_eq!(score(-1e30), "-1.000e30");
    }

    #[test]
    fn columns_line_up() {
        let rows = [["a".into(), "1".into()], ["bcd".into(), "22".into()]];
        assert_eq!(table([Align::Left, Align::Right], &rows), ["a     1", "bcd  22"]);
    }
}
