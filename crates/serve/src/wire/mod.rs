//! One file per wire format, one line in [`FORMATS`].

mod azure;
mod google;
mod ibm;
mod kserve;
mod multipart;
mod rekognition;
mod tensors;

use crate::exchange::{Answer, Asked};
use crate::model::View;
use faultlens_core::did_you_mean;
use std::fmt;

/// A service's way of asking and answering.
pub(crate) trait Wire: Send + Sync {
    /// How large a request may be before anybody looks into it.
    fn most_bytes(&self) -> usize;

    /// Lets a request in, or answers as the provider does to wrong credentials. `keys` is never
    /// empty.
    fn admit(&self, asked: &Asked, keys: &[String]) -> Result<(), Answer>;

    /// The answer, or the provider's own error.
    fn answer(&self, asked: &Asked, model: View<'_>) -> Result<Answer, Answer>;

    /// What the provider says when the trouble is not in the request.
    fn trouble(&self, trouble: Trouble) -> Answer;
}

/// Why a server does not answer a good request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// Too many requests; to be repeated.
    Throttled,
    /// An error inside, with this status; to be repeated.
    Broken(u16),
    /// The request has more bytes than are read.
    TooLarge,
    /// The request did not arrive in time, or not whole.
    Incomplete,
}

/// What a client may be told to wait before it asks again, in seconds.
const RETRY_AFTER: &str = "1";

/// A wire format that a model can be served in.
pub struct Format {
    /// What `--as` calls it.
    pub name: &'static str,
    /// The service and what it is asked for.
    pub about: &'static str,
    pub(crate) wire: &'static dyn Wire,
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Every wire format, in alphabetical order. Add yours here.
pub const FORMATS: &[Format] = &[
    Format {
        name: "azure",
        about: "Azure AI Vision 3.2 and 4.0 (tags, objects, read, adult), Face",
        wire: &azure::Azure,
    },
    Format {
        name: "google",
        about: "Google Cloud Vision (labels, objects, text, faces, safe search)",
        wire: &google::Google,
    },
    Format { name: "ibm", about: "IBM MAX object detector", wire: &ibm::Ibm },
    Format {
        name: "kserve",
        about: "Open Inference Protocol v2, tensors in JSON and binary",
        wire: &kserve::Kserve,
    },
    Format {
        name: "rekognition",
        about: "Amazon Rekognition (labels, text, faces, moderation, celebrities)",
        wire: &rekognition::Rekognition,
    },
];

/// No wire format has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no wire format is called \"{name}\"; {hint}")]
pub struct UnknownFormat {
    name: String,
    hint: String,
}

impl Format {
    /// The format of this name.
    pub fn find(name: &str) -> Result<&'static Self, UnknownFormat> {
        FORMATS.iter().find(|format| format.name == name).ok_or_else(|| {
            let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
            let hint = match did_you_mean(name, names.iter().copied()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("known are {}", names.join(", ")),
            };
            UnknownFormat { name: name.to_owned(), hint }
        })
    }
}

/// Whether a token is one of the keys, compared in a time that does not depend on where they
/// differ.
fn known(keys: &[String], token: &str) -> bool {
    let same = |key: &String| {
        let differing = key.bytes().zip(token.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        key.len() == token.len() && differing == 0
    };
    keys.iter().filter(|key| same(key)).count() > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_found_by_name() {
        assert!(FORMATS.is_sorted_by_key(|format| format.name));
        for format in FORMATS {
            assert_eq!(Format::find(format.name).unwrap().about, format.about);
        }
        let error = Format::find("gogle").err().unwrap().to_string();
        assert!(error.contains("did you mean \"google\"?"), "{error}");
    }

    #[test]
    fn only_the_whole_key_opens() {
        let keys = ["secret".to_owned(), "other".to_owned()];
        assert!(known(&keys, "secret") && known(&keys, "other"));
        for wrong in ["", "secre", "secrets", "Secret"] {
            assert!(!known(&keys, wrong), "{wrong}");
        }
    }
}
