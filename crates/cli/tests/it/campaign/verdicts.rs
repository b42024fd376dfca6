//! What the exit status of `check` says.

use super::small::{self, SMALL, assert_keys, done, object};
use crate::folder::Folder;

/// Nothing crashes here: no event in 176 trials shows a rate below 5% on these four images, and none
/// below 0.1%.
const MET: &str = "  - {rate: crashed, at_most: 0.05, population: these_images, name: stays up}\n";
const OPEN: &str = "  - {rate: crashed, at_most: 0.001, population: these_images}\n";
/// Some flips of the highest bit of the exponent change the answer.
const NOT_MET: &str =
    "  - {rate: changed, at_most: 0.0001, population: these_images, where: {fault: bit_flip}}\n";

/// The campaign's run, checked with these requirements.
fn require(folder: &Folder, requirements: &[&str]) -> (i32, serde_json::Value) {
    let list = requirements.concat();
    let list = if list.is_empty() { list } else { format!("requirements:\n{list}") };
    folder.text("small.yaml", &format!("{SMALL}{list}"));
    // Limits do not decide records, so the run takes the new ones over.
    let run = done(folder, "run small.yaml");
    assert!(run.stderr.contains("complete: 0 trials"), "{}", run.stderr);
    let check = folder.run("check run --json");
    (check.status, object(&check))
}

#[test]
fn the_exit_status_is_that_of_the_worst_verdict() {
    let folder = small::finished("verdicts");
    for (requirements, status, verdict) in [
        (&[][..], 3, None),
        (&[MET], 0, Some("met")),
        (&[OPEN], 3, Some("inconclusive")),
        (&[NOT_MET], 1, Some("not_met")),
        (&[MET, OPEN], 3, Some("inconclusive")),
        (&[OPEN, NOT_MET, MET], 1, Some("not_met")),
    ] {
        let (found, told) = require(&folder, requirements);
        assert_eq!(found, status, "{requirements:?}: {told}");
        assert_keys(&told, &["verdict", "complete", "requirements", "preserved", "pinned"]);
        assert_eq!(told["verdict"].as_str(), verdict);
        assert_eq!(told["requirements"].as_array().unwrap().len(), requirements.len());
        // A run does what it was asked to do, whatever comes of it; to judge is what check is for.
        assert_eq!(told["complete"], true);
    }
}

#[test]
fn verdicts_are_told_and_written_for_continuous_integration() {
    let folder = small::finished("junit");
    require(&folder, &[MET, OPEN, NOT_MET]);
    let check = folder.run("check run --junit verdicts.xml");
    assert_eq!(check.status, 1);
    for wanted in ["met           stays up: crashed ≤ 5%", "inconclusive  crashed", "not met "] {
        assert!(check.stdout.contains(wanted), "{}", check.stdout);
    }
    assert!(check.stdout.contains("more trials would narrow it"), "{}", check.stdout);
    // Four images say nothing about others, whatever their trials.
    require(&folder, &["  - {rate: crashed, at_most: 0.5}\n"]);
    let check = folder.run("check run");
    assert_eq!(check.status, 3);
    assert!(check.stdout.contains("4 images say nothing about new images"), "{}", check.stdout);
    require(&folder, &[MET, OPEN, NOT_MET]);
    let xml = std::fs::read_to_string(folder.path("verdicts.xml")).unwrap();
    assert!(xml.starts_with("<?xml") && xml.contains("stays up"), "{xml}");
    // What nobody knows is no pass.
    assert!(xml.contains("tests=\"3\"") && xml.contains("failures=\"2\""), "{xml}");
    assert_eq!(done(&folder, "report run --format junit").stdout.trim_end(), xml.trim_end());
    done(&folder, "run small.yaml --junit same.xml");
    assert_eq!(std::fs::read_to_string(folder.path("same.xml")).unwrap(), xml);
}

#[test]
fn nothing_required_is_said() {
    let folder = small::finished("nothing_required");
    let check = folder.run("check run");
    assert_eq!((check.status, check.stdout.as_str()), (3, ""));
    assert!(check.stderr.contains("there is nothing to check"), "{}", check.stderr);
}

#[test]
fn a_misspelt_attribute_is_no_pass_and_is_told() {
    let folder = small::finished("misspelt");
    let slip = NOT_MET.replace("where: {fault:", "where: {falt:");
    let text = format!("{SMALL}requirements:\n{MET}{slip}");
    folder.text("small.yaml", &text);
    let run = folder.run("run small.yaml");
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("\"falt\"; did you mean \"fault\"?"), "{}", run.stderr);
}
