//! Charts with their legends.

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
