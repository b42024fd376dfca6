//! Where credentials come from: variables and files in the home folder.

use super::super::ServiceError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

/// Credential files are small; what is larger is something else.
const MOST_BYTES: u64 = 1 << 20;

/// The variables around the process, taken once; they may be secrets, so none is ever shown.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Environment(…)")
    }
}

impl Environment {
    /// That of this process.
    pub fn here() -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self(std::env::vars_os().filter_map(text).collect())
    }

    /// One that holds these variables alone.
    pub fn of<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Self(variables.into_iter().map(owned).collect())
    }

    /// A variable that is set to something.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    /// The first of these variables that is set.
    pub(crate) fn first(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.get(name))
    }

    /// The path that a variable holds, or one in the home folder.
    pub(super) fn path(&self, variable: &str, in_home: &str) -> Option<PathBuf> {
        let home =
            || self.first(&["HOME", "USERPROFILE"]).map(|home| Path::new(home).join(in_home));
        self.get(variable).map(PathBuf::from).or_else(home)
    }
}

/// The text of a credentials file; `None` where there is no such file.
pub(super) fn read(path: &Path) -> Result<Option<String>, ServiceError> {
    let wrong = |source| ServiceError::Io {
        what: "cannot read the credentials".to_owned(),
        path: path.to_path_buf(),
        source,
    };
    let about = match fs::metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(wrong(error)),
    };
    if !about.is_file() || about.len() > MOST_BYTES {
        return Err(wrong(io::Error::other("this is no file of credentials")));
    }
    fs::read_to_string(path).map(Some).map_err(wrong)
}
