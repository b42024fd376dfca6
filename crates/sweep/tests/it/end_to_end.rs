//! A tiny sweep from end to end.

use faultlens_campaign::run::{Ending, RunOptions};
use faultlens_core::Seed;
use faultlens_engine::onnx;
use faultlens_sweep::{
    Configuration, EventKind, Row, Rows, Sweep, SweepError, load_rows, save_rows,
};
use faultlens_train::architecture::{Spec, build};
use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;

/// A sweep of three faults, two of them in two strengths, below a folder.
fn sweep(folder: &Path, besides: &str) -> Sweep {
    let output = folder.join("out");
    let text = format!(
        "sweep:
  output: {output:?}
  data: ['world:signs:75']
  size: [16, 16]
  samples: 10
  permutations: 2
  models:
    - {{architecture: ['mlp:8x1', 'convnet:4'], epochs: 2, batch: 16}}
{besides}
  defences:
    - control
    - {{defence: gauss_in, sigma: 0.2}}
    - {{defence: bit_depth_reduction, bits: [2, 4]}}
  attacks:
    - {{fault: brightness, severity: [1, 5]}}
    - {{fault: pgd, epsilon: [0.01, 0.2], iterations: 4}}
    - {{fault: fgm, epsilon: 0.1}}
"
    );
    assert!(Sweep::is_sweep(&text));
    Sweep::parse(&text, &folder.join("sweep.yaml")).unwrap()
}

/// Runs what is left of a sweep: its rows, and how many models were kept and trained.
fn run(sweep: &Sweep, threads: usize) -> Result<(Rows, usize, usize), SweepError> {
    let mut rows = Rows::default();
    let mut kept = 0;
    let mut trained = 0;
    for part in sweep.parts()? {
        let members = part.members(threads, &mut |news| {
            match news.what {
                EventKind::Kept => kept += 1,
                EventKind::Trained => trained += 1,
                EventKind::Learns(_) => {}
            }
            ControlFlow::Continue(())
        })?;
        let campaign = part.campaign(&members)?;
        let options = RunOptions { threads: Some(threads), ..RunOptions::default() };
        let ending =
            faultlens_campaign::run_campaign(campaign, &options, &mut [], &AtomicBool::new(false))
                .unwrap();
        assert_eq!(ending, Ending::Complete);
        rows.join(part.rows(&members)?);
    }
    save_rows(&rows, &sweep.output)?;
    Ok((rows, kept, trained))
}

/// Rows without what differs from run to run: times.
fn timeless(rows: &Rows) -> Rows {
    let configuration = |c: &Configuration| Configuration {
        training_seconds: 0.0,
        prediction_seconds: 0.0,
        ..c.clone()
    };
    let row = |r: &Row| Row { seconds: 0.0, wall_seconds: 0.0, ..r.clone() };
    Rows {
        name: rows.name.clone(),
        lost: rows.lost,
        configurations: rows.configurations.iter().map(configuration).collect(),
        rows: rows.rows.iter().map(row).collect(),
    }
}

/// By name, the bytes of every model that was kept.
fn models(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(folder.join("out/models")).unwrap().map(|file| file.unwrap().path());
    let models = files.filter(|path| path.extension().is_some_and(|e| e == "onnx"));
    let named = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    models.map(|path| (named(&path), fs::read(&path).unwrap())).collect()
}

#[test]
fn a_study_goes_on_after_losses_and_is_the_same_on_any_number_of_threads() {
    let folder = TempDir::new().unwrap();
    let sweep = sweep(folder.path(), "");
    // Two models, four ways to defend them, five faults; and two splits.
    assert_eq!(sweep.configurations(), 40);
    let (first, kept, trained) = run(&sweep, 1).unwrap();
    assert_eq!((kept, trained), (0, 8));
    assert_eq!((first.configurations.len(), first.rows.len()), (80, 800));
    let files = models(folder.path());
    assert_eq!(files.len(), 8);
    // Nothing is left to do.
    let (again, kept, trained) = run(&sweep, 1).unwrap();
    assert_eq!((kept, trained), (8, 0));
    assert_eq!(again, first);
    let out = folder.path().join("out");
    // A model without its card, a card without its model, a run, and half of the samples.
    let names: Vec<&String> = files.keys().collect();
    fs::remove_file(out.join("models").join(names[0])).unwrap();
    fs::remove_file(out.join("models").join(names[1]).with_extension("json")).unwrap();
    fs::remove_dir_all(out.join("signs-2")).unwrap();
    for data in fs::read_dir(out.join("data")).unwrap().map(|data| data.unwrap().path()) {
        if data.is_dir() {
            let class = fs::read_dir(&data).unwrap().next().unwrap().unwrap().path();
            fs::remove_dir_all(class).unwrap();
        }
    }
    let (mended, kept, trained) = run(&sweep, 2).unwrap();
    assert_eq!((kept, trained), (6, 2));
    assert_eq!(timeless(&mended), timeless(&first));
    assert_eq!(models(folder.path()), files);
}

