//! Attacks as faults of a campaign: on models with known answers, through defences, and refused
//! where they cannot work.

use crate::campaigns::{parse, refused};
use faultlens_analysis::{AttackResult, Summary, Warning, summarise};
use faultlens_campaign::OpenCampaign;
use faultlens_campaign::replay::Rerun;
use faultlens_core::{DType, Image, OutcomeKind, Tensor};
use faultlens_engine::onnx::{self, ModelBuilder};
use faultlens_record::Record;
use faultlens_spec::Campaign;
use std::path::Path;
use tempfile::TempDir;

/// Pixels of a side of the toy images.
const SIDE: usize = 8;

/// What a toy model looks at.
#[derive(Clone, Copy, PartialEq)]
enum Looks {
    /// The mean brightness: small changes of pixels change little.
    Mean,
    /// Hardly at the mean, and a lot at a pattern that no image has.
    Pattern,
    /// The same, and so sure of it that its gradients vanish.
    PatternSurely,
    /// The mean through an operator without a gradient.
    Rounded,
}

/// Writes a model that tells bright images from dark ones.
fn toy(dir: &Path, name: &str, looks: Looks) {
    let values = 3 * SIDE * SIDE;
    let pattern = if looks == Looks::Mean || looks == Looks::Rounded { 0.0 } else { 100.0 };
    let weight = |at: usize| {
        let (column, row) = (at % SIDE, at / SIDE % SIDE);
        let sign = if (column + row).is_multiple_of(2) { 1.0 } else { -1.0 };
        sign * pattern + if pattern == 0.0 { 20.0 } else { 0.1 } / values as f32
    };
    let weights: Vec<f32> = (0..values).flat_map(|at| [weight(at), -weight(at)]).collect();
    let middle = if pattern == 0.0 { 10.0 } else { 0.05 };
    let mut model = ModelBuilder::new(name);
    model.input("image", DType::F32, &["N".into(), 3.into(), SIDE.into(), SIDE.into()]);
    let shape = model.initializer("shape", Tensor::vector(vec![-1i64, values as i64]));
    model.node("Reshape", &["image", &shape], &["flat"]);
    let weights = model.initializer("weights", Tensor::new(vec![values, 2], weights).unwrap());
    model.node("MatMul", &["flat", &weights], &["sums"]);
    let middle = model.initializer("middle", Tensor::vector(vec![-middle, middle]));
    let last = match looks {
        Looks::PatternSurely => {
            model.node("Add", &["sums", &middle], &["moved"]);
            let steep = model.initializer("steep", Tensor::vector(vec![1e4f32]));
            model.node("Mul", &["moved", &steep], &["large"]);
            model.node("Tanh", &["large"], &["logits"]);
            "logits"
        }
        Looks::Rounded => {
            model.node("Add", &["sums", &middle], &["moved"]);
            model.node("Round", &["moved"], &["logits"]);
            "logits"
        }
        _ => {
            model.node("Add", &["sums", &middle], &["logits"]);
            "logits"
        }
    };
    model.output(last, DType::F32, &["N".into(), 2.into()]);
    onnx::write(&model.build(), &dir.join(format!("{name}.onnx"))).unwrap();
}

/// Twenty dark and twenty bright images of one grey each, and models that tell them apart.
fn world() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (class, from) in [("bright", 180u8), ("dark", 40)] {
        let folder = dir.path().join("data").join(class);
        std::fs::create_dir_all(&folder).unwrap();
        for number in 0..20 {
            let rgb = vec![from + number; 3 * SIDE * SIDE];
            let image = Image::from_rgb(SIDE, SIDE, rgb).unwrap();
            faultlens_data::write_png(&image, folder.join(format!("{number}.png"))).unwrap();
        }
    }
    std::fs::write(dir.path().join("labels.txt"), "bright\ndark\n").unwrap();
    toy(dir.path(), "robust", Looks::Mean);
    toy(dir.path(), "broken", Looks::Pattern);
    toy(dir.path(), "masked", Looks::PatternSurely);
    toy(dir.path(), "rounded", Looks::Rounded);
    dir
}

