//! Names of the first release that campaign files may still use. Each is read as its new name,
//! and a warning says which line to change.

use crate::tree::{Node, Value};
use faultlens_core::OutcomeKind;
use faultlens_targets::service::RENAMED_KEYS;

/// Replaces the old names of a campaign file, and says for each what it is called now.
pub(super) fn replace_old_names(tree: &mut Node) -> Vec<String> {
    let mut warnings = Vec::new();
    for target in tree.get_mut("targets").map(Node::list_mut).unwrap_or_default() {
        if let Some(service) = target.get_mut("service") {
            rename_keys(service, RENAMED_KEYS, &mut warnings);
        }
    }
    for requirement in tree.get_mut("requirements").map(Node::list_mut).unwrap_or_default() {
        if let Some(rate) = requirement.get_mut("rate") {
            rename_outcome(rate, &mut warnings);
        }
    }
    warnings
}

/// Renames keys of a map; one that has the new name beside the old one is left to the reader,
/// which refuses it.
pub fn rename_keys(node: &mut Node, renamed: &[(&str, &str)], warnings: &mut Vec<String>) {
    for &(old, new) in renamed {
        if node.get(new).is_some() {
            continue;
        }
        let Value::Map(entries) = &mut node.value else { return };
        for entry in entries.iter_mut().filter(|entry| entry.key == old) {
            let line = entry.key_at.line;
            warnings.push(format!("line {line}: {old} is called {new} now; rename it"));
            new.clone_into(&mut entry.key);
        }
    }
}

fn rename_outcome(node: &mut Node, warnings: &mut Vec<String>) {
    let Value::Text(name) = &mut node.value else { return };
    if OutcomeKind::named(name).is_some() {
        return;
    }
    if let Some(outcome) = OutcomeKind::from_legacy_name(name) {
        let line = node.at.line;
        warnings.push(format!("line {line}: {name} is called {outcome} now; rename it"));
        *name = outcome.name().to_owned();
    }
}

#[cfg(test)]
mod tests {
    use crate::Campaign;
    use std::path::Path;

    const NEW: &str = "
targets:
  - {service: {provider: google, labels: [Adult], limits: {rate: 3}}}
cases: {data: world:signs:5}
faults: [{fault: fog, severity: 3}]
requirements: [{rate: changed, at_most: 0.05}]
";

    #[test]
    fn old_names_mean_what_the_new_ones_mean_and_are_warned_about() {
        let old = NEW
            .replace("provider:", "of:")
            .replace("labels:", "considered:")
            .replace("limits:", "manners:")
            .replace("rate: changed", "rate: deviated");
        let path = Path::new("old.yaml");
        let new = Campaign::parse(NEW, path).unwrap();
        let read = Campaign::parse(&old, path).unwrap();
        assert_eq!(new.warnings, Vec::<String>::new());
        assert_eq!(read.fingerprint(), new.fingerprint());
        assert_eq!(read.requirements[0].to_string(), new.requirements[0].to_string());
        assert_eq!(
            read.warnings,
            [
                "line 3: of is called provider now; rename it",
                "line 3: considered is called labels now; rename it",
                "line 3: manners is called limits now; rename it",
                "line 6: deviated is called changed now; rename it",
            ]
        );
    }
}
