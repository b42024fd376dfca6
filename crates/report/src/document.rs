//! A report as a document: what it says, apart from the format it is written in.
//!
//! Sections build blocks, renderers write them. A text inside a block is plain text that may come
//! from outside (names of labels, files, operators): every renderer escapes it for its format.
//! Drawings are the exception: they are finished SVG and escape their own texts.

use crate::image::Room;
use faultlens_analysis::format;
use faultlens_analysis::{Mean, Rate, Verdict};

/// How far a section or a column of a table reaches: the page has all, the others choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// The page alone.
    Page,
    /// The page and Markdown, such as a comment on a pull request.
    Comment,
    /// Every format, also the few lines of a terminal.
    Terminal,
}

/// A whole report.
pub(crate) struct Document {
    pub(crate) header: Header,
    /// The sections that have something to show, in order.
    pub(crate) parts: Vec<Part>,
}

/// What every format starts with.
pub(crate) struct Header {
    pub(crate) title: String,
    pub(crate) verdict: Option<Verdict>,
    /// What was found, most important first.
    pub(crate) findings: Vec<String>,
    /// The outcome of the run in one line.
    pub(crate) headline: String,
    /// What the intervals are, such as `Wilson 95% intervals`.
    pub(crate) interval: String,
    pub(crate) figures: Vec<KeyFigure>,
    /// Requirements and pinned trials with their verdicts.
    pub(crate) checks: Vec<Check>,
}

/// A number that readers see first.
pub(crate) struct KeyFigure {
    pub(crate) name: &'static str,
    pub(crate) value: String,
    pub(crate) note: String,
}

/// A requirement or a pinned trial with its verdict.
pub(crate) struct Check {
    /// What kind of check it is, for tools that group test cases by it.
    pub(crate) class: &'static str,
    pub(crate) name: String,
    pub(crate) verdict: Verdict,
    pub(crate) why: String,
    /// What was measured, in full.
    pub(crate) measured: String,
    /// What was measured, in as few characters as possible.
    pub(crate) brief: String,
}

/// A section with what it has to show.
pub(crate) struct Part {
    /// What links lead to.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) reach: Reach,
    /// Whether a terminal shows it right below the headline, without its title.
    pub(crate) under_headline: bool,
    pub(crate) block: Block,
}

/// A piece of a report.
pub(crate) enum Block {
    /// A paragraph.
    Prose(Prose),
    /// A list of sentences.
    List(Vec<String>),
    /// Names with their values.
    Facts(Vec<(String, String)>),
    /// A table.
    Table(Table),
    /// A chart.
    Chart(Chart),
    /// Small charts on the same scale, to compare.
    Charts(Vec<Chart>),
    /// What marks in the blocks that follow mean.
    Legend(Vec<Key>),
    /// Pictures of trials.
    Pictures(Pictures),
    /// Blocks side by side where there is room.
    Beside(Vec<Block>),
    /// Blocks that belong together.
    Group(Group),
}

/// A paragraph.
pub(crate) struct Prose {
    pub(crate) text: String,
    /// A note explains what follows; short formats leave it out.
    pub(crate) note: bool,
}

/// Blocks that belong together.
#[derive(Default)]
pub(crate) struct Group {
    /// What links lead to.
    pub(crate) id: Option<String>,
    pub(crate) title: Option<String>,
    /// Whether it starts closed; short formats leave it out.
    pub(crate) folded: bool,
    pub(crate) blocks: Vec<Block>,
}

impl Block {
    /// An explanation of what follows.
    pub(crate) fn note(text: impl Into<String>) -> Self {
        Self::Prose(Prose { text: text.into(), note: true })
    }

    /// A paragraph of the report's own text.
    pub(crate) fn paragraph(text: impl Into<String>) -> Self {
        Self::Prose(Prose { text: text.into(), note: false })
    }

    /// Several blocks without a title of their own.
    pub(crate) fn all(blocks: Vec<Self>) -> Self {
        Self::Group(Group { blocks, ..Group::default() })
    }

    /// Several blocks below a title.
    pub(crate) fn titled(title: impl Into<String>, blocks: Vec<Self>) -> Self {
        Self::Group(Group { title: Some(title.into()), blocks, ..Group::default() })
    }

    /// Several blocks that the reader opens when wanted.
    pub(crate) fn folded(title: impl Into<String>, blocks: Vec<Self>) -> Self {
        Self::Group(Group { title: Some(title.into()), folded: true, blocks, ..Group::default() })
    }
}

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
    row.cells.get(column).and_then(|cell| cell.sort).unwrap_or(-1.0)
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
}