fn text(targets: &str, faults: &str) -> String {
    format!("name: toys\ntargets: [{targets}]\ncases: {{data: data}}\nfaults: [{faults}]\n")
}

/// A target called as its model and its first defence are.
fn target(name: &str, defence: &str) -> String {
    let called = defence.split([',', '}']).next().unwrap_or_default().replace("{name:", "");
    let defences = match defence {
        "" => String::new(),
        defence => format!(", defences: [{defence}]"),
    };
    format!(
        "{{name: '{name}{called}', model: {name}.onnx, labels: labels.txt, \
         input: {{size: [{SIDE}, {SIDE}]}}, output: {{kind: logits}}{defences}}}"
    )
}

fn run(dir: &Path, name: &str, text: &str, threads: usize) -> (Vec<Record>, Summary) {
    let records = crate::campaigns::run(dir, name, text, threads);
    (records, summarise(&dir.join(name), &[]).unwrap())
}

fn changed<'a>(summary: &'a Summary, target: &str, attack: &str) -> &'a AttackResult {
    let fits = |one: &&AttackResult| one.target == target && one.attack.starts_with(attack);
    summary.attacks.results.iter().find(fits).unwrap()
}

fn number(record: &Record, name: &str) -> Option<f64> {
    record.field(name).map(|text| text.parse().unwrap())
}

#[test]
fn broken_and_robust_models_are_told_apart_and_masked_gradients_are_noticed() {
    let dir = world();
    let targets = ["robust", "broken", "masked"].map(|name| target(name, "")).join(", ");
    let faults = "{fault: fgm, epsilon: 0.01}, {fault: pgd, epsilon: 0.01}, {fault: deepfool},
                  {fault: random_noise, epsilon: 0.01}, {fault: hop_skip_jump, iterations: 2}";
    let (records, summary) = run(dir.path(), "run", &text(&targets, faults), 2);
    let share =
        |target: &str, attack: &str| changed(&summary, target, attack).changed.value.unwrap();
    for attack in ["fgm", "pgd", "random_noise"] {
        assert_eq!((share("robust", attack), share("broken", attack)), (0.0, 1.0), "{attack}");
    }
    assert_eq!((share("masked", "fgm"), share("masked", "pgd")), (0.0, 0.0));
    assert_eq!(share("masked", "random_noise"), 1.0);
    // The mean must cross the middle, whatever the pixels do: 128 is half of 255.
    for record in records.iter().filter(|record| record.target == 0 && record.fault == 2) {
        let case = number(record, "distance_inf").unwrap();
        assert!(number(record, "first_queries").is_some() && case > 0.19, "{case}");
    }
    assert_eq!(summary.attacks.masked.len(), 1, "{:?}", summary.attacks.masked);
    let masked = &summary.attacks.masked[0];
    assert_eq!((masked.target.as_str(), masked.asking, masked.following), ("masked", 40, 0));
    assert!(masked.p_value < 1e-6);
    assert_eq!(summary.warnings, [Warning::MaskedGradients(masked.clone())]);
}