#[test]
fn rows_say_what_was_measured() {
    let folder = TempDir::new().unwrap();
    let sweep = sweep(folder.path(), "");
    let (rows, ..) = run(&sweep, 2).unwrap();
    for c in &rows.configurations {
        assert!(c.training_seconds > 0.0 && c.prediction_seconds > 0.0, "{c:?}");
        assert!(c.prediction_seconds < 1.0 && c.benign_samples == 10, "{c:?}");
        assert_eq!(c.layers, 2, "{c:?}");
        assert_eq!(c.one_shot, c.attack.name != "pgd");
        assert_eq!(c.needs == "gradients", c.attack.name != "brightness");
        assert_eq!(c.epsilon.is_some(), c.norm.as_deref() == Some("inf"));
        assert!(c.machine.contains(" cores, "), "{c:?}");
        assert_eq!(
            c.attack.scaled,
            if [5.0, 0.2].contains(&c.attack.strength) { 1.0 } else { 0.0 }
        );
    }
    let of = |strength: f64| {
        let fits =
            move |c: &Configuration| (c.attack.name == "pgd") && c.attack.strength == strength;
        let all = rows.rows.iter();
        all.filter(|row| fits(&rows.configurations[row.configuration as usize])).collect::<Vec<_>>()
    };
    let weak = of(0.01);
    let strong = of(0.2);
    let changed = |rows: &[&Row]| rows.iter().filter(|row| row.changed).count();
    assert!(changed(&strong) > changed(&weak) + 20, "{} {}", changed(&strong), changed(&weak));
    for (row, most) in weak.iter().map(|row| (row, 0.01)).chain(strong.iter().map(|row| (row, 0.2)))
    {
        assert!(row.seconds > 0.0 && row.wall_seconds > 0.0 && row.seconds < 1.0, "{row:?}");
        assert_eq!(row.distance_inf, row.changed.then_some(row.distance));
        assert!(row.distance_2 >= row.distance_inf, "{row:?}");
        assert!(row.distance <= most + 1e-6 && row.visual_change.is_some(), "{row:?}");
        // Four gradients, and a last look at what they led to; those that changed need no more.
        assert!((1..=8).contains(&row.queries), "{row:?}");
        assert!(row.wrong.is_some() && !row.rejected, "{row:?}");
    }
    let labels: Vec<&str> =
        rows.configurations.iter().step_by(5).take(4).map(|c| c.defence.label.as_str()).collect();
    let wanted = [
        "control",
        "gauss_in sigma=0.2",
        "bit_depth_reduction (bits=2)",
        "bit_depth_reduction (bits=4)",
    ];
    assert_eq!(labels, wanted);
    // Splits differ, and so do the models that learn from them.
    let samples = |permutation: u32| {
        let own = rows.rows.iter().filter(|row| {
            rows.configurations[row.configuration as usize].permutation == permutation
        });
        own.map(|row| row.sample.clone()).collect::<Vec<_>>()
    };
    assert_ne!(samples(1), samples(2));
    let read: Rows =
        serde_json::from_slice(&fs::read(sweep.output.join("rows.json")).unwrap()).unwrap();
    assert_eq!(timeless(&read), timeless(&rows));
    let table = fs::read_to_string(sweep.output.join("rows.csv")).unwrap();
    assert_eq!(table.lines().count(), 1 + rows.rows.len());
    assert!(table.starts_with("data,permutation,architecture,layers,epochs,"), "{table}");
}

