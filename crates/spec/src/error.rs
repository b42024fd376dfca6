//! What is wrong with a campaign file, and where.

use super::location::Location;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why there is no campaign.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read the campaign file: {source}: {}", path.display())]
    Read {
        /// What went wrong.
        source: io::Error,
        /// The file.
        path: PathBuf,
    },
    /// What the path names cannot be a campaign file.
    #[error("{what}: {}", path.display())]
    NoCampaign {
        /// What it is instead.
        what: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// Something in the file is wrong; shown with its line.
    #[error(transparent)]
    Wrong(Box<Mistake>),
}

/// A mistake in a campaign file: reads as `file:line:column: message`, with the line below and a
/// mark under the place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Mistake {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1; 0 where the mistake has no place.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// What is wrong and, where it is known, what is right.
    pub message: String,
    /// How many characters are marked.
    width: usize,
    /// The line's text.
    source_line: String,
}

/// What is wrong at which place; becomes a [`Mistake`] once the file is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    /// Where it stands.
    pub at: Location,
    /// What is wrong and, where it is known, what is right.
    pub message: String,
}

impl Diagnostic {
    /// What is wrong at a place.
    pub fn new(at: Location, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }

    /// The mistake in this text of this file.
    pub fn within(self, text: &str, path: &Path) -> ConfigError {
        let Location { line, column, width } = self.at;
        let source_line = match line {
            0 => "",
            _ => text.lines().nth(line - 1).unwrap_or_default(),
        };
        let left = source_line.chars().count().saturating_sub(column.saturating_sub(1));
        ConfigError::Wrong(Box::new(Mistake {
            path: path.to_path_buf(),
            line,
            column,
            message: self.message,
            width: width.min(left).max(1),
            source_line: source_line.to_owned(),
        }))
    }
}

/// The most characters of a line that are shown before and behind the place.
const BEFORE: usize = 60;
const BEHIND: usize = 40;

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message: String = self.message.chars().map(printable).collect();
        let path = self.path.display();
        if self.line == 0 {
            return write!(f, "{path}: {message}");
        }
        let line = self.line;
        let start = self.column.saturating_sub(1);
        let skipped = start.saturating_sub(BEFORE);
        let mut shown: String = self
            .source_line
            .chars()
            .skip(skipped)
            .take(start - skipped + self.width.min(BEHIND) + BEHIND)
            .map(printable)
            .collect();
        shown.truncate(shown.trim_end().len());
        let margin = " ".repeat(line.to_string().len());
        writeln!(f, "{path}:{line}:{}: {message}", self.column)?;
        writeln!(f, "{margin} |")?;
        writeln!(f, "{line} | {shown}")?;
        let gap = " ".repeat(start - skipped);
        let mark = "^".repeat(self.width.min(BEHIND));
        write!(f, "{margin} | {gap}{mark}")
    }
}

/// A file may hold what would steer a terminal; and a mark stands below its place only where
/// every character takes one column.
fn printable(char: char) -> char {
    match char {
        '\t' => ' ',
        char if char.is_control() => '\u{fffd}',
        char => char,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree;
    use super::*;

    fn shown(text: &str) -> String {
        let tree = tree::parse(text).unwrap();
        let at = tree.get("key").unwrap().at;
        Diagnostic::new(at, "this is wrong").within(text, Path::new("a.yaml")).to_string()
    }

    #[test]
    fn the_place_is_marked() {
        let wanted = "a.yaml:2:6: this is wrong\n  |\n2 | key: abc\n  |      ^^^";
        assert_eq!(shown("a: 1\nkey: abc\n"), wanted);
        let many = "\n".repeat(11);
        assert!(shown(&format!("{many}key: ö # c")).ends_with("\n12 | key: ö # c\n   |      ^"));
        assert!(shown("{x: 1, key: {a: 1}}").ends_with("\n  |             ^"));
    }

    #[test]
    fn long_lines_are_cut_and_terminals_are_safe() {
        let text =
            format!("{{a: \"{}\", key: abc, b: \"\u{85}{}\"}}", "x".repeat(500), "y".repeat(500));
        let error = shown(&text);
        let lines: Vec<&str> = error.lines().collect();
        assert!(lines.iter().all(|line| line.chars().count() < 160), "{error}");
        let mark = lines[3].find("^^^").unwrap();
        assert_eq!(&lines[2][mark..mark + 3], "abc");
        assert_eq!(printable('\u{1b}'), '\u{fffd}');
    }

    #[test]
    fn a_mistake_without_a_place_still_names_the_file() {
        let error =
            Diagnostic::new(Location::UNKNOWN, "it is empty").within("", Path::new("a.yaml"));
        assert_eq!(error.to_string(), "a.yaml: it is empty");
    }
}
