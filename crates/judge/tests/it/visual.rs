//! Visual change against the authors' own code, run in Octave (`fixtures/iqa/README.md`), and
//! against a plain program for all sizes (`fixtures/make_visual.py`).

use faultlens_core::Image;
use faultlens_judge::visual::{Reference, VisualError, vif_p, vsnr};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn load(path: &Path) -> Image {
    let image = image::open(path).unwrap().to_rgb8();
    let (width, height) = image.dimensions();
    Image::from_rgb(width as usize, height as usize, image.into_raw()).unwrap()
}

/// The pairs beside the tests, and all of them where they lie beside the project.
fn folders() -> Vec<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let all = here.ancestors().map(|place| place.join("shared/reference/iqa"));
    let own = here.join("tests/fixtures/iqa");
    [own].into_iter().chain(all.filter(|folder| folder.is_dir())).collect()
}

#[test]
fn as_the_authors_code() {
    for folder in folders() {
        let table = std::fs::read_to_string(folder.join("values.csv")).unwrap();
        for line in table.lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            let [original, changed] = [0, 1].map(|at: usize| load(&folder.join(fields[at])));
            let [wanted_vif, wanted_vif_p, wanted_vsnr] =
                [2, 3, 4].map(|at: usize| fields[at].parse::<f64>().unwrap());
            let change = Reference::new(&original).unwrap().visual_change(&changed).unwrap();
            assert!((change.vif - wanted_vif).abs() < 2e-11, "{line}: {change:?}");
            assert_eq!(change.levels, 4);
            let vif_p = vif_p(&original, &changed).unwrap();
            assert!((vif_p - wanted_vif_p).abs() < 2e-11, "{line}: {vif_p}");
            let vsnr = vsnr(&original, &changed).unwrap();
            if original == changed {
                assert_eq!((vsnr, change.delta_v), (f64::INFINITY, 0.0));
            } else {
                assert!((vsnr - wanted_vsnr).abs() < 1e-8, "{line}: {vsnr}");
                assert_eq!(change.delta_v, (1.0 - change.vif).max(0.0), "{line}");
            }
        }
    }
}

fn image(width: usize, height: usize, value: impl Fn(usize, usize, usize) -> usize) -> Image {
    Image::from_rgb(
        width,
        height,
        (0..3 * width * height)
            .map(|at| value(at / 3 % width, at / 3 / width, at % 3) as u8)
            .collect(),
    )
    .unwrap()
}

fn rich(x: usize, y: usize, c: usize) -> usize {
    let wave = |at: usize, half: usize| (at % (2 * half)).abs_diff(half);
    let grain = (x * 31 + y * 57 + x * y * 7 + c * 13) % 29;
    20 + 2 * wave(3 * x + 5 * y + 20 * c, 41) + wave(7 * x + 200 * c + y * y, 53) + grain
}

/// The originals and changes of `make_visual.py`.
fn pair(width: usize, height: usize, change: &str) -> [Image; 2] {
    let made = |value: &dyn Fn(usize, usize, usize) -> usize| image(width, height, value);
    let original = made(&rich);
    let faint = |x, y, c| 128 + rich(x, y, c) / 32;
    let changed = match change {
        "same" => original.clone(),
        "noise" => made(&|x, y, c| {
            let noise = (x * 31 + y * 17 + x * y + c * 7) % 23;
            (rich(x, y, c) + noise).saturating_sub(11).min(255)
        }),
        "blur" => made(&|x: usize, y: usize, c: usize| {
            let near = |at: usize, last: usize| [at.saturating_sub(1), at, (at + 1).min(last)];
            let rows = near(y, height - 1).into_iter();
            let all = rows.flat_map(|y| near(x, width - 1).map(|x| rich(x, y, c)));
            all.sum::<usize>() / 9
        }),
        "contrast" => made(&|x, y, c| (2 * rich(x, y, c) + 300) / 5),
        "bright" => made(&|x, y, c| (rich(x, y, c) + 40).min(255)),
        "red" => made(&|x, y, c| (rich(x, y, c) + if c == 0 { 90 } else { 0 }).min(255)),
        "negative" => made(&|x, y, c| 255 - rich(x, y, c)),
        "flat" => made(&|_, _, _| 128),
        "a dot on faint" => {
            return [made(&faint), made(&|x, y, c| faint(x, y, c) + usize::from(x == 4 && y == 4))];
        }
        other => panic!("{other}"),
    };
    [original, changed]
}

