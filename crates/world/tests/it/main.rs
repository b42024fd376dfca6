//! Integration tests of the crate, in one program.

mod pictures;
