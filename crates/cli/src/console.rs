//! The only place that prints: results to standard output, everything else to standard error.

use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};

use crate::exit;
use serde::Serialize;

/// Where results and notes go.
pub(crate) struct Console {
    results: Box<dyn Write>,
    notes: Box<dyn Write>,
    colours: bool,
    /// Whether notes go to a terminal, where a line can change.
    lively: bool,
    /// The exit status where the reader of the results leaves early.
    decided: u8,
}

/// The meaning of a coloured word in a result.
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
        let lively = io::stderr().is_terminal();
        let notes = Box::new(io::stderr().lock());
        Self { results, notes, colours, lively, decided: exit::OK }
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

    /// Settles the exit status before anything is shown: a reader that leaves early
    /// (`faultlens check RUN | grep -q …`) must not turn a verdict into another.
    pub(crate) fn decide(&mut self, status: u8) {
        self.decided = status;
    }

    /// Whether results are shown in colours.
    pub(crate) fn has_colours(&self) -> bool {
        self.colours
    }

    /// Whether notes go to a terminal, where a line can change.
    pub(crate) fn is_lively(&self) -> bool {
        self.lively
    }

    /// Columns for results: what the shell says, or what fits everywhere.
    pub(crate) fn width(&self) -> usize {
        let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
        columns.unwrap_or(100).clamp(60, 160)
    }

    /// Bytes of the result as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.results.write_all(bytes)
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

    /// Flushes the results so far: whoever started a server waits for its address.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.results.flush()
    }

    /// A line that is not part of the result.
    pub(crate) fn note(&mut self, text: impl Display) -> io::Result<()> {
        writeln!(self.notes, "{text}")
    }

    /// A note beside a long task. The task matters more than the note: where the note cannot be
    /// written, the task goes on. The same holds for the two methods below.
    pub(crate) fn aside(&mut self, text: impl Display) {
        lost(self.note(text));
    }

    /// Shows how far a long task is: in one line that changes, where notes go to a terminal.
    pub(crate) fn progress(&mut self, text: impl Display) {
        if self.lively {
            lost(write!(self.notes, "\r\x1b[2K{text}").and_then(|()| self.notes.flush()));
        }
    }

    /// Replaces the line of progress by one that stays.
    pub(crate) fn settle(&mut self, text: impl Display) {
        let start = if self.lively { "\r\x1b[2K" } else { "" };
        lost(writeln!(self.notes, "{start}{text}"));
    }

    /// Reports an error, once, and gives the exit status of the process. A reader that closes the
    /// pipe early (`faultlens … | head`) is not an error, nor is a terminal that is gone.
    pub(crate) fn finish(mut self, result: anyhow::Result<u8>) -> u8 {
        let result = result.and_then(|status| Ok(self.results.flush().map(|()| status)?));
        match result {
            Ok(status) => status,
            Err(error) if closed(&error) => self.decided,
            Err(error) => {
                lost(self.note(format_args!("error: {}", error_text(&error))));
                exit::INPUT
            }
        }
    }
}

/// Ignores an output error: a task does not stop because a note cannot be shown.
fn lost(shown: io::Result<()>) {
    let _ = shown;
}

/// An error and its causes. A cause that an error already contains in its own text is not repeated.
pub(crate) fn error_text(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

fn closed(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe || is_hung_up(error))
}

/// Whether a terminal is gone: the system then calls every write an input/output error, as it does
/// for disks, which no one prints to.
fn is_hung_up(error: &io::Error) -> bool {
    const EIO: i32 = 5;
    cfg!(unix) && error.raw_os_error() == Some(EIO)
}
