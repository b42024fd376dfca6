//! The page, read back as a document.

use crate::fixture::{HOSTILE, empty, rich};
use faultlens_analysis::Summary;
use roxmltree::{Document, Node, ParsingOptions};
use std::path::Path;

/// The page without its script and style, which are not XML; everything else is.
fn parsable(page: &str) -> String {
    let mut text = page.replace("<!DOCTYPE html>", "");
    for tag in ["script", "style"] {
        let from = text.find(&format!("<{tag}>")).unwrap();
        let to = text.rfind(&format!("</{tag}>")).unwrap();
        text.replace_range(from + tag.len() + 2..to, "");
    }
    text
}

pub(crate) fn with_page(summary: &Summary, dir: &Path, check: impl FnOnce(&str, &Document<'_>)) {
    let page = faultlens_report::html(summary, dir);
    let text = parsable(&page);
    let options = ParsingOptions { nodes_limit: 1_000_000, ..ParsingOptions::default() };
    check(&page, &Document::parse_with_options(&text, options).unwrap());
}

pub(crate) fn text(node: Node<'_, '_>) -> String {
    node.descendants().filter_map(|node| node.text().filter(|_| node.is_text())).collect()
}

pub(crate) fn tagged<'a, 'd>(
    from: Node<'a, 'd>,
    tag: &'static str,
) -> impl Iterator<Item = Node<'a, 'd>> {
    from.descendants().filter(move |node| node.tag_name().name() == tag)
}

/// The drawings that show a picture.
fn pictures<'a, 'd>(from: Node<'a, 'd>) -> impl Iterator<Item = Node<'a, 'd>> {
    let is_picture = |node: &Node<'_, '_>| {
        node.attribute("class").is_some_and(|class| class.split(' ').any(|one| one == "picture"))
    };
    from.descendants().filter(is_picture)
}

pub(crate) fn with_id<'a, 'd>(document: &'a Document<'d>, id: &str) -> Node<'a, 'd> {
    document.descendants().find(|node| node.attribute("id") == Some(id)).unwrap()
}

/// Writes the pages where `FAULTLENS_FIXTURE_PAGE` and `FAULTLENS_FIXTURE_EMPTY_PAGE` say, for the
/// browser's tests and for the eye.
#[test]
fn the_pages_can_be_written() {
    let dir = tempfile::tempdir().unwrap();
    let pages =
        [("FAULTLENS_FIXTURE_PAGE", rich(dir.path())), ("FAULTLENS_FIXTURE_EMPTY_PAGE", empty())];
    for (variable, summary) in pages {
        let page = faultlens_report::html(&summary, dir.path());
        if let Some(path) = std::env::var_os(variable) {
            // Commands read like a user's.
            std::fs::write(path, page.replace(dir.path().to_str().unwrap(), "runs/signs")).unwrap();
        }
    }
}

#[test]
fn commands_name_the_run_as_it_was_given() {
    let page = faultlens_report::html(&rich(tempfile::tempdir().unwrap().path()), Path::new("a b"));
    assert!(page.contains("faultlens replay &#39;a b&#39; 1234"));
}

#[test]
fn every_number_of_the_tables_is_the_summarys() {
    let dir = tempfile::tempdir().unwrap();
    let summary = rich(dir.path());
    with_page(&summary, dir.path(), |_, document| {
        for (at, grouping) in summary.groupings.iter().enumerate() {
            let section = with_id(document, &format!("by-{at}"));
            let body = tagged(section, "tbody").next().unwrap();
            let rows: Vec<_> = tagged(body, "tr").collect();
            let groups: Vec<_> =
                grouping.rows.iter().flat_map(|row| [row].into_iter().chain(&row.parts)).collect();
            assert_eq!(rows.len(), groups.len());
            for (shown, row) in rows.iter().zip(groups) {
                let values: Vec<f64> = tagged(*shown, "td")
                    .map(|cell| script_number(cell.attribute("data-v").unwrap()))
                    .collect();
                let rate = &row.tally.rate;
                let value = rate.value.unwrap_or(f64::NEG_INFINITY);
                let expected = [rate.n as f64, row.tally.changed as f64, value];
                assert_eq!(values[..3], expected, "{}", row.key);
                assert_eq!(values[3], row.tally.detected as f64);
            }
        }
        let first = text(with_id(document, "by-0"));
        assert!(first.contains("34.0% [29.9, 38.3]"), "{first}");
        assert!(first.contains("0% [0, 0.79]"), "{first}");
        assert!(first.contains("adjusted for 7 comparisons (sign-flip test, Holm)"), "{first}");
        assert!(text(with_id(document, "requirements")).contains("34.0% [29.9, 38.3]163 of 480"));
    });
}

/// A sort value as JavaScript's `Number` reads it, to which Rust's `inf` is not a number.
fn script_number(text: &str) -> f64 {
    match text {
        "Infinity" => f64::INFINITY,
        "-Infinity" => f64::NEG_INFINITY,
        text => {
            let digits = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
            assert!(text.chars().all(digits), "not a number to a script: {text}");
            text.parse().unwrap()
        }
    }
}

/// The numbers of a table's rows, as a script sorts them.
pub(crate) fn numbers(section: Node<'_, '_>) -> Vec<Vec<f64>> {
    let body = tagged(section, "tbody").next().unwrap();
    let row = |row| {
        let cells = tagged(row, "td").filter_map(|cell| cell.attribute("data-v"));
        cells.map(script_number).collect()
    };
    tagged(body, "tr").map(row).collect()
}

#[test]
fn sections_on_the_inside_of_models_show_the_summarys_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let summary = rich(dir.path());
    with_page(&summary, dir.path(), |_, document| {
        let map = &summary.model.heat_maps[0];
        let cells = |row: &faultlens_analysis::HeatRow| {
            row.cells.iter().map(|cell| cell.value.unwrap_or(f64::NEG_INFINITY)).collect::<Vec<_>>()
        };
        let section = with_id(document, "heat");
        assert_eq!(numbers(section), map.rows.iter().map(cells).collect::<Vec<_>>());
        let drawn = section.descendants().filter(|node| node.attribute("class") == Some("c-few"));
        assert_eq!(drawn.count(), 6, "bit 5 of every layer has four trials");
        let ranked = numbers(with_id(document, "protect"));
        assert_eq!(ranked[1], [25.0, 0.25, 0.85]);
        assert!(text(with_id(document, "protect")).contains("8 without a changed prediction"));
        let critical = with_id(document, "critical");
        assert_eq!(numbers(critical)[0][..2], [200.0, 3.2]);
        let words = text(critical);
        for part in
            ["2,611 queries", "instead of 12,800 for every bit: 4.9 times fewer", "3 of 980 bits"]
        {
            assert!(words.contains(part), "{part}: {words}");
        }
        let classes = with_id(document, "classes");
        assert_eq!(pictures(classes).count(), 2);
        assert!(text(classes).contains("no image of this class was kept"));
        assert_eq!(numbers(with_id(document, "traits"))[2][2], 0.15);
        assert_eq!(numbers(with_id(document, "beyond"))[0], [400.0, 0.15, 0.0775, 0.005]);
        let required = text(with_id(document, "requirements"));
        assert!(required.contains("FIT 3.2 (2.5 to 4.0)64 of 1,00010"), "{required}");
        let layer = text(with_id(document, "by-2"));
        assert!(layer.contains("Conv, Relu, MaxPool") && layer.contains("relu1"), "{layer}");
    });
}