impl From<Vec<Cell>> for Row {
    fn from(cells: Vec<Cell>) -> Self {
        Self { cells, part: false }
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
        Self { text: text.into(), sort: Some(value.unwrap_or(-1.0)), ..Self::default() }
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
        Self { verdict: Some(verdict), ..Self::text(verdict.text()) }
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

/// A chart.
#[derive(Default)]
pub(crate) struct Chart {
    /// The finished drawing.
    pub(crate) svg: String,
    pub(crate) plot: Plot,
    pub(crate) title: Option<String>,
    pub(crate) caption: Option<String>,
    pub(crate) legend: Vec<Key>,
    /// What can be seen in it, in sentences.
    pub(crate) notes: Vec<String>,
}

/// Which margins the style sheet keeps free for a chart's labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Plot {
    /// None: the chart fills the width.
    #[default]
    Whole,
    /// For names left of rows.
    Dots,
    /// For the ticks of a vertical axis of rates.
    Lines,
    /// For the ticks of both axes.
    Xy,
}

/// What a mark means.
pub(crate) struct Key {
    pub(crate) mark: Mark,
    pub(crate) text: String,
}

/// A mark of a legend.
pub(crate) enum Mark {
    /// The line style of a chart.
    Line(usize),
    /// A rectangle of a class of the style sheet.
    Swatch(String),
}

/// A picture of the run directory.
pub(crate) struct Picture {
    /// The path below the run directory, or why there is no picture.
    pub(crate) source: Result<String, &'static str>,
    /// What it shows, for those who do not see it.
    pub(crate) alt: String,
    pub(crate) caption: Option<&'static str>,
}

/// Pictures of trials.
pub(crate) enum Pictures {
    /// Trials one by one, with both predictions.
    Cards(Vec<Card>),
    /// Small pictures with a name.
    Stamps(Vec<Stamp>),
    /// A row for each case, a column for each fault.
    Gallery(Gallery),
}

impl Pictures {
    /// Every picture with the room that it is shown in.
    pub(crate) fn each(&self) -> Vec<(&Picture, Room)> {
        match self {
            Self::Cards(cards) => {
                cards.iter().flat_map(|card| &card.pictures).map(|one| (one, Room::Card)).collect()
            }
            Self::Stamps(stamps) => {
                stamps.iter().map(|stamp| (&stamp.picture, Room::Stamp)).collect()
            }
            Self::Gallery(gallery) => {
                let cells = gallery.rows.iter().flat_map(|row| &row.cells);
                cells.flat_map(|cell| &cell.pictures).map(|one| (one, Room::Gallery)).collect()
            }
        }
    }
}

/// A trial to look at.
pub(crate) struct Card {
    pub(crate) title: String,
    /// The outcome in words, and its class in the style sheet.
    pub(crate) outcome: (String, &'static str),
    pub(crate) pictures: Vec<Picture>,
    /// Whether large pictures have the card's width, so that frames around small objects are seen.
    pub(crate) wide: bool,
    /// Names with their values, each of one or more lines.
    pub(crate) facts: Vec<(&'static str, Vec<String>)>,
    /// Titles with the lines of a prediction.
    pub(crate) predictions: Vec<(&'static str, Vec<Line>)>,
    /// What shows the trial again.
    pub(crate) command: String,
}

/// A line of a prediction.
pub(crate) struct Line {
    pub(crate) label: String,
    pub(crate) score: String,
    /// The score as a finished drawing.
    pub(crate) bar: Option<String>,
}

/// A small picture with a name.
pub(crate) struct Stamp {
    pub(crate) picture: Picture,
    pub(crate) name: String,
    pub(crate) notes: Vec<String>,
}

/// Pictures by case and fault.
pub(crate) struct Gallery {
    pub(crate) caption: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<GalleryRow>,
}

/// One case.
pub(crate) struct GalleryRow {
    pub(crate) name: String,
    pub(crate) cells: Vec<GalleryCell>,
}

/// Pictures of a trial with its outcome.
pub(crate) struct GalleryCell {
    pub(crate) pictures: Vec<Picture>,
    pub(crate) outcome: Option<TrialOutcome>,
}

/// The outcome of a trial.
pub(crate) struct TrialOutcome {
    /// Its class in the style sheet.
    pub(crate) class: &'static str,
    pub(crate) name: String,
    /// Changed objects, or why the trial was skipped.
    pub(crate) why: Option<String>,
    pub(crate) number: String,
}