#[test]
fn the_books_are_kept_and_repeat_bit_for_bit() {
    let dir = world();
    let targets =
        [target("broken", ""), target("broken", "{name: gauss_out, sigma: 0.01}")].join(", ");
    let faults = "{fault: pgd, epsilon: 0.01, random_start: 'yes', trials: 2},
                  {fault: square, epsilon: 0.05, queries: 50}, {fault: pixel, pixels: 3, queries: 90},
                  {fault: hop_skip_jump, queries: 120, averaging: 2}";
    let text = text(&targets, faults);
    let (one, _) = run(dir.path(), "one", &text, 1);
    let (two, _) = run(dir.path(), "two", &text, 3);
    assert_eq!(one.len(), 2 * 40 * 5);
    for (one, two) in one.iter().zip(&two) {
        assert!(one.is_same(two), "{one:?}\n{two:?}");
        let most = [100_000, 50, 90, 120][one.fault as usize];
        assert!(one.cost.queries <= most, "{} of {most}", one.cost.queries);
        assert_eq!(one.field("gradients").is_some(), one.fault < 1);
        if let Some(first) = number(one, "first_queries") {
            assert!(first >= 1.0 && first <= f64::from(one.cost.queries));
            assert!(number(one, "first_cpu_seconds") <= number(one, "cpu_seconds"));
        }
    }
    let rerun = Rerun::open(&dir.path().join("one")).unwrap();
    for record in one.iter().step_by(37) {
        assert!(rerun.replay(&record.number.to_string()).unwrap().is_identical());
    }
}

#[test]
fn only_changes_that_people_do_not_notice_count() {
    let dir = tempfile::tempdir().unwrap();
    let campaign = |faults: &str| {
        format!(
            "targets: [{{model: world:signs-shallow}}]\ncases: {{data: 'world:signs:12'}}\n\
             faults: [{faults}]\n"
        )
    };
    let faults = "{fault: pgd, epsilon: 0.2}, {fault: pgd, epsilon: 0.2, within: 0.05},
                  {fault: deepfool, within: 0.3}";
    let (records, summary) = run(dir.path(), "run", &campaign(faults), 2);
    let of = |fault: u32| records.iter().filter(move |record| record.fault == fault);
    assert!(of(0).all(|record| number(record, "first_queries").is_some()));
    for record in of(1).chain(of(2)).filter(|record| record.field("first_queries").is_some()) {
        let most = if record.fault == 1 { 0.05 } else { 0.3 };
        assert!(number(record, "visual_change").unwrap() <= most, "{record:?}");
    }
    let rate = |at: usize| summary.attacks.results[at].changed.value.unwrap();
    assert!(rate(1) < rate(0), "{} {}", rate(1), rate(0));
}

#[test]
fn only_what_was_asked_for_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let text = "targets: [{model: world:signs-shallow}]\ncases: {data: 'world:signs:14'}\n\
                faults: [{fault: pgd, epsilon: 0.02, towards: [least_likely]},\n\
                {fault: hop_skip_jump, queries: 200, within: 0.05},\n\
                {fault: pgd, epsilon: 0.1, towards: [stop]}]\n";
    let (records, summary) = run(dir.path(), "run", text, 2);
    let judged = records.iter().filter(|record| record.outcome.kind() != OutcomeKind::Skipped);
    for record in judged {
        let found = record.field("first_queries").is_some();
        assert_eq!(record.outcome.kind() == OutcomeKind::Changed, found, "{record:?}");
        assert_eq!(record.field("distance").is_some(), found, "{record:?}");
    }
    let stops = records.iter().filter(|record| record.fault == 2);
    assert!(stops.clone().any(|record| record.outcome.kind() == OutcomeKind::Skipped));
    for record in stops.filter(|record| record.outcome.kind() == OutcomeKind::Changed) {
        assert_eq!(record.answer.as_deref(), Some("stop"));
    }
    let changed: u64 = summary.attacks.results.iter().map(|one| one.changed.events).sum();
    assert_eq!(changed, summary.overall.changed);
}

