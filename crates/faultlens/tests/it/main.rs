//! The library as a whole.

mod structure;
