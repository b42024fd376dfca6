//! What files beside a campaign's are read with, so that mistakes in them are reported in the same
//! way.

pub use super::error::Diagnostic;
pub use super::legacy::rename_keys;
pub use super::location::{At, Location};
pub use super::plugin::{Form, json as settings_json, label};
pub use super::registry::{Faults, ListOf};
pub use super::section::read;
pub use super::tree::{Entry, Node, Value, parse};
pub use super::values::{NameOf, Names, NonEmpty, Text, Texts, Whole};
pub use super::words::known;

use super::{ConfigError, DefenceSpec, FaultPoint, cases, fault};
use faultlens_faults::DEFENCES;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A campaign file is small; what is larger is something else.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The text of a file, refused where it cannot be one that people write.
pub fn text(path: &Path) -> Result<String, ConfigError> {
    let wrong = |source| ConfigError::Read { source, path: path.to_path_buf() };
    let refused = |what| Err(ConfigError::NoCampaign { what, path: path.to_path_buf() });
    let file = File::open(path).map_err(wrong)?;
    if !file.metadata().map_err(wrong)?.is_file() {
        return refused("a campaign is a file, and this is none");
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(wrong)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return refused("a campaign file has at most 1 MB, and this has more");
    }
    String::from_utf8(bytes).or_else(|_| refused("a campaign file is UTF-8 text, and this is not"))
}

/// The fault points of a list as a campaign has it below `faults`.
pub fn faults(list: &ListOf<Faults>) -> Result<Vec<FaultPoint>, Diagnostic> {
    fault::points(&list.entries, None)
}

/// A defence as a target has it.
pub fn defence(entry: &Node) -> Result<DefenceSpec, Diagnostic> {
    DefenceSpec::read(entry)
}

/// The names of all defences that a target can have.
pub fn defence_names() -> Vec<&'static str> {
    DEFENCES.iter().map(|defence| defence.name).collect()
}

/// The name of a data set: `world:KIND`, or a path from the folder of the file.
pub fn data(name: &At<Text>, base: &Path) -> Result<String, Diagnostic> {
    cases::path_or_world(name, base)
}
