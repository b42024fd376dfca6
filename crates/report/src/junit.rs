//! Requirements and pinned trials as test cases, for continuous integration.

use crate::checks::checks;
use crate::document::Check;
use crate::escape::xml;
use crate::prose::family_name;
use faultlens_analysis::format;
use faultlens_analysis::{Rate, Summary, Verdict};
use std::fmt::Write as _;

/// The run as JUnit XML: one test case per requirement and per pinned trial.
///
/// Not met is a failure. Inconclusive is a failure too, of type `inconclusive`: servers show it as
/// not passed, with its reason; an error would say that the test itself is broken.
pub fn junit(summary: &Summary) -> String {
    let checks = checks(summary);
    let failures = checks.iter().filter(|check| check.verdict != Verdict::Met).count();
    let counts = format!("tests=\"{}\" failures=\"{failures}\" errors=\"0\"", checks.len());
    let name = xml(&summary.name);
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"faultlens\" {counts}>\n\
         <testsuite name=\"{name}\" {counts} skipped=\"0\" time=\"{:.3}\">\n",
        seconds(summary)
    );
    properties(&mut out, summary);
    for check in &checks {
        test_case(&mut out, check, &name);
    }
    out.push_str("</testsuite>\n</testsuites>\n");
    out
}

/// Readers want a number, whatever the run says.
fn seconds(summary: &Summary) -> f64 {
    let seconds = summary.progress.seconds;
    if seconds.is_finite() { seconds.max(0.0) } else { 0.0 }
}

fn test_case(out: &mut String, check: &Check, campaign: &str) {
    let class = check.class;
    let name = xml(&check.name);
    let why = xml(&check.why);
    let measured = xml(&check.measured);
    let _ = writeln!(out, "<testcase classname=\"{campaign}.{class}\" name=\"{name}\">");
    if check.verdict != Verdict::Met {
        let kind = check.verdict.text();
        let _ = writeln!(
            out,
            "<failure type=\"{}\" message=\"{kind}: {why}\">{kind}: {why}\n{measured}</failure>",
            kind.replace(' ', "_")
        );
    }
    let _ = writeln!(out, "<system-out>{measured}</system-out>\n</testcase>");
}

/// Rates as bare numbers, for tools that plot them.
fn properties(out: &mut String, summary: &Summary) {
    out.push_str("<properties>\n");
    property(out, "trials", &summary.progress.recorded.to_string());
    let single = summary.families.len() < 2;
    if single {
        rate(out, "changed", &summary.overall.rate);
    }
    for family in summary.families.iter().filter(|_| !single) {
        let name = family_name(family.family).to_lowercase().replace(' ', "_");
        rate(out, &format!("changed.{name}"), &family.tally.rate);
    }
    for target in &summary.targets {
        if single {
            rate(out, &format!("changed.{}", target.name), &target.tally.rate);
        }
        if let Some(accuracy) = &target.accuracy {
            rate(out, &format!("accuracy.{}", target.name), accuracy);
        }
    }
    out.push_str("</properties>\n");
}

fn rate(out: &mut String, name: &str, rate: &Rate) {
    let Some(value) = rate.value else { return };
    let (low, high) = format::ends(rate);
    property(out, name, &value.to_string());
    property(out, &format!("{name}.low"), &low.to_string());
    property(out, &format!("{name}.high"), &high.to_string());
    property(out, &format!("{name}.n"), &rate.n.to_string());
}

fn property(out: &mut String, name: &str, value: &str) {
    let _ = writeln!(out, "<property name=\"{}\" value=\"{}\"/>", xml(name), xml(value));
}
