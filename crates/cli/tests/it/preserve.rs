//! Requirements from human tolerance, as users write and check them.

use crate::folder::{Folder, Run, json};
use serde_json::Value;

const SIGNS: &str = "
name: seen by people
output: run
targets: [{model: world:signs-shallow}, {model: world:signs-deep}]
cases: {data: 'world:signs:40'}
faults:
  - {fault: contrast, tolerance: cifar10-car, trials: 4}
  - {fault: jpeg_compression, within: 0.6, evenly: visual_change, trials: 2}
preserve:
  - {what: correctness, tolerance: cifar10-car, batches: 50}
  - {what: prediction, tolerance: cifar10-car, faults: contrast, batches: 50}
";

fn done(folder: &Folder, args: &str) -> Run {
    let run = folder.run(args);
    assert_eq!(run.status, 0, "{args}: {}{}", run.stdout, run.stderr);
    run
}

fn checked(folder: &Folder, run: &str) -> Value {
    json(&folder.run(&format!("check {run} --json")).stdout).remove(0)
}

fn records(folder: &Folder, run: &str) -> Vec<Value> {
    done(folder, &format!("export {run} -o {run}.csv"));
    let text = std::fs::read_to_string(folder.path(&format!("{run}.csv"))).unwrap();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows = reader.deserialize::<std::collections::BTreeMap<String, String>>();
    rows.map(|row| serde_json::to_value(row.unwrap()).unwrap()).collect()
}

/// What a record says besides, as a number.
fn number(row: &Value, name: &str) -> Option<f64> {
    let extra: Value = serde_json::from_str(row["extra"].as_str()?).ok()?;
    extra[name].as_str()?.parse().ok()
}

#[test]
fn models_are_checked_against_what_people_tolerate() {
    let folder = Folder::new("preserve_signs");
    folder.text("campaign.yaml", SIGNS);
    done(&folder, "run campaign.yaml");
    let told = checked(&folder, "run");
    let preserved = told["preserved"].as_array().unwrap();
    // Two faults and two targets, and of predictions one fault.
    assert_eq!(preserved.len(), 6);
    for one in preserved {
        let [required, reached] = ["required", "reached"].map(|key| one[key].as_f64().unwrap());
        let difference = one["difference"]["value"].as_f64().unwrap();
        assert!((difference - (reached - required)).abs() < 1e-9);
        assert_eq!((&one["population"], &one["margin"]), (&"new_images".into(), &0.02.into()));
        assert_eq!(one["batch_rule"]["batches"]["number"], 50);
        let curve = one["diagnosis"]["curve"].as_array().unwrap();
        let n: u64 = curve.iter().map(|bin| bin["n"].as_u64().unwrap()).sum();
        let all = ["versions", "outside"].map(|key| one[key].as_u64().unwrap());
        assert_eq!(n, all.iter().sum::<u64>(), "{one}");
    }
    let contrast = |what: &str| {
        let own = |one: &&Value| one["what"] == what && one["fault"] == "contrast";
        preserved.iter().find(own).unwrap()
    };
    // Table 1 of the paper.
    assert_eq!(contrast("correctness")["tolerated"], 0.63);
    // As published, with what its interval would change.
    assert_eq!(contrast("correctness")["both_ends"], false);
    let ends = contrast("correctness")["ends"].as_array().unwrap();
    assert_eq!([&ends[0]["at_most"], &ends[1]["at_most"]], [0.46, 1.0]);
    assert_eq!(contrast("prediction")["tolerated"], 0.86);
    assert!(contrast("correctness")["outside"].as_u64().unwrap() > 0);
    assert_eq!(contrast("prediction")["outside"], 0);
    let worst = ["not_met", "inconclusive", "met"]
        .into_iter()
        .find(|word| preserved.iter().any(|one| one["verdict"] == *word));
    assert_eq!(told["verdict"].as_str(), worst);

    for row in records(&folder, "run") {
        assert!(number(&row, "visual_change").unwrap() <= 0.86 + 1e-9, "{row}");
    }
    let html = std::fs::read_to_string(folder.path("run/report.html")).unwrap();
    assert!(html.contains("Within human tolerance") && html.contains("HMRI"));
    let junit = folder.run("check run --junit out.xml");
    for part in ["points by image, margin 2", "on new images", "batch rule of Hu et al.: "] {
        assert!(junit.stdout.contains(part), "{part}: {}", junit.stdout);
    }
    assert!(junit.stdout.contains("correctness under contrast, signs-deep"), "{}", junit.stdout);
    let xml = std::fs::read_to_string(folder.path("out.xml")).unwrap();
    assert!(xml.contains("prediction under contrast, signs-shallow (cifar10-car)"), "{xml}");
}