#[test]
fn what_people_cope_with_shows_the_summarys_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let summary = rich(dir.path());
    with_page(&summary, dir.path(), |_, document| {
        let section = with_id(document, "preserve");
        let rows: Vec<Vec<String>> = tagged(section, "tr")
            .map(|row| row.children().filter(Node::is_element).map(text).collect())
            .skip(1)
            .collect();
        assert_eq!(rows.len(), summary.checks.preserved.len());
        for (row, one) in rows.iter().zip(&summary.checks.preserved) {
            assert!(
                row.contains(&one.target) && row.contains(&"≤ 0.61 [0.45, 0.72]".to_owned()),
                "{row:?}"
            );
            let reached = format!("{:.1}%", 100.0 * one.reached.unwrap());
            assert!(row.contains(&reached) && row.contains(&"87.3%".to_owned()), "{row:?}");
        }
        assert_eq!(rows[0][4], "200");
        assert_eq!(rows[0][8], "−18.0 [−22.1, −13.9]");
        assert_eq!(rows[0][9], "inconclusive, distance +18.0 [+9.8, +26.2]");
        let said = text(section);
        for part in [
            "lies above −2 points, the non-inferiority margin",
            "speaks of new images",
            "inconclusive up to 0.45, not met up to 0.72 (does not decide)",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(said.contains("below people from a visual change of 0.15 on"), "{said}");
        assert!(said.contains("12 images left out"), "{said}");
    });
}

