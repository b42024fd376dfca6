//! Small experiments from end to end, on a few scenes of the embedded world.

use faultlens_core::{Case, Seed};
use faultlens_data::{DataSet, write_coco};
use faultlens_retrain::{
    Configuration, EventKind, Origin, Plan, RetrainError, Retraining, Workers, load, retrain,
};
use faultlens_world as world;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

/// Two sets and the shipped detector with its card, as a user would bring them.
struct Own(TempDir);

impl Own {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let shipped = world::MODELS.iter().find(|model| model.name == "detector").unwrap();
        fs::write(dir.path().join("m.onnx"), shipped.onnx).unwrap();
        fs::write(dir.path().join("m.json"), shipped.card).unwrap();
        for (name, part, count) in [("train", world::TRAIN, 6), ("val", world::TEST, 5)] {
            let scenes = world::scenes(Seed::new(3).child(part), count);
            let cases: Vec<Case> = scenes.into_iter().map(|scene| scene.case).collect();
            let classes = world::SCENE_CLASSES.map(str::to_owned);
            write_coco(dir.path().join(name), &classes, cases).unwrap();
        }
        Self(dir)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn plan(&self) -> Plan {
        let origin = Origin::Own {
            model: self.path("m.onnx"),
            data: self.path("train"),
            evaluate: self.path("val"),
            objects: None,
        };
        let plan = Plan::new(origin);
        Plan { seeds: 2, epochs: 2, batch: 4, per_object: 3, rate: Some(0.001), ..plan }
    }
}

/// What was done, by its words, and what it came to.
fn run(
    plan: &Plan,
    folder: &Path,
    threads: usize,
) -> (Vec<String>, Result<Retraining, RetrainError>) {
    let mut events = Vec::new();
    let interrupted = AtomicBool::new(false);
    let workers = Workers { threads, interrupted: &interrupted };
    let done = retrain(plan, folder, &workers, &mut |news| {
        events.extend(match news.what {
            EventKind::Kept(step) => Some(format!("{} kept {step}", news.seed)),
            EventKind::First(_) => Some(format!("{} first", news.seed)),
            EventKind::Drawn { .. } => Some(format!("{} drawn", news.seed)),
            EventKind::Went(course) => {
                Some(format!("{} {}", news.seed, course.configuration.name()))
            }
            _ => None,
        });
    });
    (events, done)
}

fn bytes(folder: &Path, name: &str) -> Vec<u8> {
    fs::read(folder.join(name)).unwrap()
}

#[test]
fn an_experiment_repeats_goes_on_and_does_nothing_twice() {
    let own = Own::new();
    let (plan, [one, two]) = (own.plan(), ["one", "two"].map(|name| own.path(name)));
    let (events, done) = run(&plan, &one, 1);
    let done = done.unwrap();
    let each = |seed| {
        ["first", "drawn", "originals", "failing", "unchecked"].map(|s| format!("{seed} {s}"))
    };
    assert_eq!(events, [each(1), each(2)].concat());
    assert!(done.is_complete() && load(&one).unwrap() == done);
    // Twelve images in batches of four, twice; the same steps whatever is learned from.
    for course in done.seeds.iter().flat_map(|seed| &seed.courses) {
        let steps: Vec<usize> = course.points.iter().map(|point| point.steps).collect();
        assert_eq!(steps, [3, 6], "{course:?}");
        assert_eq!(course.losses.len(), 2);
    }
    let lasts = |c: usize| done.seeds[0].courses[c].losses[1].1;
    assert!(lasts(0) != lasts(1) && lasts(1) != lasts(2), "{done:?}");

    // Stopped in the middle of the second configuration, then gone on with, on more threads.
    let interrupted = AtomicBool::new(false);
    let workers = Workers { threads: 2, interrupted: &interrupted };
    let stopped = retrain(&plan, &two, &workers, &mut |news| {
        if matches!(news.what, EventKind::Learns { name: "failing", .. }) {
            interrupted.store(true, Ordering::Relaxed);
        }
    });
    assert!(matches!(stopped, Err(RetrainError::Stopped)));
    assert!(!load(&two).unwrap().is_complete());
    let (events, again) = run(&plan, &two, 2);
    assert_eq!(again.unwrap(), done);
    let kept =
        ["kept the first model", "kept the changed scenes", "kept originals alone", "failing"];
    assert_eq!(events[..4], kept.map(|step| format!("1 {step}")));
    for name in ["seed-1/failing.onnx", "seed-2/unchecked.onnx", "seed-1/failing/instances.json"] {
        assert_eq!(bytes(&one, name), bytes(&two, name), "{name}");
    }
    let (events, again) = run(&plan, &two, 1);
    assert!(
        again.unwrap() == done && events.iter().all(|step| step.contains("kept")),
        "{events:?}"
    );

    // Other labels make other sets, and those other models; the rest stays.
    let labelled = Plan { label_inserted: true, ..plan };
    let (events, _) = run(&labelled, &two, 2);
    assert_eq!(events[0], "1 kept the first model");
    assert_eq!(events[1..5], ["1 drawn", "1 kept originals alone", "1 failing", "1 unchecked"]);
    sets_have_labels(&one, &two);
}

