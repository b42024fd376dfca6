//! The reports that are plain text.

use crate::fixture::{HOSTILE, empty, rich};
use faultlens_analysis::{Verdict, Warning};
use faultlens_report::{Terminal, html, json, junit, markdown, plain, terminal};
use faultlens_spec::{Intervals, Method, Population};
use faultlens_stats::Level;
use roxmltree::Document;

fn columns(line: &str) -> usize {
    line.chars().filter(|c| *c != '\u{200d}').map(|c| if c == '🚦' { 2 } else { 1 }).sum()
}

#[test]
fn the_terminal_gets_few_lines_and_no_commands() {
    let dir = tempfile::tempdir().unwrap();
    let mut summary = rich(dir.path());
    // The worst come first, and there is room for some.
    summary.checks.preserved.truncate(1);
    for width in [20, 48, 80, 100, 500] {
        let text = terminal(&summary, Terminal { colour: false, width });
        assert!(text.lines().count() <= 40);
        let widest = text.lines().map(columns).max().unwrap();
        assert!(widest <= width.clamp(48, 120), "{widest} columns of {width}:\n{text}");
        assert!(!text.chars().any(|c| c != '\n' && c.is_control()));
    }
    let text = terminal(&summary, Terminal { colour: false, width: 100 });
    for part in ["✗ not met", "34.0% [29.9, 38.3]", "✓ met", "├", "●", "4,452 trials", "By fault"]
    {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let coloured = terminal(&summary, Terminal { colour: true, width: 100 });
    assert!(coloured.contains("\x1b[31m✗ not met") && !coloured.contains("| \x1b[31m"));
    // Without its colours it is the same text.
    let mut bare = coloured;
    for code in ["0", "1", "2", "31", "32", "33"] {
        bare = bare.replace(&format!("\x1b[{code}m"), "");
    }
    assert_eq!(bare, text);
}

#[test]
fn the_terminal_stays_short_whatever_the_run_says() {
    let dir = tempfile::tempdir().unwrap();
    let mut summary = rich(dir.path());
    let words = "a finding of many words ".repeat(40);
    let mut total = summary.scenes.totals[0].clone();
    total.target = Some(words.clone());
    summary.scenes.totals = vec![total; 30];
    summary.warnings = vec![Warning::UnknownPrivilegedGroup(words); 30];
    summary.checks.requirements = vec![summary.checks.requirements[0].clone(); 50];
    let text = terminal(&summary, Terminal { colour: false, width: 80 });
    assert!(text.lines().count() <= 40 && text.contains("more"), "{text}");
    let none = terminal(&empty(), Terminal { colour: false, width: 80 });
    assert!(none.contains("0 trials, none judged") && none.lines().count() < 6, "{none}");
}

#[test]
fn markdown_has_only_our_markup() {
    let dir = tempfile::tempdir().unwrap();
    let text = markdown(&rich(dir.path()));
    assert!(!text.contains("<img") && !text.contains("</script") && !text.contains('\x1b'));
    for table in text.split("\n\n").filter(|block| block.starts_with('|')) {
        // Pipes that no backslash precedes make columns: as many in every row.
        let bare = |line: &str| line.replace("\\|", "").matches('|').count();
        let columns: Vec<usize> = table.lines().map(bare).collect();
        assert!(columns.iter().all(|count| *count == columns[0]), "{table}");
    }
    assert!(text.contains("requirements not met**"));
    assert!(text.contains("| gaussian\\_noise severity=5 | 480 | 163 | `34.0% [29.9, 38.3]` |"));
    assert!(text.contains("50 more in the report."));
    assert!(text.contains("Skipped: 120 (left out of all rates) · Not needed: 77 ("), "{text}");
    assert!(text.contains("Brackets are 95% intervals for new images of the same kind."), "{text}");
    let population = "take the 400 images tested for a random sample";
    assert!(text.contains(population), "{text}");
    // A profile keeps its order, and shows where the rates are.
    let at = |part: &str| text.find(part).unwrap();
    assert!(at("\n| 29 |") < at("\n| 30 |") && !text.contains("\n| 8 |"));
    assert_eq!(markdown(&empty()).lines().next(), Some("## nothing yet"));
}

#[test]
fn failures_in_time_read_the_same_everywhere() {
    let dir = tempfile::tempdir().unwrap();
    let mut summary = rich(dir.path());
    summary.checks.preserved.clear();
    summary.checks.requirements.rotate_right(1);
    let wanted = "FIT 3.2 (2.5 to 4.0)";
    let screen = terminal(&summary, Terminal { colour: false, width: 100 });
    assert!(screen.contains(&format!("{wanted}, limit 10")), "{screen}");
    assert!(markdown(&summary).contains(&format!("| `{wanted}` | 10 |")));
    let wanted = format!("measured {wanted}, 64 of 1000; limit 10");
    assert!(junit(&summary).contains(&wanted), "{}", junit(&summary));
}

#[test]
fn markdown_has_what_lies_inside_models() {
    let dir = tempfile::tempdir().unwrap();
    let text = markdown(&rich(dir.path()));
    for part in [
        "### What to protect first\n\n#### Layers of sign-small",
        "| 2 conv2 | `25.0% [17.5, 34.3]` | `85.0% [76.7, 90.7]` |",
        "| 1 conv1 | 200 | `3.2 [2.56, 3.84]` | `10.0% [9.3, 10.8]` |",
        "2,611 queries instead of 12,800",
        "| 3 | 2 | `5.0% [3.3, 7.6]` | `97.5% [95.5, 98.6]` |",
        "| fault | target | beyond 15 | beyond 30 | beyond 120 |",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn every_report_names_the_intervals_that_it_shows() {
    let dir = tempfile::tempdir().unwrap();
    let mut summary = rich(dir.path());
    let level = Level::new(0.9).unwrap();
    summary.intervals = Intervals { method: Method::ClopperPearson, level, ..Intervals::default() };
    let interval = "90% intervals for new images";
    let page = html(&summary, dir.path());
    let reports =
        [page, markdown(&summary), terminal(&summary, Terminal { colour: false, width: 80 })];
    for report in reports {
        assert!(report.contains(interval), "{report}");
        assert!(!report.contains("95% interval"), "{report}");
    }
    let page = html(&summary, dir.path());
    assert!(page.contains("Clopper and Pearson&#39;s interval"));
    summary.intervals.population = Population::TheseImages;
    assert!(html(&summary, dir.path()).contains("90% intervals for these images"));
    summary.intervals.population = Population::NewImages;
    summary.method.images = 9;
    let few = html(&summary, dir.path());
    assert!(few.contains("fewer than 10 say nothing about new images"), "{few}");
}

#[test]
fn names_from_outside_are_harmless_for_whoever_prints_them() {
    assert!(!plain(HOSTILE).chars().any(|c| c.is_control() || c == '\u{202e}'));
}

#[test]
fn junit_says_what_did_not_pass_and_why() {
    let dir = tempfile::tempdir().unwrap();
    let summary = rich(dir.path());
    let text = junit(&summary);
    let document = Document::parse(&text).unwrap();
    let tagged = |tag: &str| {
        let of_tag = document.descendants().filter(|node| node.has_tag_name(tag));
        of_tag.collect::<Vec<_>>()
    };
    let suite = tagged("testsuite")[0];
    assert_eq!(suite.attribute("tests"), Some("10"));
    assert_eq!(suite.attribute("failures"), Some(&*tagged("failure").len().to_string()));
    // A pinned trial and both preservations do not pass either.
    let unmet =
        summary.checks.requirements.iter().filter(|one| one.verdict != Verdict::Met).count() + 3;
    assert_eq!(tagged("failure").len(), unmet);
    let kinds: Vec<_> = tagged("failure").iter().filter_map(|one| one.attribute("type")).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == "inconclusive").count(), 4);
    // The hostile requirement keeps all that XML can hold.
    let name = tagged("testcase")[4].attribute("name").unwrap();
    assert_eq!(name, HOSTILE.replace(['\x1b', '\u{202e}'], ""));
    let property =
        |name| tagged("property").into_iter().find(|p| p.attribute("name") == Some(name));
    let rate: f64 = property("changed").unwrap().attribute("value").unwrap().parse().unwrap();
    assert_eq!(Some(rate), summary.overall.rate.value);
    assert!(Document::parse(&junit(&empty())).is_ok());
}

#[test]
fn json_has_the_numbers_and_the_sentences() {
    let dir = tempfile::tempdir().unwrap();
    let summary = rich(dir.path());
    let object = json(&summary).unwrap();
    let text = |pointer: &str| object.pointer(pointer).and_then(|value| value.as_str());
    assert_eq!(object["confidence"], 0.95);
    assert_eq!(text("/interval"), Some("95% intervals for new images"));
    assert_eq!(text("/groupings/0/title"), Some("By fault"));
    let within = text("/groupings/0/correction").unwrap();
    assert!(within.ends_with("adjusted for 7 comparisons (sign-flip test, Holm)"), "{within}");
    let cases = text("/groupings/4/correction").unwrap();
    assert!(
        cases.contains("Each of 600 images counts once") && cases.contains("2,000 permutations"),
        "{cases}"
    );
    assert!(object["groupings"][1]["correction"].is_null());
    assert_eq!(text("/moved/0/what"), Some("score of the clean prediction lost"));
    assert_eq!(
        text("/requirements/3/why"),
        Some("the whole interval for new images, based on 400 images, is at or below 1%")
    );
    let why = text("/preserved/0/why").unwrap();
    let wanted = "on new images the difference is below −13.9 points, beyond the margin of 2";
    assert_eq!(why, wanted);
    assert_eq!(text("/preserved/0/population"), Some("new_images"));
    assert_eq!(text("/preserved/0/batch_rule/verdict"), Some("inconclusive"));
    assert_eq!(object["preserved"][0]["margin"], 0.02);
    assert_eq!(text("/pinned/0/why"), Some("the fault still breaks the answer"));
    assert_eq!(text("/verdict"), Some("not_met"));
    let opening = "In 4,332 judged trials on 2 targets, 9.9% [9.1, 10.9] changed the prediction";
    assert!(text("/findings/1").unwrap().starts_with(opening), "{}", object["findings"]);
    // A stop rule that ran more repeats of some faults is mentioned, and only then.
    let mut uneven = rich(dir.path());
    uneven.progress.recorded += 500;
    let uneven = json(&uneven).unwrap();
    let opening = "In 4,332 judged trials on 2 targets (the repeats that all faults have in common; \
                   the stop rule ran more of some, 5,029 in total), 9.9% [9.1, 10.9] changed";
    let told = uneven["findings"][1].as_str().unwrap();
    assert!(told.starts_with(opening), "{told}");
    assert_eq!(object["provenance"][1][1], "42");
    assert_eq!(object["advice"].as_array().unwrap().len(), summary.recommendations().len());
    assert_eq!(object["heat_maps"].as_array().unwrap().len(), 1);
    assert_eq!(object["scene_totals"][0]["target"], "road-eye");
}

/// Shows the texts of the rich summary to the eye, where `FAULTLENS_FIXTURE_TEXTS` says.
#[test]
fn the_texts_can_be_written() {
    let Some(path) = std::env::var_os("FAULTLENS_FIXTURE_TEXTS") else { return };
    let dir = tempfile::tempdir().unwrap();
    let summary = rich(dir.path());
    let screen = terminal(&summary, Terminal { colour: false, width: 90 });
    std::fs::write(path, [screen, markdown(&summary), junit(&summary)].join("\n")).unwrap();
}
