//! Which way a rate went from one run to another, as far as that is known.

use super::{Compared, ComparisonTest, RunComparison};
use std::cmp::Ordering;

/// The corrected p-value below which a difference is not called chance.
const SIGNIFICANT: f64 = 0.05;

/// Which way a rate went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// Predictions change more often than in the first run.
    Worse,
    /// Predictions change less often than in the first run.
    Better,
    /// Chance may explain the difference, or there is none.
    Open,
}

impl Direction {
    /// The direction in a word.
    pub fn text(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::Better => "better",
            Self::Open => "not shown",
        }
    }
}

impl RunComparison {
    /// Which way a row of this comparison went. Without p-values an interval of the difference that
    /// leaves out zero decides; few images decide nothing.
    pub fn direction(&self, row: &Compared) -> Direction {
        let Some(difference) = row.difference else { return Direction::Open };
        let shown = match self.test {
            ComparisonTest::ByImage => row.p_value.is_some_and(|p| p < SIGNIFICANT),
            ComparisonTest::PermanentFaults => row.low > 0.0 || row.high < 0.0,
            ComparisonTest::FewImages => false,
        };
        if !shown || difference == 0.0 {
            Direction::Open
        } else if difference > 0.0 {
            Direction::Worse
        } else {
            Direction::Better
        }
    }

    /// The rows by importance: what got worse, then what got better, then the rest; the largest
    /// differences first.
    pub fn worst_first(&self) -> Vec<&Compared> {
        let mut rows: Vec<&Compared> = self.rows.iter().collect();
        rows.sort_by(|a, b| {
            let direction = self.direction(a).cmp(&self.direction(b));
            direction.then_with(|| by_size(a, b))
        });
        rows
    }
}

/// The larger difference first, unknown ones last.
fn by_size(a: &Compared, b: &Compared) -> Ordering {
    let size = |row: &Compared| row.difference.map_or(-1.0, f64::abs);
    size(b).total_cmp(&size(a))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Rate;

    fn row(what: &str, difference: Option<f64>, p_value: Option<f64>) -> Compared {
        let value = difference.unwrap_or_default();
        Compared {
            what: what.to_owned(),
            first: Rate::default(),
            second: Rate::default(),
            difference,
            low: value - 0.05,
            high: value + 0.05,
            images: 20,
            pairs: 20,
            unpaired: 0,
            p_value,
        }
    }

    fn comparison(test: ComparisonTest, rows: Vec<Compared>) -> RunComparison {
        RunComparison {
            first: "a".into(),
            second: "b".into(),
            rows,
            test,
            complete: [true, true],
            left_out: 0,
        }
    }

    #[test]
    fn what_got_worse_comes_first_and_chance_last() {
        let rows = vec![
            row("chance", Some(0.3), Some(0.2)),
            row("better", Some(-0.2), Some(0.01)),
            row("unknown", None, None),
            row("worse", Some(0.1), Some(0.001)),
            row("much worse", Some(0.2), Some(0.001)),
        ];
        let compared = comparison(ComparisonTest::ByImage, rows);
        let order: Vec<&str> = compared.worst_first().iter().map(|row| row.what.as_str()).collect();
        assert_eq!(order, ["much worse", "worse", "better", "chance", "unknown"]);
    }

    #[test]
    fn without_a_test_the_interval_decides_and_few_images_nothing() {
        let far = row("far", Some(0.2), None);
        let near = row("near", Some(0.04), None);
        let permanent = comparison(ComparisonTest::PermanentFaults, Vec::new());
        assert_eq!(permanent.direction(&far), Direction::Worse);
        assert_eq!(permanent.direction(&near), Direction::Open);
        let few = comparison(ComparisonTest::FewImages, Vec::new());
        assert_eq!(few.direction(&far), Direction::Open);
    }
}