#[test]
fn what_is_stopped_leaves_no_half_of_a_model() {
    let folder = TempDir::new().unwrap();
    let sweep = sweep(folder.path(), "");
    let parts = sweep.parts().unwrap();
    let mut left = 12;
    let stopped = parts[0].members(1, &mut |_| {
        left -= 1;
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(stopped, Err(SweepError::Stopped)));
    // Four images per class and two epochs of four steps: the second model was under way.
    assert_eq!(models(folder.path()).len(), 1);
    let (_, kept, trained) = run(&sweep, 1).unwrap();
    assert_eq!((kept, trained), (1, 7));
}

#[test]
fn models_from_elsewhere_are_not_trained_and_must_know_the_classes() {
    let folder = TempDir::new().unwrap();
    let elsewhere = |file: &str, classes: usize| {
        let model = build("mlp:4x2", &Spec::new([3, 16, 16], classes), Seed::new(1)).unwrap();
        onnx::write(&model, &folder.path().join(file)).unwrap();
        let input = "{size: [16, 16], std: [0.5]}";
        format!("    - {{model: {file}, epochs: 30, training_seconds: 0.02, input: {input}}}")
    };
    let fits = sweep(folder.path(), &elsewhere("fits.onnx", 14));
    // Noise in training is for the two models that are trained here.
    assert_eq!(fits.configurations(), 5 * (4 + 4 + 3));
    let (rows, _, trained) = run(&fits, 1).unwrap();
    assert_eq!(trained, 8);
    let own: Vec<&Configuration> =
        rows.configurations.iter().filter(|c| c.architecture == "fits").collect();
    assert_eq!(own.len(), 2 * 3 * 5);
    assert!(own.iter().all(|c| (c.layers, c.epochs, c.training_seconds) == (3, 30, 0.02)));
    // Noise alone is for nobody where every model comes from elsewhere.
    let alone = format!(
        "sweep:\n  data: 'world:signs:75'\n  models:\n{}\n  \
         defences: [{{defence: gauss_in, sigma: 0.2}}]\n  attacks: [{{fault: fgm, epsilon: 0.1}}]\n",
        elsewhere("fits.onnx", 14)
    );
    let error = Sweep::parse(&alone, &folder.path().join("s.yaml")).unwrap_err().to_string();
    assert!(error.contains("nothing is left to attack; add the defence control"), "{error}");
    let odd = sweep(folder.path(), &elsewhere("odd.onnx", 9));
    let error = run(&odd, 1).unwrap_err().to_string();
    assert!(error.contains("14 labels, but the model has 9 classes"), "{error}");
}

#[test]
fn what_cannot_be_is_said() {
    let folder = TempDir::new().unwrap();
    let few = Sweep { samples: 16, ..sweep(folder.path(), "") };
    let error = few.parts().err().unwrap().to_string();
    assert!(error.contains("too few for 16 samples"), "{error}");
    let many = Sweep { train: Some(61), ..sweep(folder.path(), "") };
    let error = many.parts().err().unwrap().to_string();
    assert!(error.contains("has 60 cases to train on"), "{error}");
    let error = load_rows(folder.path()).unwrap_err().to_string();
    assert!(error.starts_with("cannot read the rows: "), "{error}");
    // A file stands where the folder should be, as nothing can be written to a full disk.
    fs::write(folder.path().join("out"), "").unwrap();
    let error = run(&sweep(folder.path(), ""), 1).unwrap_err().to_string();
    assert!(error.contains("cannot make the folder for models"), "{error}");
}

#[test]
fn slips_are_shown_in_their_line() {
    let wrong = |text: &str| {
        let text = format!("sweep:\n  data: world:signs\n{text}");
        Sweep::parse(&text, Path::new("s.yaml")).unwrap_err().to_string()
    };
    let models = "  models: [{architecture: lenet}]\n";
    let attacks = "  attacks: [{fault: brightness, severity: 1}]\n";
    for (text, wanted) in [
        (format!("{models}  atacks: []\n"), "s.yaml:4:3: sweep has no key \"atacks\""),
        (models.to_owned(), "sweep needs attacks"),
        (format!("{models}  attacks: [{{fault: brightnes}}]\n"), "s.yaml:4:21: no fault"),
        (format!("{models}{attacks}  samples: 0\n"), "s.yaml:5:12: samples takes"),
        (format!("{models}{attacks}  size: [32]\n"), "s.yaml:5:9: size takes rows and columns"),
        (format!("{models}{attacks}  permutations: many\n"), "s.yaml:5:17: permutations takes"),
    ] {
        let error = wrong(&text);
        assert!(error.contains(wanted), "{error}");
    }
    let world = "sweep: {data: world:sings, models: [{architecture: lenet}], attacks: [{}]}";
    let error = Sweep::parse(world, Path::new("s.yaml")).unwrap_err().to_string();
    assert!(error.contains("s.yaml:1:15:") && error.contains("signs"), "{error}");
    assert!(!Sweep::is_sweep("targets: []") && !Sweep::is_sweep("sweep: ["));
}

#[test]
fn the_shipped_study_is_a_large_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sweep/depth.yaml");
    let sweep = Sweep::load(&path).unwrap();
    assert!(sweep.configurations() >= 500, "{}", sweep.configurations());
}
