//! The way of a user: from no campaign to a pinned regression case.

use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::Value;
use std::collections::BTreeSet;

use super::small::{self, SMALL, TRIALS, assert_keys, done, object, records};
use crate::folder::Folder;

const SUMMARY: [&str; 42] = [
    "version",
    "name",
    "findings",
    "progress",
    "method",
    "moved",
    "confidence",
    "interval",
    "k_curves",
    "overall",
    "targets",
    "groupings",
    "curves",
    "weighted",
    "heat_maps",
    "rankings",
    "critical",
    "detection",
    "advice",
    "attacks",
    "benefits",
    "masked",
    "classes",
    "traits",
    "thresholds",
    "examples",
    "fairness",
    "families",
    "population",
    "galleries",
    "requirements",
    "robustness",
    "scenes",
    "scene_totals",
    "placed",
    "side_by_side",
    "spending",
    "pinned",
    "preserved",
    "verdict",
    "warnings",
    "provenance",
];

#[test]
fn what_init_writes_is_planned_and_run() {
    let folder = Folder::new("campaign_init");
    let init = done(&folder, "init world:signs-shallow world:signs:5 -o mine.yaml");
    assert_eq!(init.stdout, "");
    assert!(init.stderr.contains("faultlens run mine.yaml"), "{}", init.stderr);
    let again = folder.run("init world:signs-deep world:signs -o mine.yaml");
    assert_eq!(again.status, 2);
    assert!(again.stderr.contains("exists already") && again.stderr.contains("mine.yaml"));

    // Five cases, ten flips and five severities of noise each.
    let plan = object(&done(&folder, "plan mine.yaml --shards 2 --json"));
    assert_keys(&plan, &["name", "trials", "targets", "cases", "faults", "shards", "commands"]);
    assert_eq!((&plan["trials"], &plan["cases"]), (&75.into(), &5.into()));
    let sizes = plan["shards"].as_array().unwrap().iter().map(|size| size.as_u64().unwrap());
    assert_eq!(sizes.sum::<u64>(), 75);
    let told = done(&folder, "plan mine.yaml").stdout;
    assert!(told.starts_with("75 trials: 1 target × 5 cases"), "{told}");

    let run = done(&folder, "run mine.yaml");
    assert!(run.stdout.ends_with("report: runs/mine/report.html\n"), "{}", run.stdout);
    assert_eq!(records(&folder, "runs/mine").len(), 75);
    let html = std::fs::read_to_string(folder.path("runs/mine/report.html")).unwrap();
    assert!(html.starts_with("<!") && html.trim_end().ends_with("</html>"));
}

#[test]
fn the_commands_that_plan_shows_run_the_whole_campaign() {
    let folder = small::folder("plan_commands");
    let plan = object(&done(&folder, "plan small.yaml --shards 3 --json"));
    for command in plan["commands"].as_array().unwrap() {
        done(&folder, command.as_str().unwrap().strip_prefix("faultlens ").unwrap());
    }
    assert_eq!(records(&folder, "runs/small").len(), TRIALS);
}

#[test]
fn a_report_is_made_in_every_format_from_the_directory_alone() {
    let folder = small::finished("report");
    let run = object(&done(&folder, "run small.yaml --json"));
    assert_keys(&run, &SUMMARY);
    // Neither the campaign nor the old place is needed any more.
    std::fs::remove_file(folder.path("small.yaml")).unwrap();
    std::fs::rename(folder.path("run"), folder.path("moved")).unwrap();
    let report = object(&done(&folder, "report moved --json"));
    assert_keys(&report, &SUMMARY);
    assert_eq!(report["overall"], run["overall"]);
    assert_eq!(report["progress"]["recorded"], TRIALS);
    assert_eq!(object(&done(&folder, "report moved --format json")), report);

    for (format, start) in [("html", "<!"), ("junit", "<?xml"), ("markdown", ""), ("text", "")] {
        let text = done(&folder, &format!("report moved --format {format}")).stdout;
        assert!(text.starts_with(start) && text.contains("small"), "{format}: {text}");
        done(&folder, &format!("report moved --format {format} -o {format}.out"));
        let file = std::fs::read_to_string(folder.path(&format!("{format}.out"))).unwrap();
        assert_eq!(file.trim_end(), text.trim_end(), "{format}");
    }
    let by = object(&done(&folder, "report moved --by bit --by label --json"));
    let attributes: Vec<_> = by["groupings"].as_array().unwrap().iter().collect();
    assert_eq!(
        (&attributes[0]["attribute"], &attributes[1]["attribute"]),
        (&"bit".into(), &"label".into())
    );
    let rows = attributes[0]["rows"].as_array().unwrap();
    assert_eq!(rows.iter().map(|row| &row["key"]).collect::<Vec<_>>(), ["20", "30"]);
    // A reader that has seen enough is no error.
    let cut = folder.run_without(|child| drop(child.stdout.take()), "report moved --format html");
    assert_eq!((cut.status, cut.stderr.as_str()), (0, ""));
}

