//! The page of a robustness sweep: harmless, and with the numbers of the findings.

use crate::generated::Sweep;
use faultlens_analysis::format::{number, percent, rate};
use faultlens_analysis::sweep::{Findings, Options, Rows, analyse};
use faultlens_report::{SweepPage, sweep, sweep_markdown};

fn page(findings: &Findings) -> String {
    let provenance = vec![("Sweep".to_owned(), "<i>study.yaml</i>".to_owned())];
    sweep(&SweepPage { title: "A sweep".to_owned(), findings, provenance })
}

fn findings(rows: &Rows) -> Findings {
    analyse(rows, &Options::default()).unwrap()
}

/// The markup of a page, without its script, is that of XML, so that a parser can say what stands
/// where.
fn markup(page: &str) -> &str {
    let start = page.find("<body>").unwrap();
    let end = page.find("<script>").unwrap();
    &page[start..end]
}

fn parsed(markup: &str) -> roxmltree::Document<'_> {
    roxmltree::Document::parse(markup).unwrap()
}

fn hostile() -> Rows {
    let mut rows = Sweep { samples: 10, ..Sweep::default() }.rows();
    let script = "<script>alert(1)</script>";
    for (i, c) in rows.configurations.iter_mut().enumerate() {
        c.architecture = format!("{script}{}\u{202e}", c.layers);
        c.data = "\"><img src=x>".to_owned();
        for choice in [&mut c.attack, &mut c.defence] {
            choice.name = format!("{}<b>&", choice.name);
            choice.label = format!("{}<b>&'", choice.label);
        }
        c.one_shot = i % 5 == 4;
        c.machine = "<u>here</u>".to_owned();
    }
    rows
}

#[test]
fn names_are_shown_and_do_nothing() {
    let found = findings(&hostile());
    let page = page(&found);
    for forbidden in
        ["<script>alert", "<img", "<b>", "<u>", "<i>study", "\u{202e}", "http://", "https://"]
    {
        let found = page.replace("http://www.w3.org/2000/svg", "").contains(forbidden);
        assert!(!found, "{forbidden}");
    }
    assert!(page.contains("default-src 'none'") && page.contains("pgd&lt;b&gt;&amp;"));
    let provenance = Vec::new();
    let page = SweepPage { title: "# <x>".to_owned(), findings: &found, provenance };
    let text = sweep_markdown(&page);
    assert!(!text.contains("<script") && !text.contains("<b>") && !text.contains("<x>"));
}

#[test]
fn numbers_are_those_of_the_findings() {
    let found = findings(&Sweep::wide().rows());
    let page = page(&found);
    let markup = format!("{}</body>", markup(&page));
    let document = parsed(&markup);
    let json: serde_json::Value = serde_json::to_value(&found).unwrap();
    let text: String = document.descendants().filter_map(|node| node.text()).collect();
    let broken = json["standings"]["broken"].as_u64().unwrap();
    assert!(
        text.contains(&format!("{broken} of 750 configurations broken, at 90.0% clean accuracy"))
    );
    for model in json["seconds"]["models"].as_array().unwrap() {
        for (field, digits) in [("aic", 1), ("test_concordance", 3), ("test_ici", 3)] {
            if let Some(value) = model[field].as_f64() {
                assert!(text.contains(&format!("{value:.digits$}")), "{field} {value}");
            }
        }
    }
    for effect in json["seconds"]["chosen"]["effects"].as_array().unwrap() {
        let [value, low, high] = [0, 1, 2].map(|i| number(effect["ratio"][i].as_f64().unwrap(), 3));
        let shown = text.contains(&format!("×{value} [{low}, {high}]"));
        match effect["withheld"].as_str() {
            None => assert!(shown, "{effect}"),
            Some(why) => assert!(text.contains(why) && !shown, "{effect}"),
        }
    }
    for group in found.groups.iter().flat_map(|grouping| &grouping.groups) {
        assert!(text.contains(&rate(&group.counts.adversarial)), "{}", group.level);
    }
    for conclusion in json["conclusions"].as_array().unwrap() {
        assert!(text.contains(conclusion["text"].as_str().unwrap()));
    }
    let [low, high] = found.trash.unwrap().interval.unwrap().map(|end| number(end, 3));
    assert!(
        text.contains(&format!("median; [{low}, {high}] for new images (bootstrap over 10 images"))
    );
    let share = percent(broken as f64 / 750.0);
    assert!(text.contains(&format!("In {share}% of the configurations")));
}

