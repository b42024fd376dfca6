//! Where credentials come from: variables and files in the home folder.

use super::super::error::ServiceError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

/// Credential files are small; what is larger is something else.
const MAX_BYTES: u64 = 1 << 20;

/// Environment variables, read once; they may be secrets, so none is ever shown.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Environment(…)")
    }
}

impl Environment {
    /// The environment of this process.
    pub fn here() -> Self {
        let mut variables = BTreeMap::new();
        for (name, value) in std::env::vars_os() {
            // Variables that are not Unicode hold no credentials.
            if let (Ok(name), Ok(value)) = (name.into_string(), value.into_string()) {
                variables.insert(name, value);
            }
        }
        Self(variables)
    }

    /// An environment of these variables alone.
    pub fn of<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let variables = variables.into_iter();
        Self(variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    /// A variable, where it is set and not empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    /// The first of these variables that is set.
    pub(crate) fn first(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.get(name))
    }

    /// The path that a variable holds, or one in the home folder.
    pub(super) fn path(&self, variable: &str, in_home: &str) -> Option<PathBuf> {
        if let Some(path) = self.get(variable) {
            return Some(PathBuf::from(path));
        }
        let home = self.first(&["HOME", "USERPROFILE"])?;
        Some(Path::new(home).join(in_home))
    }
}

/// The text of a credentials file; `None` where there is no such file.
pub(super) fn read(path: &Path) -> Result<Option<String>, ServiceError> {
    let failed = || ServiceError::io("cannot read the credentials", path);
    let about = match fs::metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed()(error)),
    };
    if !about.is_file() || about.len() > MAX_BYTES {
        return Err(failed()(io::Error::other("this is not a credentials file")));
    }
    fs::read_to_string(path).map(Some).map_err(failed())
}
