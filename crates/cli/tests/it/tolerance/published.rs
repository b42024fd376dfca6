//! The published answers of Hu et al., where they are at hand: the values of their Table 1.

use std::path::PathBuf;

use serde_json::Value;

use super::{number, object};
use crate::folder::Folder;

/// The published answers; they are not ours to give away, so they may be absent.
#[expect(clippy::print_stderr, reason = "a test that checks nothing says so")]
fn published() -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let data = root.join("../shared/assets/data/hu_human");
    if !data.is_dir() {
        eprintln!("not checked: the published answers are not at hand");
        return None;
    }
    Some(data.canonicalize().unwrap())
}

/// Fault, name in the files, t_c and t_p by the published rule, t_c and t_p by the default rule.
type Row = (&'static str, &'static str, [f64; 2], [f64; 2]);

const IMAGENET: [Row; 8] = [
    // The paper's table has .67 for t_p, which no reference rate gives; its code has .26.
    ("rgb_shift", "RGB", [0.82, 0.26], [1.0, 0.48]),
    ("contrast", "contrast", [0.77, 0.28], [0.77, 0.61]),
    ("defocus_blur", "defocus_blur", [0.98, 0.94], [0.98, 0.97]),
    ("frost", "frost", [0.84, 0.91], [0.84, 0.91]),
    ("brightness", "brightness", [0.87, 0.87], [0.87, 0.89]),
    ("gaussian_noise", "gaussian_noise", [0.91, 0.91], [0.91, 0.96]),
    ("colour_jitter", "Color_jitter", [0.48, 0.48], [0.48, 0.77]),
    ("jpeg_compression", "jpeg_compression", [0.94, 0.94], [1.0, 1.0]),
];

const CIFAR10: [Row; 4] = [
    ("brightness", "brightness", [0.78, 0.89], [0.79, 1.0]),
    ("frost", "frost", [0.61, 0.61], [0.70, 0.66]),
    ("contrast", "contrast", [0.63, 0.86], [0.70, 1.0]),
    ("jpeg_compression", "jpeg_compression", [0.60, 0.60], [1.0, 1.0]),
];

fn thresholds(of: &Value, fault: &str) -> [f64; 2] {
    ["t_c", "t_p"].map(|key| number(of, &format!("/faults/{fault}/{key}/value")))
}

fn tables(data: &std::path::Path, set: &str, rows: &[Row]) -> String {
    let files = rows.iter().flat_map(|(_, name, ..)| {
        ["c_p", "p_p"].map(|kind| data.join(set).join(format!("{set}_{kind}_{name}.csv")))
    });
    files.map(|file| file.display().to_string()).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_tables_give_the_published_values() {
    let Some(data) = published() else { return };
    let folder = Folder::new("tolerance_tables");
    for (set, rows, accuracy) in [("imagenet", &IMAGENET[..], 0.97), ("cifar10", &CIFAR10, 0.967)] {
        let files = tables(&data, set, rows);
        let published = object(&folder, &format!("{files} --rule published-{set} --rounds 40"));
        assert_eq!(number(&published, "/originals/accuracy"), accuracy);
        let default =
            object(&folder, &format!("{files} --originals-accuracy {accuracy} --rounds 40"));
        for (fault, _, by_published, by_default) in rows {
            assert_eq!(thresholds(&published, fault), *by_published, "{set} {fault}");
            assert_eq!(thresholds(&default, fault), *by_default, "{set} {fault}");
        }
    }
}

/// Single answers give the same bins as the tables that the authors made of them, and so the same
/// thresholds.
#[test]
fn single_answers_give_the_published_bins() {
    let Some(data) = published() else { return };
    let folder = Folder::new("tolerance_bins");
    let answers = data.join("cifar10_answers.csv").display().to_string();
    let single = object(&folder, &format!("{answers} --rule published-cifar10 --rounds 40"));
    let files = tables(&data, "cifar10", &CIFAR10);
    let tables = object(&folder, &format!("{files} --rule published-cifar10 --rounds 40"));
    let mut compared = [0, 0];
    for (fault, ..) in CIFAR10 {
        for (key, compared) in ["t_c", "t_p"].into_iter().zip(&mut compared) {
            let [own, theirs] = [&single, &tables].map(|of| {
                let bins = of["faults"][fault][key]["bins"].as_array().unwrap();
                let bin = |bin: &Value| {
                    (bin["visual_change"].clone(), bin["n"].clone(), bin["hits"].clone())
                };
                bins.iter().map(bin).collect::<Vec<_>>()
            });
            assert_eq!(own, theirs, "{fault} {key}");
            *compared += own.len();
        }
        assert_eq!(thresholds(&single, fault), thresholds(&tables, fault), "{fault}");
    }
    assert_eq!(compared, [308, 236]);
    assert!((number(&single, "/originals/accuracy") - 0.967).abs() < 5e-4);
    assert_eq!(number(&single, "/originals/n"), 10_386.0);
}

/// Intervals that were computed independently, from other random numbers. Rounds gather at a few
/// places and the lower end jumps between them: five times 600 rounds give 0.28 to 0.47 for t_p of
/// JPEG. Redrawing answers instead of images gives 0.56 there, which this still tells apart.
#[test]
fn images_are_redrawn_with_all_their_answers() {
    let Some(data) = published() else { return };
    let folder = Folder::new("tolerance_redrawn");
    let answers = data.join("cifar10_answers.csv").display().to_string();
    let default = object(&folder, &format!("{answers} --rounds 600"));
    let wanted = [
        ("brightness", "t_c", 0.73, 1.0),
        ("brightness", "t_p", 0.67, 1.0),
        ("frost", "t_c", 0.57, 0.79),
        ("frost", "t_p", 0.42, 1.0),
        ("contrast", "t_c", 0.47, 1.0),
        ("contrast", "t_p", 0.47, 1.0),
        ("jpeg_compression", "t_c", 0.28, 1.0),
        ("jpeg_compression", "t_p", 0.35, 1.0),
    ];
    for (fault, key, low, high) in wanted {
        let of = &default["faults"][fault][key];
        assert_eq!(of["resampled"], "images");
        let [own_low, own_high] = ["/low", "/high"].map(|end| number(of, end));
        let near = (own_low - low).abs() <= 0.12 && (own_high - high).abs() <= 0.03;
        assert!(near, "{fault} {key}: [{own_low}, {own_high}], not [{low}, {high}]");
    }
}