#[test]
fn predictions_need_no_labels_and_any_tolerance_will_do() {
    let folder = Folder::new("preserve_folder");
    std::fs::create_dir(folder.path("images")).unwrap();
    for at in 0..6u8 {
        let shade = |x: u32, y: u32| image::Rgb([(x * 5 + y) as u8, at * 40, (x ^ y) as u8]);
        let image = image::RgbImage::from_fn(48, 48, shade);
        image.save(folder.path(&format!("images/{at}.png"))).unwrap();
    }
    folder.text(
        "mine.json",
        r#"{"name": "mine", "source": "six friends", "originals": {"accuracy": 0.9},
            "faults": {"frost": {"t_p": {"value": 0.4, "low": 0.3, "high": 0.5}}}}"#,
    );
    folder.text(
        "campaign.yaml",
        "output: run\ntargets: [{model: world:signs-shallow}]\n\
         cases: {data: images, format: images}\n\
         faults: [{fault: frost, within: 1, trials: 10}]\n\
         preserve: [{what: prediction, tolerance: mine.json}]\n",
    );
    done(&folder, "run campaign.yaml");
    // The run keeps what it was checked with.
    std::fs::remove_file(folder.path("mine.json")).unwrap();
    let told = checked(&folder, "run");
    let one = &told["preserved"][0];
    assert_eq!((&one["tolerated"], &one["tolerance"]), (&0.4.into(), &"mine.json".into()));
    let counted = ["versions", "outside"].map(|key| one[key].as_u64().unwrap());
    assert_eq!(counted.iter().sum::<u64>(), 60);
    // Six images say nothing about others.
    assert_eq!(
        (&one["verdict"], &one["difference"]["low"]),
        (&"inconclusive".into(), &Value::Null)
    );
    let why = one["why"].as_str().unwrap();
    assert_eq!(why, "no statement about new images is made from 6 images; use at least 10");
    assert!(counted.iter().all(|n| *n > 0), "{counted:?}");

    // A requirement never vanishes.
    let manifest = std::fs::read_to_string(folder.path("run/manifest.json")).unwrap();
    folder.text("run/manifest.json", &manifest.replace("t_p", "t_x"));
    let check = folder.run("check run");
    assert_eq!(check.status, 2, "{}", check.stdout);
    assert!(check.stderr.contains("its checksum does not fit"), "{}", check.stderr);
}

#[test]
fn objects_and_areas_are_scored() {
    let folder = Folder::new("preserve_objects");
    for (target, oracle, metric) in
        [("detector", "same_detections", "ap"), ("segmenter", "same_segments", "iou")]
    {
        folder.text(
            "campaign.yaml",
            &format!(
                "output: {target}\ntargets: [{{model: 'world:{target}'}}]\n\
                 cases: {{data: 'world:scenes:8'}}\noracle: {oracle}\n\
                 faults: [{{fault: brightness, tolerance: imagenet-car, trials: 3}}]\n\
                 preserve: [{{what: correctness, tolerance: imagenet-car}},\n\
                 \x20          {{what: prediction, tolerance: imagenet-car}}]\n"
            ),
        );
        done(&folder, "run campaign.yaml");
        let told = checked(&folder, target);
        for one in told["preserved"].as_array().unwrap() {
            assert_eq!(one["metric"], metric);
            let reached = one["reached"].as_f64().unwrap();
            assert!(reached > 0.2 && reached < 1.0, "{one}");
        }
    }
}