#[test]
fn at_every_size_and_in_colour() {
    let pairs: Vec<Value> = serde_json::from_str(include_str!("../fixtures/visual.json")).unwrap();
    assert_eq!(pairs.len(), 63);
    for wanted in pairs {
        let side = |key: &str| wanted[key].as_u64().unwrap() as usize;
        let name = wanted["change"].as_str().unwrap();
        let [original, changed] = pair(side("width"), side("height"), name);
        for (image, sum) in [&original, &changed].into_iter().zip(0..2) {
            let own = image.rgb().iter().map(|&value| u64::from(value)).sum::<u64>();
            assert_eq!(Some(own), wanted["sums"][sum].as_u64(), "{wanted}");
        }
        let change = Reference::new(&original).unwrap().visual_change(&changed).unwrap();
        assert!(
            (change.vif - wanted["vif"].as_f64().unwrap()).abs() < 1e-10,
            "{wanted} {change:?}"
        );
        assert_eq!(change.levels, side("levels"));
        let vif_p = vif_p(&original, &changed).ok();
        assert_eq!(vif_p.is_some(), wanted["vif_p"].is_f64(), "{wanted}");
        let apart = vif_p.zip(wanted["vif_p"].as_f64()).map_or(0.0, |(own, wanted)| own - wanted);
        assert!(apart.abs() < 1e-10, "{wanted} {vif_p:?}");
        let vsnr = vsnr(&original, &changed).unwrap();
        let infinite = wanted["vsnr"] == "inf";
        let wanted_vsnr = wanted["vsnr"].as_f64().unwrap_or(f64::INFINITY);
        assert!(vsnr == wanted_vsnr || (vsnr - wanted_vsnr).abs() < 1e-8, "{wanted} {vsnr}");
        let hidden = infinite || change.vif > 1.0;
        assert_eq!(change.delta_v, if hidden { 0.0 } else { 1.0 - change.vif }, "{wanted}");
    }
}

#[test]
fn what_cannot_be_measured_is_said() {
    let grey = |width, height, level| image(width, height, move |_, _, _| level);
    let small = Reference::new(&grey(8, 100, 9)).unwrap_err();
    assert_eq!(small.to_string(), "images of 8×100 pixels are too small for VIF, which needs 9");
    let original = image(40, 90, rich);
    let changed = grey(40, 90, 3);
    let small = vif_p(&original, &changed).unwrap_err();
    assert_eq!(small.to_string(), "images of 40×90 pixels are too small for VIF-P, which needs 41");
    let other = grey(41, 90, 3);
    let sizes = Reference::new(&original).unwrap().visual_change(&other).unwrap_err();
    assert_eq!(
        sizes.to_string(),
        "an image of 40×90 pixels cannot be compared with one of 41×90; scale one of them first"
    );
    assert!(matches!(vsnr(&original, &other), Err(VisualError::Sizes { .. })));
    assert!(matches!(vif_p(&original, &other), Err(VisualError::Sizes { .. })));
}

#[test]
fn where_there_is_nothing_to_see_any_change_is_all_there_is() {
    let grey = |level| image(80, 90, move |_, _, _| level);
    // Stripes have too few directions for a covariance.
    let stripes = |level| image(80, 90, move |x, _, _| level + 10 * (x % 8));
    for (original, changed) in [(grey(0), grey(7)), (grey(100), image(80, 90, rich))] {
        let reference = Reference::new(&original).unwrap();
        let same = reference.visual_change(&original).unwrap();
        assert_eq!((same.delta_v, same.vif), (0.0, 1.0));
        let other = reference.visual_change(&changed).unwrap();
        assert_eq!((other.delta_v, other.vif), (1.0, 0.0));
        assert_eq!(vsnr(&original, &changed), Err(VisualError::Flat { measure: "VSNR" }));
        assert_eq!(vsnr(&original, &original), Ok(f64::INFINITY));
        assert_eq!(vif_p(&original, &changed), Err(VisualError::Flat { measure: "VIF-P" }));
    }
    let striped = Reference::new(&stripes(20)).unwrap().visual_change(&stripes(21)).unwrap();
    assert_eq!(striped.vif, 0.0);
}