/// Changed scenes have the labels of their backgrounds, and one more where that is asked for.
fn sets_have_labels(plain: &Path, labelled: &Path) {
    let open = |folder: &Path, name: &str| DataSet::open(folder.join("seed-1").join(name)).unwrap();
    let originals = open(plain, "originals");
    let stem = |name: &str| Path::new(name).file_stem().unwrap().to_string_lossy().into_owned();
    let originals: Vec<Case> = (0..originals.len()).map(|at| originals.case(at).unwrap()).collect();
    for name in [Configuration::Failing.name(), Configuration::Unchecked.name()] {
        let without = open(plain, name);
        let with = open(labelled, name);
        assert!(!without.is_empty() && without.len() == with.len());
        for at in 0..without.len() {
            let case = without.case(at).unwrap();
            let other = with.case(at).unwrap();
            let background = |one: &&Case| stem(&case.name).starts_with(&stem(&one.name));
            let background = originals.iter().find(background).unwrap();
            assert_eq!(case.objects, background.objects, "{}", case.name);
            assert_ne!(case.image, background.image);
            assert_eq!(case.image, other.image);
            assert_eq!(other.objects.len(), case.objects.len() + 1);
        }
    }
}

#[test]
fn what_cannot_be_done_is_said() {
    let own = Own::new();
    let said = |plan: &Plan, folder: &str| {
        run(plan, &own.path(folder), 1).1.map(|_| ()).unwrap_err().to_string()
    };
    let plain = own.plan();
    let with = |change: &dyn Fn(&mut PathBuf, &mut PathBuf, &mut PathBuf)| {
        let mut plan = own.plan();
        if let Origin::Own { model, data, evaluate, .. } = &mut plan.origin {
            change(model, data, evaluate);
        }
        plan
    };
    fs::write(own.path("bare.onnx"), b"").unwrap();
    fs::write(own.path("signs.onnx"), b"").unwrap();
    let card = world::MODELS.iter().find(|model| model.name == "signs-deep").unwrap().card;
    fs::write(own.path("signs.json"), card).unwrap();
    let image = world::scene(Seed::new(1), 0).case;
    write_coco(own.path("other"), &["a", "b", "c", "d"].map(str::to_owned), [image]).unwrap();
    for (plan, wanted) in [
        (Plan { seeds: 0, ..plain.clone() }, "the number of seeds cannot be 0"),
        (Plan { scenes: Some(7), ..plain.clone() }, "the number of scenes cannot be 7: the data"),
        (Plan { rate: Some(-1.0), ..plain.clone() }, "the learning rate cannot be -1"),
        (with(&|model, _, _| *model = own.path("bare.onnx")), "needs the card that it wrote"),
        (with(&|model, _, _| *model = own.path("signs.onnx")), "this model learned to classify"),
        (with(&|_, data, _| *data = own.path("other")), "has a, b, c, d; name data with the same"),
        (with(&|_, _, evaluate| *evaluate = own.path("none")), "none"),
    ] {
        let error = said(&plan, "wrong");
        assert!(error.contains(wanted), "{error}");
    }
    assert!(said(&plain, "train").contains("the folder holds something else"));
    assert!(own.path("train/instances.json").exists());
}

#[test]
fn without_a_failing_scene_there_is_nothing_to_add() {
    let dir = tempfile::tempdir().unwrap();
    // A model that has learned nothing finds nothing to put an object beside.
    let order = "detector:4,4,4".to_owned();
    let origin = Origin::World { architecture: order, first_epochs: 1, held_out: 3 };
    let plan = Plan { seeds: 1, scenes: Some(3), epochs: 1, ..Plan::new(origin) };
    let error = run(&plan, dir.path(), 1).1.unwrap_err();
    assert!(matches!(error, RetrainError::NoneChanged { seed: 1 }), "{error}");
    assert!(error.to_string().contains("use more --first-epochs"));

    // One that is disturbed by nothing.
    let own = Own::new();
    let plan = Plan { seeds: 1, scenes: Some(2), per_object: 1, ..own.plan() };
    let calm = |seed: u64| {
        let folder = own.path(&format!("calm-{seed}"));
        run(&Plan { seed, ..plan.clone() }, &folder, 1).1.err()
    };
    let calm = (1..12).find_map(calm).unwrap();
    assert!(matches!(calm, RetrainError::NoneFailing { .. }), "{calm}");
    assert!(calm.to_string().contains("every answer stayed"), "{calm}");
}
