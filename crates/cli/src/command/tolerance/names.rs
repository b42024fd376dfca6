//! Names of faults in files: ours, and those of the published answers.

use std::path::Path;

use faultlens::did_you_mean;
use faultlens::faults::IMAGE_FAULTS;
use faultlens::report::plain;

/// The published names that differ from ours.
const PUBLISHED: [(&str, &str); 2] = [("rgb", "rgb_shift"), ("color_jitter", "colour_jitter")];

/// What stands before the fault in the name of a published table.
const MARKS: [&str; 2] = ["_c_p_", "_p_p_"];

/// Our name of a fault.
pub(super) fn fault(name: &str) -> String {
    let name = name.trim();
    let known = PUBLISHED.iter().find(|(published, _)| name.eq_ignore_ascii_case(published));
    known.map_or_else(|| name.to_owned(), |(_, own)| (*own).to_owned())
}

/// A fault's name, which comes from outside, in a message.
pub(super) fn displayed(fault: &str) -> String {
    plain(fault)
}

/// The fault that a table's file is named after.
pub(super) fn of_table(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_str()?;
    MARKS.iter().find_map(|mark| Some(fault(stem.split_once(mark)?.1)))
}

/// What to say about a fault that Faultlens does not have, so that no model can be checked
/// against its threshold.
pub(super) fn unknown(name: &str) -> Option<String> {
    let known = || IMAGE_FAULTS.iter().map(|fault| fault.name);
    if known().any(|known| known == name) {
        return None;
    }
    let hint = match did_you_mean(name, known()) {
        Some(close) => format!("did you mean {close}?"),
        None => "see `faultlens list faults`".to_owned(),
    };
    Some(format!(
        "no image fault is called {}, so no model can be checked with it; {hint}",
        displayed(name)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_names_become_ours() {
        let cases = [("RGB", "rgb_shift"), ("Color_jitter", "colour_jitter"), ("frost", "frost")];
        for (published, own) in cases {
            assert_eq!(fault(published), own);
            let path = format!("data/imagenet_c_p_{published}.csv");
            assert_eq!(of_table(Path::new(&path)), Some(own.to_owned()));
            assert_eq!(unknown(own), None, "{own}");
        }
        assert_eq!(of_table(Path::new("cifar10_p_p_frost.csv")), Some("frost".to_owned()));
        assert_eq!(of_table(Path::new("frost.csv")), None);
        assert!(unknown("frosst").unwrap().contains("did you mean frost?"));
        let note = unknown("fr\u{1b}[2Jost\n").unwrap();
        assert!(!note.contains(char::is_control), "{note:?}");
    }
}
