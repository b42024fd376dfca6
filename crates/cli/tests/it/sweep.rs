//! Studies over a grid, as users run them.

use crate::folder::{Folder, Run, json};

const SWEEP: &str = "
sweep:
  name: small
  output: out
  data: 'world:signs:75'
  size: [16, 16]
  samples: 10
  models: [{architecture: 'mlp:8x1', epochs: 2}]
  defences: [control, {defence: median_filter, radius: [1, 2]}]
  attacks: [{fault: brightness, severity: [1, 3, 5]}]
";

fn done(folder: &Folder, args: &str) -> Run {
    let run = folder.run(args);
    assert_eq!(run.status, 0, "{args}: {}{}", run.stdout, run.stderr);
    run
}

#[test]
fn a_sweep_is_run_like_a_campaign() {
    let folder = Folder::new("grid_small");
    folder.text("sweep.yaml", SWEEP);
    let plan = json(&done(&folder, "run sweep.yaml --dry-run --json").stdout).remove(0);
    assert_eq!((&plan["configurations"], &plan["trials"]), (&9.into(), &90.into()));
    let told = json(&done(&folder, "run sweep.yaml --json").stdout).remove(0);
    assert_eq!(
        (&told["trained"], &told["kept"], &told["rows"]),
        (&1.into(), &0.into(), &90.into())
    );
    let again = done(&folder, "run sweep.yaml");
    assert!(again.stdout.contains("0 models trained, 1 kept from before"), "{}", again.stdout);
    assert!(again.stderr.contains("90 already recorded in out/signs-1"), "{}", again.stderr);
    // What it leaves are ordinary campaigns and runs.
    done(&folder, "run out/signs-1.yaml");
    let report = done(&folder, "report out/signs-1 --json --by defence").stdout;
    assert!(report.contains("median_filter"), "{report}");
    done(&folder, "replay out/signs-1 7");
    assert!(folder.path("out/signs-1/report.html").exists());
    // A fault that does not search is over at once, and its time is no duration.
    let survived = folder.run("survive out/rows.csv --duration seconds --event changed");
    assert!(survived.stderr.contains("90 rows are single shots"), "{}", survived.stderr);
}

#[test]
fn what_the_rows_say_is_told_once_more() {
    let folder = Folder::new("grid_told");
    let attack = "{fault: pgd, epsilon: [0.1, 0.3], iterations: 4}";
    folder.text("sweep.yaml", &SWEEP.replace("{fault: brightness, severity: [1, 3, 5]}", attack));
    let told = json(&done(&folder, "run sweep.yaml --json").stdout).remove(0);
    let names = ["rows.json", "rows.csv", "report.html", "sweep.json"].map(|n| format!("out/{n}"));
    assert_eq!(told["files"], serde_json::json!(names));
    // The rows can be analysed as any other table.
    let survive = "survive out/rows.csv --duration seconds --event changed --model exponential";
    done(&folder, &format!("{survive} --covariates attack_scaled --json"));
    std::fs::remove_file(folder.path("out/sweep.json")).unwrap();
    std::fs::remove_file(folder.path("out/report.html")).unwrap();
    done(&folder, "report out");
    let page = std::fs::read_to_string(folder.path("out/report.html")).unwrap();
    assert!(page.contains("<title>small") && folder.path("out/sweep.json").exists());
    let run = folder.run("report out --by defence");
    assert_eq!(run.status, 2, "{}", run.stdout);
    assert!(run.stderr.contains("--by works on its campaigns"), "{}", run.stderr);
    folder.text("out/rows.json", "{");
    let run = folder.run("report out");
    assert!(run.stderr.contains("cannot read the rows"), "{}", run.stderr);
}

#[test]
fn what_a_sweep_cannot_do_is_said() {
    let folder = Folder::new("grid_wrong");
    folder.text("sweep.yaml", SWEEP);
    folder.text("slip.yaml", &SWEEP.replace("samples:", "sample:"));
    folder.text("campaign.yaml", "targts: []");
    for (args, wanted) in [
        ("run sweep.yaml --shard 1/2", "a sweep has no shards"),
        ("run slip.yaml", "slip.yaml:7:3: sweep has no key \"sample\"; did you mean \"samples\"?"),
        ("run campaign.yaml", "did you mean \"targets\"?"),
    ] {
        let run = folder.run(args);
        assert_eq!(run.status, 2, "{args}");
        assert!(run.stderr.contains(wanted), "{args}: {}", run.stderr);
    }
    assert!(!folder.path("out").exists());
}