#[test]
fn defences_stand_between_and_refusals_count_apart() {
    let dir = world();
    let everything = "{name: conf, threshold: 1}";
    let defences =
        ["", "{name: bit_depth_reduction, bits: 4}", "{name: median_filter}", everything];
    let targets = defences.map(|defence| target("broken", defence)).join(", ");
    let faults = "{fault: pgd, epsilon: 0.01}, {fault: pgd, epsilon: 0.3},
                  {fault: pgd, epsilon: 0.3, knows_defences: 'no'}";
    let (records, summary) = run(dir.path(), "run", &text(&targets, faults), 2);
    let rate = |target: usize, fault: usize| {
        let name = &parse(dir.path(), &text(&targets, faults)).targets[target].name;
        let mut own = summary.attacks.results.iter().filter(|one| one.target == *name);
        own.nth(fault).map(|one| one.changed.value.unwrap())
    };
    assert_eq!((rate(0, 0), rate(0, 1)), (Some(1.0), Some(1.0)));
    // 15 steps: only greys within 2.55 of the middle between two steps can be pushed over it,
    // 17 of the 40; a change of 0.3 moves any of them.
    assert_eq!((rate(1, 0), rate(1, 1)), (Some(17.0 / 40.0), Some(1.0)));
    // No answer is ever sure, so that nothing can be judged, and the reason is told.
    let refused: Vec<&Record> = records.iter().filter(|record| record.target == 3).collect();
    assert!(refused.iter().all(|record| record.outcome.kind() == OutcomeKind::Skipped));
    assert_eq!((refused.len(), rate(3, 0)), (120, None));
    let sure = target("broken", "{name: conf, threshold: 0.51}");
    let (records, summary) =
        run(dir.path(), "sure", &text(&sure, "{fault: fgm, epsilon: 0.01}"), 2);
    let kinds = |kind| records.iter().filter(|record| record.outcome.kind() == kind).count() as u64;
    assert_eq!(summary.overall.detected, kinds(OutcomeKind::Detected));
}

#[test]
fn what_cannot_be_attacked_is_said_before_the_first_trial() {
    let dir = world();
    let error = refused(dir.path(), &text(&target("rounded", ""), "{fault: pgd}"));
    assert!(error.contains("Round") && error.contains("hop_skip_jump"), "{error}");
    OpenCampaign::open(parse(dir.path(), &text(&target("rounded", ""), "{fault: hop_skip_jump}")))
        .unwrap();
    let towards = text(&target("robust", ""), "{fault: pgd, towards: [brihgt]}");
    let error = refused(dir.path(), &towards);
    assert!(error.contains("did you mean \"bright\"?"), "{error}");
    let detector = "targets: [{model: world:detector}]\ncases: {data: 'world:scenes:2'}\n\
                    oracle: same_detections\nfaults: [{fault: FAULT}]";
    let error = refused(dir.path(), &detector.replace("FAULT", "fgm"));
    assert!(error.contains("no scores of classes") && !error.contains("square"), "{error}");
    let noisy = detector.replace("FAULT", "random_noise");
    let noisy = noisy.replace("detector}", "detector, defences: [{name: gauss_out}]}");
    let error = refused(dir.path(), &noisy);
    assert!(error.contains("gauss_out can do nothing about detections"), "{error}");
    let error = refused(dir.path(), &detector.replace("FAULT", "pixel"));
    assert!(error.contains("answers with detections"), "{error}");
    for (epsilon, wanted) in [("0", "epsilon"), (".nan", "epsilon"), ("-1", "epsilon")] {
        let text = text(&target("robust", ""), &format!("{{fault: fgm, epsilon: {epsilon}}}"));
        let error = Campaign::parse(&text, Path::new("toys.yaml")).err().unwrap().to_string();
        assert!(error.contains(wanted), "{error}");
    }
}

#[test]
fn any_answer_can_be_attacked_by_asking() {
    let dir = tempfile::tempdir().unwrap();
    let text = "targets: [{model: world:detector}]\ncases: {data: 'world:scenes:3'}\n\
                oracle: same_detections\n\
                faults: [{fault: random_noise, epsilon: 0.5, tries: 20}]\n";
    let (records, summary) = run(dir.path(), "run", text, 2);
    assert_eq!(records.len(), 3);
    assert!(summary.attacks.results[0].changed.events > 0, "{:?}", summary.attacks.results);
}
