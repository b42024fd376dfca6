//! `faultlens compare` of two images, as a user types it.

use crate::folder::{Folder, json};
use serde_json::Value;
use std::path::Path;

/// A cat and what became of it, of which the authors' own code knows the numbers.
fn cats(folder: &Folder, name: &str) {
    let cats = Path::new(env!("CARGO_MANIFEST_DIR")).join("../judge/tests/fixtures/iqa");
    std::fs::copy(cats.join("chelsea.png"), folder.path("cat.png")).unwrap();
    std::fs::copy(cats.join(format!("chelsea__{name}.png")), folder.path("other.png")).unwrap();
}

fn compared(folder: &Folder, args: &str) -> Value {
    let run = folder.run(&format!("compare {args} --json"));
    assert_eq!(run.status, 0, "{}", run.stderr);
    json(&run.stdout).remove(0)
}

#[test]
fn numbers_are_those_of_the_authors() {
    let folder = Folder::new("compare_images");
    for (name, vif, vif_p, vsnr) in [
        ("jpeg10", 0.297056627673, 0.369541807669, 17.6730579551),
        ("contrast1.3", 1.13736408351, 1.09620165426, 13.8606176681),
    ] {
        cats(&folder, name);
        let got = compared(&folder, "cat.png other.png");
        let near = |key: &str, wanted: f64, within: f64| {
            assert!((got[key].as_f64().unwrap() - wanted).abs() < within, "{key} {got}");
        };
        near("vif", vif, 1e-6);
        near("vif_p", vif_p, 1e-6);
        near("vsnr_db", vsnr, 0.01);
        near("delta_v", (1.0 - vif).max(0.0), 1e-6);
        let about = ["levels", "width", "height"].map(|key| got[key].as_u64().unwrap());
        assert_eq!((about, &got["notes"]), ([4, 448, 288], &Value::Array(vec![])));
    }
    let same = compared(&folder, "cat.png cat.png");
    assert_eq!((&same["vsnr_db"], &same["delta_v"]), (&"inf".into(), &0.0.into()));
    cats(&folder, "jpeg10");
    let table = folder.run("compare cat.png other.png").stdout;
    for wanted in ["visual change    0.7029", "VIF              0.2971", "VSNR           17.67 dB"]
    {
        assert!(table.contains(wanted), "{table}");
    }
}

#[test]
fn small_and_flat_images_have_what_is_defined() {
    let folder = Folder::new("compare_small");
    let saved = |name: &str, side: u32, level: fn(u32, u32) -> u8| {
        let pixel = |x: u32, y: u32| image::Luma([level(x, y)]);
        image::ImageBuffer::from_fn(side, side, pixel).save(folder.path(name)).unwrap();
    };
    saved("a32.png", 32, |x, y| (x * x + 3 * y * y + x * y) as u8);
    saved("b32.png", 32, |x, y| (x * x + 3 * y * y + x * y) as u8 / 2);
    let small = compared(&folder, "a32.png b32.png");
    assert_eq!((small["levels"].as_u64(), &small["vif_p"]), (Some(2), &Value::Null), "{small}");
    assert!(small["delta_v"].as_f64().unwrap() > 0.0);
    let notes = small["notes"].to_string();
    assert!(notes.contains("VIF has 2 of 4 levels") && notes.contains("VIF-P, which needs 41"));
    saved("a8.png", 8, |x, y| (20 * x + y) as u8);
    saved("b8.png", 8, |x, y| (20 * x + 9 * y) as u8);
    let tiny = compared(&folder, "a8.png b8.png");
    assert_eq!(
        (&tiny["vif"], &tiny["delta_v"], tiny["levels"].as_u64()),
        (&Value::Null, &Value::Null, Some(0))
    );
    assert!(tiny["vsnr_db"].is_f64() && tiny["notes"].to_string().contains("needs 9"), "{tiny}");
    saved("flat.png", 50, |_, _| 7);
    saved("rich.png", 50, |x, y| (x * x + 3 * y * y) as u8);
    let flat = compared(&folder, "flat.png rich.png");
    assert_eq!((&flat["vif"], &flat["delta_v"]), (&0.0.into(), &1.0.into()));
    assert_eq!((&flat["vsnr_db"], &flat["vif_p"]), (&Value::Null, &Value::Null), "{flat}");
    assert!(flat["notes"].to_string().contains("VSNR is not defined"), "{flat}");
}

#[test]
fn what_does_not_belong_together_is_told() {
    let folder = Folder::new("compare_wrong");
    cats(&folder, "jpeg10");
    folder.image("small.png", [1, 2, 3]).text("words.png", "no image");
    std::fs::create_dir_all(folder.path("run")).unwrap();
    for (args, wanted) in [
        ("cat.png small.png", "an image of 448×288 pixels cannot be compared with one of 16×16"),
        ("cat.png run", "a run directory cannot be compared with a file"),
        ("run cat.png", "give two runs or two images: run and cat.png"),
        ("cat.png words.png", "this is no PNG, JPEG, WebP or BMP file"),
        ("cat.png none.png", "none.png"),
        ("none.png cat.png", "none.png"),
        ("none other", "none"),
    ] {
        let run = folder.run(&format!("compare {args}"));
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{args}: {}", run.stderr);
        assert!(run.stderr.contains(wanted), "{args}: {}", run.stderr);
    }
}
