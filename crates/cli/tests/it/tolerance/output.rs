//! What is shown, written and read again.

use faultlens::judge::Tolerance;

use super::{number, object, study, table, with};

#[test]
fn thresholds_are_shown_in_a_table() {
    let run = with("shown", "data.csv", &study("fog")).run("tolerance data.csv --rounds 60");
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(lines[0].starts_with("right on the originals: 9"), "{}", run.stdout);
    assert!(lines[0].contains("(2,700 answers)"), "{}", run.stdout);
    assert!(lines[1].starts_with("fault") && lines[2].starts_with("fog"), "{}", run.stdout);
    assert!(
        lines.iter().any(|line| line.contains("rule default, by significance")),
        "{}",
        run.stdout
    );
}

#[test]
fn the_drop_is_found_and_the_interval_holds_it() {
    let object = object(&with("found", "data.csv", &study("fog")), "data.csv --rounds 100");
    for key in ["t_c", "t_p"] {
        let of = &object["faults"]["fog"][key];
        let [value, low, high, cautious] =
            ["/value", "/low", "/high", "/cautious"].map(|path| number(of, path));
        assert!((0.5..=0.65).contains(&value), "{key}: {value}");
        assert!(low <= value && value <= high && high < 0.65, "{key}: [{low}, {high}]");
        assert!(cautious < value && cautious > value - 0.05, "{key}: {cautious}");
        assert_eq!((&of["ending"], &of["resampled"]), (&"drop".into(), &"images".into()));
        assert_eq!(number(of, "/answers"), 2700.0);
        assert_eq!(number(of, "/reuse/pairs"), 20.0);
        let bins = of["bins"].as_array().unwrap();
        assert_eq!(bins.len(), 90);
        for bin in bins {
            let [n, hits, rate] = ["/n", "/hits", "/rate"].map(|path| number(bin, path));
            let [low, fitted, high] = ["/low", "/fitted", "/high"].map(|path| number(bin, path));
            assert!((rate - hits / n).abs() < 1e-12 && low <= fitted && fitted <= high);
        }
    }
    assert_eq!(object["rule"], "default");
}

#[test]
fn seeds_and_threads() {
    let folder = with("seeds", "data.csv", &study("fog"));
    let run =
        |args: &str| object(&folder, &format!("data.csv --rounds 60 {args}"))["faults"].clone();
    let first = run("--threads 1");
    assert_eq!(first, run("--threads 3"));
    assert_eq!(first, run("--seed 1"));
    assert_ne!(first, run("--seed 2"));
}

/// What checks of models read.
#[test]
fn the_object_is_a_tolerance() {
    let folder = with("tolerance", "data.csv", &study("frost"));
    let run = folder.run("tolerance data.csv --rounds 60 --json --name mine");
    let tolerance = Tolerance::from_json(&run.stdout).unwrap();
    assert_eq!(tolerance.name, "mine");
    let version = env!("CARGO_PKG_VERSION");
    let source = "data.csv: 2,700 answers on changed images of 1 fault; faultlens";
    assert_eq!(tolerance.source, format!("{source} {version} tolerance --rule default"));
    let elsewhere = folder.path("data.csv").display().to_string();
    assert_eq!(object(&folder, &format!("{elsewhere} --rounds 60"))["source"], *tolerance.source);
    let frost = tolerance.of("frost").unwrap();
    let right = frost.correctness.as_ref().unwrap();
    assert_eq!(right.curve.len(), 90);
    let (low, high) = right.interval.unwrap();
    assert!(low <= right.at_most && right.at_most <= high);
    assert!(tolerance.originals.unwrap() > 0.9);
}

/// A threshold that people lose so many points at, as a tolerance that says so.
#[test]
fn a_stated_drop_defines_a_threshold() {
    let folder = with("stated", "data.csv", &study("fog"));
    let run = folder.run("tolerance data.csv --rounds 60 --drop 10 -o page.html");
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let wanted = "At t_c people are right 10 points less often than on the original";
    assert!(run.stdout.contains(wanted), "{}", run.stdout);
    let page = std::fs::read_to_string(folder.path("page.html")).unwrap();
    for wanted in [wanted, "people lose fewer than 10 points", "stated-drop, 10 points"] {
        assert!(page.contains(wanted), "{wanted}");
    }
    let [small, large] = ["5", "20"].map(|points| {
        let object = object(&folder, &format!("data.csv --rounds 60 --drop {points}"));
        assert_eq!(object["rule"], "stated-drop");
        let source = object["source"].as_str().unwrap();
        assert!(source.ends_with(&format!("tolerance --drop {points}")), "{source}");
        let of = &object["faults"]["fog"]["t_c"];
        let [value, low, high] = ["/value", "/low", "/high"].map(|path| number(of, path));
        assert!(low <= value && value <= high, "{value} [{low}, {high}]");
        value
    });
    assert!(small < large, "{small} {large}");
    for wrong in ["--drop 0", "--drop 100", "--drop ten", "--drop 10 --rule default"] {
        let run = folder.run(&format!("tolerance data.csv {wrong}"));
        assert_eq!(run.status, 2, "{wrong}: {}", run.stdout);
    }
}

#[test]
fn a_table_is_told_to_have_narrow_intervals() {
    let folder = with("narrow", "a_c_p_frost.csv", &table("Num_Accs", "Accuracy"));
    let run = folder.run("tolerance a_c_p_frost.csv --rule published-imagenet --rounds 40 --json");
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stderr.contains("intervals from tables are too narrow"), "{}", run.stderr);
    assert!(run.stderr.contains("accuracy on the originals: 0.97, as published"), "{}", run.stderr);
    let object: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let of = &object["faults"]["frost"]["t_c"];
    assert_eq!((&of["resampled"], &of["ending"]), (&"bins".into(), &"drop".into()));
    assert!((number(of, "/value") - 0.62).abs() < 0.03, "{of}");
}

#[test]
fn the_page_shows_every_curve() {
    let folder = with("page", "data.csv", &study("fog"));
    folder.text("more.csv", &study("frost"));
    let run = folder.run("tolerance data.csv more.csv --rounds 40 -o page.html");
    assert_eq!(run.status, 0, "{}", run.stderr);
    let page = std::fs::read_to_string(folder.path("page.html")).unwrap();
    assert_eq!(page.matches("class=\"people\"").count(), 4);
    for wanted in [
        "fog",
        "frost",
        "people are correct as often as on the original up to a visual change",
        "Rule default",
        "more.csv",
    ] {
        assert!(page.contains(wanted), "{wanted}");
    }
}