#[test]
fn exports_have_one_row_per_record() {
    let folder = small::finished("export");
    let rows = records(&folder, "run");
    let numbers: Vec<usize> = rows.iter().map(|row| row["number"].parse().unwrap()).collect();
    assert_eq!(numbers, (0..TRIALS).collect::<Vec<_>>());
    let summary = object(&done(&folder, "report run --json"));
    let changed = rows.iter().filter(|row| row["outcome"] == "changed").count();
    assert_eq!(summary["overall"]["changed"], changed);
    assert!(changed > 0 && changed < TRIALS, "{changed}");

    done(&folder, "export run -o rows.parquet");
    let file = std::fs::File::open(folder.path("rows.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    assert_eq!(reader.metadata().file_metadata().num_rows(), TRIALS as i64);
    let unnamed = folder.run("export run -o rows.txt");
    assert_eq!(unnamed.status, 2);
    assert!(unnamed.stderr.contains("--format csv"), "{}", unnamed.stderr);
    done(&folder, "export run -o rows.txt --format csv");
    let text = std::fs::read_to_string(folder.path("rows.txt")).unwrap();
    assert_eq!(text, std::fs::read_to_string(folder.path("run.csv")).unwrap());
}

#[test]
fn two_runs_are_set_side_by_side() {
    let folder = small::finished("compare");
    folder.text("other.yaml", &SMALL.replace("severity: 5", "severity: 1"));
    done(&folder, "run other.yaml --output other");
    let same = object(&done(&folder, "compare run run --json"));
    assert_keys(&same, &["first", "second", "rows", "correction", "warnings"]);
    assert_keys(
        &same["rows"][0],
        &[
            "what",
            "first",
            "second",
            "difference",
            "low",
            "high",
            "images",
            "pairs",
            "unpaired",
            "p_value",
        ],
    );
    // Four images say nothing about others, so that nothing is tested.
    assert_eq!(same["rows"][0]["difference"], 0.0);
    assert!(same["rows"][0]["p_value"].is_null(), "{same}");
    assert_eq!(same["rows"][0]["pairs"], TRIALS);
    let other = object(&done(&folder, "compare run other --json"));
    let rows = other["rows"].as_array().unwrap();
    let flips = rows.iter().find(|row| row["what"].as_str().unwrap().contains("bit=30")).unwrap();
    assert_eq!(flips["pairs"], 2 * 4 * 10);
    assert!(!rows.iter().any(|row| row["what"].as_str().unwrap().contains("noise")), "{other}");
    let table = done(&folder, "compare run other").stdout;
    assert!(table.contains("difference") && table.contains("bit=30"), "{table}");
}

#[test]
fn a_comparison_is_a_page_with_every_run() {
    let folder = small::finished("compare_page");
    folder.text("other.yaml", &SMALL.replace("severity: 5", "severity: 1"));
    done(&folder, "run other.yaml --output a&b");
    let shown = done(&folder, "compare run a&b run -o compare.html").stdout;
    assert!(shown.ends_with("comparison: compare.html\n"), "{shown}");
    let page = std::fs::read_to_string(folder.path("compare.html")).unwrap();
    // The same directory twice has no name of its own, so that paths tell runs apart.
    assert!(page.contains("<bdi>a&amp;b, run against run</bdi>"), "{page}");
    for wanted in ["Runs side by side", "Rates by fault", "bit=30", "Without faults"] {
        assert!(page.contains(wanted), "{wanted}");
    }
    let all = object(&done(&folder, "compare run a&b run --json"));
    let pairs: Vec<_> =
        all["comparisons"].as_array().unwrap().iter().map(|one| &one["rows"][0]["pairs"]).collect();
    assert_eq!(pairs[1], TRIALS, "{all}");
    assert!(pairs[0].as_u64().unwrap() > 0 && pairs[0] != pairs[1], "{all}");
    done(&folder, "compare run a&b -o compare.md");
    let text = std::fs::read_to_string(folder.path("compare.md")).unwrap();
    assert!(text.starts_with("## a&amp;b against run\n"), "{text}");
    for (args, wanted) in [
        ("compare run a&b -o page.pdf", "an .html or an .md file: page.pdf"),
        ("compare run a&b none -o page.html", "this is no run directory"),
    ] {
        let failed = folder.run(args);
        assert_eq!(failed.status, 2, "{args}");
        assert!(failed.stderr.contains(wanted), "{args}: {}", failed.stderr);
        assert!(!folder.path("page.html").exists());
    }
}

/// The number of a trial with this outcome.
fn trial_that(folder: &Folder, outcome: &str, fault: &str) -> String {
    let rows = records(folder, "run");
    let row = rows.iter().find(|row| row["outcome"] == outcome && row["fault"] == fault);
    row.unwrap()["number"].clone()
}

#[test]
fn a_trial_is_replayed_bit_for_bit() {
    let folder = small::finished("replay");
    for (outcome, fault) in
        [("unchanged", "bit_flip"), ("changed", "bit_flip"), ("changed", "gaussian_noise")]
    {
        let number = trial_that(&folder, outcome, fault);
        let shown = done(&folder, &format!("replay run {number} --save {fault}"));
        let ending = format!("{outcome}: the same as recorded, bit for bit\n");
        assert!(shown.stdout.ends_with(&ending), "{}", shown.stdout);
        assert!(folder.path(fault).join("before.png").exists());
        // Only a fault of the image changes what is shown.
        assert_eq!(folder.path(fault).join("after.png").exists(), fault == "gaussian_noise");
        let told = object(&done(&folder, &format!("replay run {number} --json")));
        assert_keys(
            &told,
            &[
                "identical",
                "target",
                "case",
                "fault",
                "golden",
                "observed",
                "objects",
                "site_count",
                "sites",
                "recorded",
                "now",
            ],
        );
        assert_eq!(told["identical"], true);
        let sites = usize::from(fault == "bit_flip");
        assert_eq!(told["sites"].as_array().unwrap().len(), sites);
        assert_eq!(told["recorded"]["number"].to_string(), number);
        let identity = told["recorded"]["trial"].as_str().unwrap().to_owned();
        let by_identity = object(&done(&folder, &format!("replay run {identity} --json")));
        assert_eq!(by_identity["now"]["digest"], told["now"]["digest"]);
    }
}

/// Faults with several places in one inference, of which the record keeps the first.
const SEVERAL: &str = "
output: run
targets: [{model: world:signs-shallow}]
cases: {data: 'world:signs:1'}
faults:
  - {fault: bit_flip, in: weights, amount: 7, bit: 30}
  - {fault: scale, factor: 3, mode: each_layer, in: layer_outputs}
  - {fault: zero, pattern: tensor, operators: [Conv], only: first}
  - {fault: zero, mode: rate, rate: 0}
";

#[test]
fn a_replay_shows_every_site_of_a_trial() {
    let folder = Folder::new("campaign_several_sites");
    folder.text("several.yaml", SEVERAL);
    done(&folder, "run several.yaml");
    let rows = records(&folder, "run");
    for (number, row) in rows.iter().enumerate() {
        let told = object(&done(&folder, &format!("replay run {number} --json")));
        let sites = told["sites"].as_array().unwrap();
        let count = told["site_count"].as_u64().unwrap();
        let extra: Value = serde_json::from_str(&row["extra"]).unwrap();
        assert_eq!(extra["hits"].as_str().unwrap(), count.to_string());
        assert_eq!(sites.len() as u64, count.min(1000));
        // The record's own site is the first one.
        if let Some(first) = sites.first() {
            let mut first = first.clone();
            assert_eq!(first.as_object_mut().unwrap().remove("reached"), Some(true.into()));
            assert_eq!(first, told["recorded"]["site"]);
        }
        let shown = done(&folder, &format!("replay run {number}")).stdout;
        let table: Vec<&str> =
            shown.lines().skip_while(|line| !line.contains("layer  operator")).skip(1).collect();
        let table: Vec<&&str> = table.iter().take_while(|line| !line.is_empty()).collect();
        match number {
            0 => {
                let elements: BTreeSet<u64> =
                    sites.iter().map(|site| site["element"].as_u64().unwrap()).collect();
                assert_eq!((count, elements.len(), table.len()), (7, 7, 7), "{shown}");
                assert!(sites.iter().all(|site| site["bit"] == 30));
                let less = done(&folder, "replay run 0 --max-sites 2").stdout;
                assert!(less.contains("  and 5 more; --max-sites N"), "{less}");
                let less = object(&done(&folder, "replay run 0 --max-sites 2 --json"));
                assert_eq!((&less["site_count"], less["sites"][2].is_null()), (&7.into(), true));
            }
            1 => {
                let layers = sites.iter().map(|site| site["layer"].as_u64().unwrap());
                assert!(layers.eq(1..=count) && count > 2, "{shown}");
                // Every number stands as the scaled one before it has made it.
                for site in sites {
                    let [before, after] =
                        ["before", "after"].map(|key| site[key].as_f64().unwrap() as f32);
                    assert_eq!(after, before * 3.0, "{site}");
                }
            }
            2 => {
                assert!(count > 1000 && table.len() == 21, "{shown}");
                let more = format!("and {} more", (count - 20).to_string().as_str());
                assert!(shown.replace([',', '\u{202f}'], "").contains(&more), "{shown}");
            }
            _ => assert!(shown.contains("no element hit: the rate spared"), "{shown}"),
        }
    }
}

#[test]
fn a_found_failure_becomes_a_pin_that_later_runs_replay_first() {
    let folder = small::finished("promote");
    let number = trial_that(&folder, "changed", "bit_flip");
    let pin =
        object(&done(&folder, &format!("promote run {number} --to pins.yaml --name found --json")));
    assert_keys(
        &pin,
        &["name", "target", "case", "index", "pixels", "fault", "settings", "stream", "was"],
    );
    assert_eq!((&pin["name"], &pin["was"]), (&"found".into(), &"changed".into()));
    let twice = done(&folder, &format!("promote run {number} --to pins.yaml"));
    assert!(twice.stderr.contains("already"), "{}", twice.stderr);
    let unchanged = trial_that(&folder, "unchanged", "bit_flip");
    done(&folder, &format!("promote run {unchanged} --to pins.yaml --name harmless"));

    folder.text("pinned.yaml", &format!("{SMALL}pinned: pins.yaml\n"));
    let run = done(&folder, "run pinned.yaml --output pinned --events events.jsonl");
    assert!(run.stderr.contains("pinned: found: changed"), "{}", run.stderr);
    let events = std::fs::read_to_string(folder.path("events.jsonl")).unwrap();
    let at = |what: &str| events.lines().position(|line| line.contains(what)).unwrap();
    assert!(at("\"found\"") < at("\"harmless\"") && at("\"harmless\"") < at("\"trial\":"));
    let check = folder.run("check pinned --json");
    assert_eq!(check.status, 1, "{}", check.stderr);
    let verdicts = object(&check);
    assert_eq!(verdicts["verdict"], "not_met");
    assert_eq!(verdicts["pinned"][0]["verdict"], "not_met");
    assert_eq!(verdicts["pinned"][1]["verdict"], "met");
    let shown = folder.run("check pinned").stdout;
    assert!(shown.contains("not met") && shown.contains("pinned found: changed"), "{shown}");

    // What is no longer pinned is no longer judged.
    folder.text("pinned.yaml", SMALL);
    done(&folder, "run pinned.yaml --output pinned");
    assert_eq!(folder.run("check pinned").status, 3);
}
