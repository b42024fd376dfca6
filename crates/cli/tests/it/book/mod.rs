//! The README and the book (`docs/`): every command in them runs, every link leads somewhere.

mod commands;
mod links;
mod page;
