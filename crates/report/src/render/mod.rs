//! One renderer for each format, over the blocks of a document.

pub(crate) mod html;
pub(crate) mod markdown;
pub(crate) mod terminal;