#[test]
fn objects_found_show_the_summarys_numbers() {
    let dir = tempfile::tempdir().unwrap();
    with_page(&rich(dir.path()), dir.path(), |_, document| {
        let section = with_id(document, "detection");
        let said = text(section);
        for part in ["over 40 cases", "AP 0.512 [0.462, 0.562]", "(mPC): AP 0.345", "(rPC): 0.674"]
        {
            assert!(said.contains(part), "{part}: {said}");
        }
        let rows: Vec<String> = tagged(section, "tr").map(text).collect();
        // Average precision by severity leads, before the kinds of errors.
        assert_eq!(rows[0], "faultcleanseverity 3");
        assert!(rows[1].ends_with("0.512 [0.462, 0.562]0.345 [0.295, 0.395]"), "{}", rows[1]);
        assert_eq!(rows[2], "faultAPAP50LocMiss");
        assert_eq!(rows[3], "clean0.512 [0.462, 0.562]0.712511");
        assert!(rows[4].ends_with("0.345 [0.295, 0.395]0.545529"), "{}", rows[4]);
    });
}

#[test]
fn average_precision_comes_before_the_rates_of_changed_answers() {
    let dir = tempfile::tempdir().unwrap();
    with_page(&rich(dir.path()), dir.path(), |_, document| {
        let ids: Vec<&str> =
            document.descendants().filter_map(|node| node.attribute("id")).collect();
        let place = |id: &str| ids.iter().position(|own| *own == id).unwrap();
        assert!(place("detection") < place("outcomes"), "{ids:?}");
        assert!(place("detection") < place("rates"), "{ids:?}");
    });
}

#[test]
fn curves_and_outcomes_show_the_summarys_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let summary = rich(dir.path());
    with_page(&summary, dir.path(), |_, document| {
        let curves = with_id(document, "curves");
        let charts = tagged(curves, "svg").filter(|svg| svg.attribute("role") == Some("img"));
        assert_eq!(charts.count(), 3, "one chart per fault");
        let points = summary.curves.iter().flat_map(|curve| &curve.points);
        let expected: Vec<[f64; 4]> = points
            .map(|(dose, rate)| [*dose, rate.n as f64, rate.events as f64, rate.value.unwrap()])
            .collect();
        let body = tagged(curves, "tbody").next().unwrap();
        let shown: Vec<[f64; 4]> = tagged(body, "tr")
            .map(|row| {
                let cells = tagged(row, "td").filter_map(|cell| cell.attribute("data-v"));
                let values: Vec<f64> = cells.map(script_number).collect();
                [values[0], values[1], values[2], values[3]]
            })
            .collect();
        assert_eq!(shown, expected);
        let body = tagged(with_id(document, "outcomes"), "tbody").next().unwrap();
        let counts: Vec<String> =
            tagged(body, "tr").filter_map(|row| tagged(row, "td").nth(1).map(text)).collect();
        assert_eq!(counts, ["3,837", "430", "61", "4", "0", "120"]);
    });
}

#[test]
fn with_one_target_a_faults_other_settings_are_the_lines() {
    let dir = tempfile::tempdir().unwrap();
    let mut summary = rich(dir.path());
    summary.curves.truncate(1);
    let mut of = |fault: &str| {
        let mut curve = summary.curves[0].clone();
        (curve.fault, curve.axis) = (fault.to_owned(), "share".to_owned());
        summary.curves.push(curve);
    };
    of("zero");
    of("zero in=weights");
    with_page(&summary, dir.path(), |_, document| {
        let curves = with_id(document, "curves");
        let charts = tagged(curves, "svg").filter(|svg| svg.attribute("role") == Some("img"));
        assert_eq!(charts.count(), 2, "one for each fault");
        let legends: Vec<String> = tagged(curves, "li").map(text).collect();
        assert_eq!(legends, [" zero", " zero in=weights"], "a single line needs no legend");
        assert!(text(curves).contains("share of elements set to zero, %"));
    });
}

#[test]
fn what_comes_from_outside_stays_text() {
    let dir = tempfile::tempdir().unwrap();
    with_page(&rich(dir.path()), dir.path(), |page, document| {
        let root = document.root();
        assert_eq!(tagged(root, "script").count(), 1);
        assert_eq!(tagged(root, "img").count(), 0);
        assert!(tagged(root, "image").all(|image| {
            let kinds = ["data:image/png;base64,", "data:image/jpeg;base64,"];
            kinds.iter().any(|kind| image.attribute("href").unwrap().starts_with(kind))
        }));
        let handlers = document.descendants().flat_map(|node| node.attributes());
        assert_eq!(handlers.filter(|attribute| attribute.name().starts_with("on")).count(), 0);
        assert!(!page.contains('\x1b') && !page.contains('\u{202e}'));
        // The label is there in full, but for what cannot be shown.
        let shown = HOSTILE.replace(['\x1b', '\u{202e}'], "\u{fffd}");
        assert!(text(with_id(document, "by-0")).contains(&shown));
        assert!(text(with_id(document, "examples")).contains(&shown));
    });
}

