//! Requirements and pinned trials as test cases, for continuous integration.

use crate::escape::xml;
use faultlens_analysis::words as format;
use faultlens_analysis::{Rate, Summary, Verdict};
use std::fmt::Write as _;

/// The run as JUnit XML: one test case per requirement and per pinned trial.
///
/// Not met is a failure. Inconclusive is a failure too, of type `inconclusive`: servers show it as
/// not passed, with its reason; an error would say that the test itself is broken.
pub fn junit(summary: &Summary) -> String {
    let verdicts = || {
        let requirements = summary.requirements.iter().map(|checked| checked.verdict);
        let preserved = summary.preserved.iter().map(|one| one.verdict);
        requirements.chain(preserved).chain(summary.pinned.iter().map(|pin| pin.verdict))
    };
    let (tests, failures) =
        (verdicts().count(), verdicts().filter(|verdict| *verdict != Verdict::Met).count());
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\"");
    let name = xml(&summary.name);
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"faultlens\" {counts}>\n\
         <testsuite name=\"{name}\" {counts} skipped=\"0\" time=\"{:.3}\">\n",
        seconds(summary)
    );
    properties(&mut out, summary);
    for checked in &summary.requirements {
        let case = Case {
            class: "requirement",
            name: &checked.requirement,
            verdict: checked.verdict,
            why: &checked.why,
            measured: format!(
                "measured {}, {} of {}; limit {}",
                format::measured(checked),
                checked.rate.events,
                checked.rate.n,
                format::allowed(checked)
            ),
        };
        case.write(&mut out, &name);
    }
    for one in &summary.preserved {
        let (class, verdict, measured) = ("preserved", one.verdict, format::kept(one));
        let named = format!("{} ({})", format::preserved(one), one.tolerance);
        Case { class, name: &named, verdict, why: &one.why, measured }.write(&mut out, &name);
    }
    for pin in &summary.pinned {
        let measured = format!("{}: {}", pin.what, format::outcome(&pin.outcome));
        let (class, verdict) = ("pinned", pin.verdict);
        Case { class, name: &pin.name, verdict, why: &pin.why, measured }.write(&mut out, &name);
    }
    out.push_str("</testsuite>\n</testsuites>\n");
    out
}

/// Readers want a number, whatever the run says.
fn seconds(summary: &Summary) -> f64 {
    let seconds = summary.progress.seconds;
    if seconds.is_finite() { seconds.max(0.0) } else { 0.0 }
}

struct Case<'a> {
    class: &'a str,
    name: &'a str,
    verdict: Verdict,
    why: &'a str,
    measured: String,
}

impl Case<'_> {
    fn write(&self, out: &mut String, campaign: &str) {
        let (class, name) = (self.class, xml(self.name));
        let (why, measured) = (xml(self.why), xml(&self.measured));
        let _ = writeln!(out, "<testcase classname=\"{campaign}.{class}\" name=\"{name}\">");
        if self.verdict != Verdict::Met {
            let kind = self.verdict.text();
            let _ = writeln!(
                out,
                "<failure type=\"{}\" message=\"{kind}: {why}\">{kind}: {why}\n{measured}</failure>",
                kind.replace(' ', "_")
            );
        }
        let _ = writeln!(out, "<system-out>{measured}</system-out>\n</testcase>");
    }
}

/// Rates as bare numbers, for tools that plot them.
fn properties(out: &mut String, summary: &Summary) {
    out.push_str("<properties>\n");
    property(out, "trials", &summary.progress.recorded.to_string());
    rate(out, "changed", &summary.overall.rate);
    for target in &summary.targets {
        rate(out, &format!("changed.{}", target.name), &target.tally.rate);
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
