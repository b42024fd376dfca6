//! What a made-up run says about changed scenes, and what reports make of it.

use crate::fixture::{HOSTILE, empty, rate, rich};
use crate::page::{numbers, tagged, text, with_id, with_page};
use faultlens_analysis::{
    ChangedScenes, LostObjects, Mean, PlacementEffect, Relocations, SceneTotal,
};
use faultlens_report::markdown;
use roxmltree::Node;

fn mean(value: f64, half: f64, n: u64) -> Mean {
    Mean { value: Some(value), low: value - half, high: value + half, n }
}

fn inserted(target: &str, fault: &str, events: u64, money: Option<f64>) -> ChangedScenes {
    ChangedScenes {
        target: target.into(),
        fault: fault.into(),
        objects: 112,
        unsteady: u64::from(money.is_some()),
        changed: rate(events, 400),
        imprecise: events - 9,
        distinct: events - 2,
        missed: events / 2,
        spurious: events / 3,
        relabelled: 5,
        misplaced: 3,
        moved: Some(Relocations {
            places: 61,
            distinct: 57,
            arrived: rate(11, 50),
            reach: vec![12, 8, 6, 4, 3, 2, 2, 1, 1, 0, 11],
            naturalness: mean(0.981, 0.002, 50),
        }),
        naturalness: mean(0.986, 0.001, 400),
        queries: 612,
        seconds: 74.5,
        money,
    }
}

/// Two targets, one of them with a name that does harm.
pub(crate) fn changed() -> Vec<ChangedScenes> {
    let removed = ChangedScenes {
        moved: None,
        naturalness: mean(0.974, 0.002, 180),
        changed: rate(20, 180),
        queries: 180,
        seconds: 40.0,
        ..inserted("road-eye", "remove_object", 20, None)
    };
    vec![
        inserted("road-eye", "insert_object", 84, None),
        inserted("road-eye", "insert_object placing=random", 40, None),
        removed,
        inserted(HOSTILE, HOSTILE, 60, Some(1.25)),
    ]
}

pub(crate) fn totals() -> Vec<SceneTotal> {
    let road_eye = SceneTotal {
        target: Some("road-eye".into()),
        objects: 112,
        unsteady: 0,
        scenes: 980,
        moved: 110,
        changed: rate(144, 980),
        lost: Some(LostObjects { all: 150, least: 0.3, unsure: 100 }),
        queries: 1404,
        seconds: 189.0,
        money: None,
    };
    let hostile = SceneTotal {
        target: Some(HOSTILE.into()),
        unsteady: 1,
        scenes: 400,
        moved: 57,
        changed: rate(60, 400),
        queries: 612,
        seconds: 74.5,
        money: Some(1.25),
        ..road_eye.clone()
    };
    let all = SceneTotal {
        target: None,
        objects: 224,
        scenes: 1380,
        moved: 167,
        changed: rate(204, 1380),
        queries: 2016,
        seconds: 263.5,
        ..hostile.clone()
    };
    vec![road_eye, hostile, all]
}

pub(crate) fn placements() -> Vec<PlacementEffect> {
    let one = |target: &str, events, value, p_value| PlacementEffect {
        target: target.into(),
        fault: "insert_object".into(),
        guided: rate(events, 400),
        random: rate(40, 400),
        difference: mean(value, 0.05, 40),
        p_value,
    };
    vec![one("road-eye", 84, 0.11, 0.0015), one(HOSTILE, 42, 0.005, 0.81)]
}

/// The texts of the cells of all rows below a part of a table.
fn cells(section: Node<'_, '_>, part: &'static str) -> Vec<Vec<String>> {
    let rows = tagged(section, part).flat_map(|part| tagged(part, "tr"));
    rows.map(|row| row.children().filter(Node::is_element).map(text).collect()).collect()
}

#[test]
fn changed_scenes_show_the_summarys_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let summary = rich(dir.path());
    with_page(&summary, dir.path(), |_, document| {
        let section = with_id(document, "scenes");
        let first = numbers(section);
        assert_eq!(first[0], [457.0, 112.0, 84.0, 0.21, 74.5, 612.0, f64::NEG_INFINITY]);
        assert_eq!(first[3][6], 1.25, "what a service cost");
        let rows = cells(section, "tbody");
        assert_eq!(rows[0][2..6], ["400 + 57", "112", "84 of 400", "21.0% [17.3, 25.3]"]);
        assert_eq!(rows[2][2], "180", "nothing is moved on where something was taken out");
        assert_eq!(rows[4][2..], ["84", "82", "42", "28", "5", "3", "75", "61", "57"]);
        assert_eq!(rows[6][9..], ["–", "–"]);
        assert_eq!(rows[8][2..], ["98.6% [98.5, 98.7]", "98.1% [97.9, 98.3]"]);
        let totals = cells(section, "tfoot");
        let names: Vec<&str> = totals.iter().map(|row| row[0].as_str()).collect();
        assert_eq!(names, ["road-eye", "all targets"], "one fault needs no total");
        assert_eq!(totals[1][2..6], ["1,380 + 167", "224", "204 of 1,380", "14.8% [13.0, 16.8]"]);
    });
}

#[test]
fn changed_scenes_are_told_in_sentences_and_drawn() {
    let dir = tempfile::tempdir().unwrap();
    let summary = rich(dir.path());
    with_page(&summary, dir.path(), |_, document| {
        let section = with_id(document, "scenes");
        let said = text(section);
        for part in [
            "road-eye changes other detections in 144 of 980 changed scenes",
            "Placing objects close to others is worse than placing them at random (insert_object on road-eye, ",
            "a difference of +11.0 [+6.0, +16.0] percentage points, p = 0.0015",
            "Placing objects close to others makes no significant difference",
            "disagrees with itself about 1 case:",
            "11 of 50 objects arrived (22.0%",
        ] {
            assert!(said.contains(part), "{part} is not in\n{said}");
        }
        let bars = tagged(section, "rect").filter(|rect| rect.attribute("class") == Some("column"));
        assert_eq!(bars.count(), 33, "eleven for each fault that moves objects");
        let shown = HOSTILE.replace(['\x1b', '\u{202e}'], "\u{fffd}");
        assert!(said.contains(&shown), "{said}");
    });
}

#[test]
fn frames_are_explained_where_there_are_any() {
    let dir = tempfile::tempdir().unwrap();
    let mut summary = rich(dir.path());
    let legend = "inserted or removed";
    with_page(&summary, dir.path(), |_, document| {
        let examples = text(with_id(document, "examples"));
        assert!(examples.contains(legend) && examples.contains("0.91 at 1.0 2.0 3.0 4.0"));
    });
    summary.examples.iter_mut().for_each(|example| example.changes = None);
    summary.galleries.iter_mut().for_each(|gallery| gallery.objects = false);
    with_page(&summary, dir.path(), |page, _| assert!(!page.contains(legend)));
}

#[test]
fn markdown_has_a_row_for_each_fault_in_scenes() {
    let dir = tempfile::tempdir().unwrap();
    let text = markdown(&rich(dir.path()));
    let rows = [
        "| road-eye | insert\\_object | 84 of 400 | `21.0% [17.3, 25.3]` |",
        "| road-eye | insert\\_object | 84 | 82 | 42 | 28 | 5 | 3 |",
    ];
    for row in rows {
        assert!(text.contains(row), "{text}");
    }
    assert!(!markdown(&empty()).contains("Changed scenes"));
}
