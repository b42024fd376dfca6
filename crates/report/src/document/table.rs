//! Tables: columns, rows and cells.

use super::reach::Reach;
use faultlens_analysis::format;
use faultlens_analysis::{Mean, Rate, Verdict};

/// A table.
#[derive(Default)]
pub(crate) struct Table {
    /// What the table shows, for those who do not see where it stands.
    pub(crate) caption: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
    /// Rows below all others, such as totals.
    pub(crate) totals: Vec<Row>,
    /// Whether the page lets readers sort and filter it.
    pub(crate) sortable: bool,
    /// The column whose highest values decide which rows a format with little room keeps; the
    /// first rows where there is none.
    pub(crate) keep_highest: Option<usize>,
    /// A class of the page's style sheet.
    pub(crate) class: Option<&'static str>,
}

impl Table {
    /// At most so many whole rows, in the table's order: the first ones, or those with the highest
    /// values of the column that decides.
    pub(crate) fn most_important(&self, most: usize) -> Vec<&Row> {
        let mut rows: Vec<(usize, &Row)> =
            self.rows.iter().filter(|row| !row.part).enumerate().collect();
        if let Some(column) = self.keep_highest {
            rows.sort_by(|a, b| value(b.1, column).total_cmp(&value(a.1, column)));
        }
        rows.truncate(most);
        rows.sort_by_key(|(at, _)| *at);
        rows.into_iter().map(|(_, row)| row).collect()
    }

    /// At most so many whole rows whose deciding value is known, the highest first; the first rows
    /// where no column decides.
    pub(crate) fn highest(&self, most: usize) -> Vec<&Row> {
        let mut rows: Vec<&Row> = self.rows.iter().filter(|row| !row.part).collect();
        if let Some(column) = self.keep_highest {
            rows.retain(|row| value(row, column) >= 0.0);
            rows.sort_by(|a, b| value(b, column).total_cmp(&value(a, column)));
        }
        rows.truncate(most);
        rows
    }
}

/// What a row is sorted by in this column.
fn value(row: &Row, column: usize) -> f64 {
    row.cells.get(column).and_then(|cell| cell.sort).unwrap_or(f64::NEG_INFINITY)
}

/// A column of a table.
#[derive(Clone)]
pub(crate) struct Column {
    pub(crate) title: String,
    pub(crate) kind: Kind,
    pub(crate) reach: Reach,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What the row is about.
    Name,
    /// Other text.
    Text,
    /// Numbers.
    Number,
    /// A drawing, in the page alone.
    Drawing,
}

impl Column {
    /// What rows are about.
    pub(crate) fn name(title: impl Into<String>) -> Self {
        Self { title: title.into(), kind: Kind::Name, reach: Reach::Terminal }
    }

    /// Text.
    pub(crate) fn text(title: impl Into<String>) -> Self {
        Self { title: title.into(), kind: Kind::Text, reach: Reach::Comment }
    }

    /// Numbers.
    pub(crate) fn number(title: impl Into<String>) -> Self {
        Self { title: title.into(), kind: Kind::Number, reach: Reach::Comment }
    }

    /// A drawing.
    pub(crate) fn drawing(title: impl Into<String>) -> Self {
        Self { title: title.into(), kind: Kind::Drawing, reach: Reach::Page }
    }

    /// The same, reaching as far as this.
    pub(crate) fn reaching(self, reach: Reach) -> Self {
        Self { reach, ..self }
    }
}

/// A row of a table.
#[derive(Default)]
pub(crate) struct Row {
    pub(crate) cells: Vec<Cell>,
    /// Whether it is a part of the row above it.
    pub(crate) part: bool,
    /// What marks this row among the others, such as `recommended`.
    pub(crate) chosen: Option<&'static str>,
}

impl From<Vec<Cell>> for Row {
    fn from(cells: Vec<Cell>) -> Self {
        Self { cells, ..Self::default() }
    }
}

/// A cell of a table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    pub(crate) text: String,
    /// A second line.
    pub(crate) note: Option<String>,
    /// What it is sorted by; unknown numbers sort below all others.
    pub(crate) sort: Option<f64>,
    /// The id of a section or group that the text links to.
    pub(crate) link: Option<String>,
    /// What a terminal draws beside the text.
    pub(crate) drawn: Option<Drawn>,
    pub(crate) verdict: Option<Verdict>,
    /// The class of an outcome's colour in the style sheet, shown before the text.
    pub(crate) swatch: Option<&'static str>,
    /// How dark the page draws the cell's ground, from 0.
    pub(crate) shade: Option<usize>,
    /// What the page shows to who points at the cell.
    pub(crate) hint: Option<String>,
    /// A finished drawing.
    pub(crate) svg: Option<String>,
}

/// A number as a terminal draws it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Drawn {
    /// A bar, of a share from 0 to 1.
    Share(f64),
    /// A dot on its interval: low, value, high.
    Interval(f64, f64, f64),
}

impl Cell {
    /// Text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A number as it is shown, and its value; unknown values sort below all others.
    pub(crate) fn number(text: impl Into<String>, value: Option<f64>) -> Self {
        let sort = Some(value.unwrap_or(f64::NEG_INFINITY));
        Self { text: text.into(), sort, ..Self::default() }
    }

    /// A count.
    pub(crate) fn count(count: u64) -> Self {
        Self::number(format::count(count), Some(count as f64))
    }

    /// A share in percent; a dash where it is unknown.
    pub(crate) fn percent(share: Option<f64>) -> Self {
        let text = share.map(|share| format!("{}%", format::percent(share)));
        Self::number(text.unwrap_or_else(|| format::NONE.into()), share)
    }

    /// A rate with its interval.
    pub(crate) fn rate(rate: &Rate) -> Self {
        let (low, high) = format::ends(rate);
        Self {
            drawn: rate.value.map(|value| Drawn::Interval(low, value, high)),
            ..Self::number(format::rate(rate), rate.value)
        }
    }

    /// A difference of shares in percentage points, with its interval.
    pub(crate) fn points(mean: &Mean) -> Self {
        let text = match mean.value {
            None => format::NONE.into(),
            Some(value) => {
                let [value, low, high] =
                    [value, mean.low, mean.high].map(|share| format::number(100.0 * share, 3));
                format!("{value} [{low}, {high}]")
            }
        };
        Self::number(text, mean.value)
    }

    /// A verdict.
    pub(crate) fn verdict(verdict: Verdict) -> Self {
        Self::verdict_as(verdict, verdict.text())
    }

    /// A verdict in other words.
    pub(crate) fn verdict_as(verdict: Verdict, text: impl Into<String>) -> Self {
        Self { verdict: Some(verdict), ..Self::text(text) }
    }

    /// A drawing.
    pub(crate) fn svg(svg: String) -> Self {
        Self { svg: Some(svg), ..Self::default() }
    }

    /// The same with a second line.
    pub(crate) fn with_note(self, note: impl Into<String>) -> Self {
        Self { note: Some(note.into()), ..self }
    }
}