#[test]
fn the_page_needs_nothing_from_elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    with_page(&rich(dir.path()), dir.path(), |page, document| {
        for node in document.descendants() {
            for attribute in node.attributes() {
                let value = attribute.value();
                match attribute.name() {
                    "href" if node.tag_name().name() == "image" => {
                        assert!(value.starts_with("data:image/"));
                    }
                    "href" => assert!(value.starts_with('#'), "{value}"),
                    _ => assert!(!value.contains("//"), "{value}"),
                }
            }
        }
        assert!(page.contains("default-src 'none'") && page.contains("script-src 'sha256-"));
        assert!(!page.contains("@import"));
    });
}

#[test]
fn the_page_is_built_for_everybody() {
    let dir = tempfile::tempdir().unwrap();
    with_page(&rich(dir.path()), dir.path(), |_, document| {
        let root = document.root();
        let level = |node: Node<'_, '_>| match node.tag_name().name().as_bytes() {
            [b'h', level @ b'1'..=b'6'] => Some(level - b'0'),
            _ => None,
        };
        let levels: Vec<u8> = document.descendants().filter_map(level).collect();
        assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1);
        assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
        for table in tagged(root, "table") {
            assert_eq!(tagged(table, "caption").count(), 1);
            assert!(tagged(table, "th").all(|head| head.attribute("scope").is_some()));
        }
        let mut ids: Vec<_> = document.descendants().filter_map(|n| n.attribute("id")).collect();
        ids.sort_unstable();
        let all = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), all, "an id is there twice");
        for chart in document.descendants().filter(|n| n.attribute("role") == Some("img")) {
            for id in chart.attribute("aria-labelledby").unwrap().split(' ') {
                assert!(!text(with_id(document, id)).is_empty());
            }
        }
        let mut images: Vec<_> = tagged(root, "image").map(|one| one.attribute("href")).collect();
        assert!(pictures(root).count() > images.len(), "some are shown twice");
        images.sort_unstable();
        assert!(images.windows(2).all(|pair| pair[0] != pair[1]), "a picture is there twice");
        for picture in pictures(root) {
            let shown = tagged(picture, "use").next().unwrap().attribute("href").unwrap();
            assert_eq!(with_id(document, &shown[1..]).tag_name().name(), "image");
        }
    });
}

#[test]
fn images_that_cannot_be_shown_leave_a_note() {
    let dir = tempfile::tempdir().unwrap();
    with_page(&rich(dir.path()), dir.path(), |_, document| {
        let examples = with_id(document, "examples");
        assert_eq!(pictures(examples).count(), 3);
        let words = text(examples);
        assert!(words.contains("leads out of the run directory"));
        assert!(words.contains("not in the run directory"));
        let tiny = pictures(examples).filter(|i| i.attribute("class") == Some("picture tiny"));
        assert_eq!(tiny.count(), 2);
    });
}

#[test]
fn a_gallery_says_what_became_of_each_trial() {
    let dir = tempfile::tempdir().unwrap();
    with_page(&rich(dir.path()), dir.path(), |_, document| {
        let gallery = with_id(document, "gallery");
        let body = tagged(gallery, "tbody").next().unwrap();
        let cells: Vec<_> = tagged(body, "td").collect();
        let shown: Vec<usize> = cells.iter().map(|cell| pictures(*cell).count()).collect();
        assert_eq!(shown, [1, 1, 2, 0, 0]);
        assert_eq!(text(cells[2]).matches("clean").count(), 2);
        assert!(text(cells[2]).ends_with("changed: 2 missed, 1 spurious trial 4,711"));
        assert!(text(cells[3]).starts_with("skipped: </script>"), "{}", text(cells[3]));
        assert!(text(cells[4]).contains("leads out of the run directory"));
        assert!(text(gallery).contains("found as before"));
    });
}

#[test]
fn a_run_without_trials_has_a_short_page() {
    let dir = tempfile::tempdir().unwrap();
    with_page(&empty(), dir.path(), |_, document| {
        assert_eq!(tagged(document.root(), "table").count(), 0);
        let sections = tagged(document.root(), "section").count();
        assert_eq!(sections, 4, "only the title, the key figures, the method and the provenance");
        let words = text(document.root());
        assert!(words.contains("of 100 planned; not finished") && !words.contains("NaN"));
    });
}