#[test]
fn a_guard_bounds_any_campaign() {
    let folder = Folder::new("preserve_guard");
    folder.text(
        "campaign.yaml",
        "output: run\nvisual_change: needed\ntargets: [{model: world:signs-shallow}]\n\
         cases: {data: 'world:signs:10'}\n\
         faults: [{fault: contrast, severity: 1..5}, {fault: bit_flip, trials: 2}]\n\
         guards: [{name: within_tolerance, at_most: 0.5}]\n",
    );
    done(&folder, "run campaign.yaml");
    let mut barred = 0;
    for row in records(&folder, "run") {
        let outside = number(&row, "visual_change").is_some_and(|change| change > 0.5);
        barred += u32::from(outside);
        assert_eq!(row["outcome"] == "skipped", outside, "{row}");
    }
    assert!(barred > 5, "{barred}");
}

#[test]
fn what_cannot_be_checked_is_said_before_anything_runs() {
    let folder = Folder::new("preserve_wrong");
    let campaign = |faults: &str, preserve: &str| {
        format!(
            "output: run\ntargets: [{{model: world:signs-shallow}}]\n\
             cases: {{data: 'world:signs:3'}}\nfaults: [{faults}]\npreserve: [{preserve}]\n"
        )
    };
    folder.text("odd.json", "{}");
    for (faults, preserve, wanted) in [
        (
            "{fault: frost, severity: 1}",
            "{what: corectness, tolerance: imagenet-car}",
            "did you mean \"correctness\"?",
        ),
        (
            "{fault: frost, severity: 1}",
            "{what: correctness, tolerance: imagnet-car}",
            "no tolerance is called \"imagnet-car\"; did you mean \"imagenet-car\"?",
        ),
        (
            "{fault: frost, severity: 1}",
            "{what: correctness, tolerance: mine.json}",
            "name a file that faultlens tolerance --json wrote, or one of cifar10-car",
        ),
        (
            "{fault: frost, severity: 1}",
            "{what: correctness, tolerance: odd.json}",
            "it is not what `faultlens tolerance --json` prints",
        ),
        (
            "{fault: fog, severity: 1}",
            "{what: correctness, tolerance: cifar10-car}",
            "the campaign has no such fault",
        ),
        (
            "{fault: frost, severity: 1}",
            "{what: correctness, tolerance: cifar10-car, faults: frst}",
            "did you mean \"frost\"?",
        ),
        (
            "{fault: frost, severity: 1}",
            "{what: correctness, tolerance: cifar10-car, classes: [no-enty]}",
            "did you mean \"no-entry\"?",
        ),
        (
            "{fault: frost, severity: 1}, {fault: fog, severity: 1}",
            "{what: correctness, tolerance: cifar10-car, faults: [frost, fog]}",
            "cifar10-car says nothing of the correctness of fog",
        ),
        (
            "{fault: frost, severity: 1, evenly: strength}",
            "{what: correctness, tolerance: cifar10-car}",
            "evenly needs within or tolerance",
        ),
        (
            "{fault: frost, within: 1.5}",
            "{what: correctness, tolerance: cifar10-car}",
            "within takes a number from 0.0 to 1.0",
        ),
        (
            "{fault: frost, within: 0.5, severity: 3}",
            "{what: correctness, tolerance: cifar10-car}",
            "within draws the strength, and severity sets it",
        ),
        (
            "{fault: black, within: 0.5}",
            "{what: correctness, tolerance: cifar10-car}",
            "black has no parameter \"within\"",
        ),
    ] {
        folder.text("campaign.yaml", &campaign(faults, preserve));
        let run = folder.run("run campaign.yaml");
        assert_eq!(run.status, 2, "{faults} {preserve}: {}", run.stdout);
        assert!(run.stderr.contains(wanted), "{wanted}: {}", run.stderr);
        assert!(!folder.path("run").exists());
    }
}

#[test]
fn a_range_that_cannot_be_reached_is_counted() {
    let folder = Folder::new("preserve_reach");
    folder.text(
        "campaign.yaml",
        "output: run\ntargets: [{model: world:signs-shallow}]\ncases: {data: 'world:signs:3'}\n\
         faults: [{fault: gaussian_noise, within: 0, trials: 2}]\n\
         preserve: [{what: correctness, tolerance: imagenet-car}]\n",
    );
    done(&folder, "run campaign.yaml");
    let told = checked(&folder, "run");
    let one = &told["preserved"][0];
    assert_eq!((&one["verdict"], &one["out_of_reach"]), (&"inconclusive".into(), &6.into()));
    assert!(one["why"].as_str().unwrap().contains("as little as people tolerate"), "{one}");
}
