//! The only place that prints: results to standard output, everything else to standard error.

use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};

use faultlens::exit;
use serde::Serialize;

/// Where results and notes go.
pub(crate) struct Console {
    results: Box<dyn Write>,
    notes: Box<dyn Write>,
    colours: bool,
}

/// What a word in the result means for the reader.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tint {
    Good,
    Warning,
    Bad,
}

impl Console {
    /// The terminal, or what it is redirected to.
    pub(crate) fn standard() -> Self {
        let colours = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        let results = Box::new(io::stdout().lock());
        Self { results, notes: Box::new(io::stderr().lock()), colours }
    }

    /// The text in its colour, where the reader has colours.
    pub(crate) fn tinted(&self, tint: Tint, text: &str) -> String {
        let code = match tint {
            Tint::Good => 32,
            Tint::Warning => 33,
            Tint::Bad => 31,
        };
        if self.colours { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// A line of the result.
    pub(crate) fn line(&mut self, text: impl Display) -> io::Result<()> {
        writeln!(self.results, "{text}")
    }

    /// The result, or a part of it, as one line of JSON.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        let text = serde_json::to_string(value)?;
        Ok(self.line(text)?)
    }

    /// A line that is not part of the result.
    pub(crate) fn note(&mut self, text: impl Display) -> io::Result<()> {
        writeln!(self.notes, "{text}")
    }

    /// Reports an error, once, and says which exit status the process has. A reader that has
    /// seen enough (`faultlens … | head`) is no error.
    pub(crate) fn finish(mut self, result: anyhow::Result<u8>) -> u8 {
        let result = result.and_then(|status| Ok(self.results.flush().map(|()| status)?));
        match result {
            Ok(status) => status,
            Err(error) if closed(&error) => exit::OK,
            Err(error) => match self.note(format_args!("error: {error:#}")) {
                Ok(()) | Err(_) => exit::INPUT,
            },
        }
    }
}

fn closed(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
