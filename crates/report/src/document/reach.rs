//! How far parts of a document reach.

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
