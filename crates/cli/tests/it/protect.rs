//! What protections are worth, as users ask for it.

use crate::folder::{Folder, json};
use serde_json::Value;

const CAMPAIGN: &str = "
name: guarded
output: run
targets: [{model: world:signs-shallow}]
cases: {data: 'world:signs:6'}
faults:
  - {fault: bit_flip, in: [outputs, weights], bit: [29, 30], trials: 30}
  - {fault: gaussian_noise, severity: 5, trials: 2}
";

fn finished(test: &str) -> Folder {
    let folder = Folder::new(&format!("protect_{test}"));
    folder.text("campaign.yaml", CAMPAIGN);
    let run = folder.run("run campaign.yaml");
    assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
    folder
}

fn protections(advice: &Value) -> &Vec<Value> {
    advice["targets"][0]["protections"].as_array().unwrap()
}

#[test]
fn protections_are_evaluated_and_written_down() {
    let folder = finished("all");
    let run = folder.run("protect run --threads 1");
    assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
    for wanted in
        ["clipping activations", "duplicating 1 layer ", "checksumming 1 layer ", "Best value"]
    {
        assert!(run.stdout.contains(wanted), "{wanted}: {}", run.stdout);
    }
    let written = std::fs::read_to_string(folder.path("run/protection.json")).unwrap();
    let written: Value = serde_json::from_str(&written).unwrap();

    let again = folder.run("protect run --threads 3 --json");
    let printed = json(&again.stdout).remove(0);
    assert_eq!(printed, written, "the number of threads must not matter");
    assert_eq!(printed["trials"], 6 * 4 * 30);
    assert_eq!(printed["left_out"]["faults in images"], 12);
    let clipped = &protections(&printed)[0];
    assert_eq!(clipped["protection"], "ranges");
    let before = printed["targets"][0]["broken"]["events"].as_u64().unwrap();
    assert!(before > 0);
    assert_eq!(clipped["stopped"]["n"].as_u64(), Some(before));
}

#[test]
fn only_what_is_asked_for_is_evaluated() {
    let folder = finished("asked");
    let run = folder.run("protect run --duplicate 2 --json");
    let advice = json(&run.stdout).remove(0);
    let names: Vec<&str> =
        protections(&advice).iter().map(|one| one["protection"].as_str().unwrap()).collect();
    assert_eq!(names, ["duplication", "duplication"]);
    assert_eq!(advice["targets"][0]["limits"], Value::Array(Vec::new()));
}

#[test]
fn what_cannot_be_evaluated_is_said() {
    let folder = Folder::new("protect_wrong");
    let run = folder.run("protect nowhere");
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("nowhere"), "{}", run.stderr);

    folder.text(
        "images.yaml",
        "output: images\ntargets: [{model: world:signs-shallow}]\n\
         cases: {data: 'world:signs:2'}\nfaults: [{fault: gaussian_noise, severity: 5}]\n",
    );
    assert_eq!(folder.run("run images.yaml").status, 0);
    let run = folder.run("protect images");
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("no judged trial of a fault inside a model"), "{}", run.stderr);
    assert!(!folder.path("images/protection.json").exists());
    assert_eq!(folder.run("protect images --margin -3").status, 2);
}