#[test]
fn every_figure_is_there_and_lies_open_to_be_seen() {
    let found = findings(&Sweep::wide().rows());
    let page = page(&found);
    std::fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/study.html"), &page).unwrap();
    let json = serde_json::to_string_pretty(&found).unwrap();
    std::fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/study.json"), json).unwrap();
    let markup = format!("{}</body>", markup(&page));
    let document = parsed(&markup);
    let ids = ["accuracies", "models", "calibration", "qq", "effects", "costs", "configurations"];
    for id in ids {
        let section = document.descendants().find(|n| n.attribute("id") == Some(id));
        assert!(section.is_some(), "{id}");
    }
    let charts = |class: &str| {
        document.descendants().filter(|n| n.attribute("class") == Some(class)).count()
    };
    assert_eq!((charts("dots violins"), charts("dots"), charts("xy")), (7, 2, 12));
    assert!(!page.contains("NaN"));
}

#[test]
fn test_rows_are_named_where_they_are() {
    let rows = Sweep { samples: 5, ..Sweep::default() }.rows();
    let page_with =
        |test: f64| page(&analyse(&rows, &Options { test, ..Options::default() }).unwrap());
    assert!(page_with(0.2).contains("on test rows; ICI"));
    let without = page_with(0.0);
    assert!(without.contains("on the rows of the fit; ICI") && !without.contains("on test rows"));
}

#[test]
fn what_is_not_known_has_no_section() {
    let mut rows = Sweep { samples: 5, ..Sweep::default() }.rows();
    for row in &mut rows.rows {
        (row.changed, row.wrong) = (false, None);
    }
    rows.configurations.iter_mut().for_each(|c| c.training_seconds = 0.0);
    let page = page(&findings(&rows));
    for id in ["models", "calibration", "effects", "costs", "configurations"] {
        assert!(!page.contains(&format!("<section id=\"{id}\"")), "{id}");
    }
    assert!(page.contains("No survival models in processor seconds: no attack changed an answer"));
    assert!(page.contains("Nothing is said about costs"));
}

/// The clean accuracy stands beside every verdict, and a low one makes none of them good news.
#[test]
fn none_broken_beside_low_clean_accuracy_is_no_success() {
    let verdict = |accuracy: f64| {
        let found = findings(&Sweep { accuracy, training: 1e-7, ..Sweep::default() }.rows());
        assert_eq!(found.standings.not_broken, 270);
        page(&found)
    };
    let low = verdict(0.17);
    assert!(low.contains("None of 270 configurations broken, at 17.0% clean accuracy"));
    assert!(low.contains("Low clean accuracy: 270 of 270 configurations get less than half"));
    let high = verdict(0.9);
    assert!(high.contains("None of 270 configurations broken, at 90.0% clean accuracy"));
    assert!(!high.contains("Low clean accuracy"));
    // The class of the badge, which says whether the verdict is good.
    let badge = |page: &str| {
        let (_, after) = page.split_once("<p class=\"verdict ").unwrap();
        after.split_once('"').unwrap().0.to_owned()
    };
    assert_ne!(badge(&low), badge(&high));
    let table = high.find("id=\"configurations\"").unwrap();
    assert!(high[table..].contains("Clean accuracy") && high[table..].contains("90.0% ["));
}
