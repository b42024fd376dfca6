//! A report as a document: what it says, apart from the format it is written in.
//!
//! Sections build blocks, renderers write them. A text inside a block is plain text that may come
//! from outside (names of labels, files, operators): every renderer escapes it for its format.
//! Drawings are the exception: they are finished SVG and escape their own texts.

mod chart;
mod pictures;
mod reach;
mod table;

pub(crate) use chart::{Chart, Key, Mark, Plot};
pub(crate) use pictures::{
    Card, Gallery, GalleryCell, GalleryRow, InlinePicture, Line, Picture, Pictures, Stamp,
    TrialOutcome,
};
pub(crate) use reach::Reach;
pub(crate) use table::{Cell, Column, Drawn, Kind, Row, Table};

use faultlens_analysis::Verdict;

/// A whole report.
pub(crate) struct Document {
    pub(crate) header: Header,
    /// The sections that have something to show, in order.
    pub(crate) parts: Vec<Part>,
}

impl Document {
    /// A report with the sections that all have in common around its own: warnings first, method
    /// and provenance last. Those without content are left out.
    pub(crate) fn new(
        header: Header,
        warnings: Vec<String>,
        own: Vec<Part>,
        method: Vec<String>,
        provenance: Vec<(String, String)>,
    ) -> Self {
        let mut parts = Vec::new();
        if !warnings.is_empty() {
            let part = Part::new("warnings", "Warnings", Block::List(warnings));
            parts.push(part.reaching(Reach::Comment));
        }
        parts.extend(own);
        if !method.is_empty() {
            parts.push(Part::new("method", "Method", Block::List(method)));
        }
        if !provenance.is_empty() {
            parts.push(Part::new("provenance", "Provenance", Block::Facts(provenance)));
        }
        Self { header, parts }
    }
}

/// What every format starts with. Empty texts are left out.
#[derive(Default)]
pub(crate) struct Header {
    /// What kind of report this is; stands above the title.
    pub(crate) kind: &'static str,
    pub(crate) title: String,
    /// The verdict with its words, in lower case where they are not a name or a number, such as
    /// `requirements met`.
    pub(crate) verdict: Option<(Verdict, String)>,
    /// The sentence to read first; where it is empty, the first finding is.
    pub(crate) lead: String,
    /// What was found, most important first.
    pub(crate) findings: Vec<String>,
    /// The outcome of the run in one line.
    pub(crate) headline: String,
    /// What the intervals are, such as `95% intervals for new images`.
    pub(crate) interval: String,
    /// Which images the numbers speak of, in a sentence.
    pub(crate) population: String,
    /// What the report is made from, such as `from the run directory alone`.
    pub(crate) source: &'static str,
    pub(crate) figures: Vec<KeyFigure>,
    /// Requirements and pinned trials with their verdicts.
    pub(crate) checks: Vec<Check>,
}

/// A number that readers see first.
pub(crate) struct KeyFigure {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) note: String,
}

impl KeyFigure {
    /// A number with its name above and a note below.
    pub(crate) fn new(
        name: impl Into<String>,
        value: impl Into<String>,
        note: impl Into<String>,
    ) -> Self {
        Self { name: name.into(), value: value.into(), note: note.into() }
    }
}

/// Name, value and note.
impl From<&[String; 3]> for KeyFigure {
    fn from([name, value, note]: &[String; 3]) -> Self {
        Self::new(name, value, note)
    }
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
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) reach: Reach,
    /// Whether a terminal shows it right below the headline, without its title.
    pub(crate) under_headline: bool,
    /// Whether the page may show it beside its neighbours that say the same of themselves.
    pub(crate) shares_row: bool,
    /// Whether the page shows its title alone until the reader opens it.
    pub(crate) folded: bool,
    pub(crate) block: Block,
}

impl Part {
    /// A section that the page alone shows.
    pub(crate) fn new(id: impl Into<String>, title: impl Into<String>, block: Block) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            reach: Reach::Page,
            under_headline: false,
            shares_row: false,
            folded: false,
            block,
        }
    }

    /// The same, reaching as far as this.
    pub(crate) fn reaching(self, reach: Reach) -> Self {
        Self { reach, ..self }
    }
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
