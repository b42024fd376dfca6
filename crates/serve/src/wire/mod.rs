//! One file per wire format, one line in [`FORMATS`].

mod azure;
mod format;
mod google;
mod ibm;
mod kserve;
mod multipart;
mod rekognition;
mod tensors;

use faultlens_core::did_you_mean;
pub(crate) use format::Failure;
pub use format::Format;

/// Every wire format, in alphabetical order. Add yours here.
pub const FORMATS: &[Format] =
    &[azure::AZURE, google::GOOGLE, ibm::IBM, kserve::KSERVE, rekognition::REKOGNITION];

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
        if let Some(format) = FORMATS.iter().find(|format| format.name == name) {
            return Ok(format);
        }
        let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        let hint = match did_you_mean(name, names.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("known are {}", names.join(", ")),
        };
        Err(UnknownFormat { name: name.to_owned(), hint })
    }
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
}
