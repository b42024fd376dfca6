//! HOG against scikit-image and hashes against ImageHash; `fixtures/hog/make_hog.py` made the
//! values.

use faultlens_core::Image;
use faultlens_judge::{BlockNorm, HogSettings, average_hash, hog};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Deserialize)]
struct Fixture {
    every: usize,
    images: BTreeMap<String, Answers>,
}

#[derive(Deserialize)]
struct Answers {
    hash: String,
    hog: Vec<Answer>,
    grey: Answer,
}

#[derive(Deserialize)]
struct Answer {
    settings: (usize, usize, usize, String, bool),
    length: usize,
    sum: f64,
    some: Vec<f64>,
}

impl Answer {
    fn settings(&self) -> HogSettings {
        let &(orientations, cell, block, ref norm, square_root) = &self.settings;
        let norm = match norm.as_str() {
            "L1" => BlockNorm::L1,
            "L1-sqrt" => BlockNorm::L1Sqrt,
            "L2" => BlockNorm::L2,
            _ => BlockNorm::L2Hys,
        };
        HogSettings { orientations, cell: (cell, cell), block: (block, block), norm, square_root }
    }

    fn compare(&self, image: &Image, every: usize, what: &str) {
        let got = hog(image, &self.settings()).unwrap();
        assert_eq!(got.len(), self.length, "{what} {:?}", self.settings);
        for (at, wanted) in self.some.iter().enumerate() {
            let got = got[at * every];
            assert!((got - wanted).abs() < 1e-6, "{what} {:?} {at}: {got}", self.settings);
        }
        let got = got.iter().sum::<f64>();
        let wanted = self.sum;
        assert!((got - wanted).abs() < 1e-6 * wanted, "{what} {:?}: {got}", self.settings);
    }
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("../fixtures/hog/hog.json")).unwrap()
}

fn image(name: &str) -> Image {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hog");
    let image = image::open(folder.join(name)).unwrap().into_rgb8();
    let width = image.width() as usize;
    let height = image.height() as usize;
    Image::from_rgb(width, height, image.into_raw()).unwrap()
}

/// As Pillow's mode `L` has it.
fn grey(image: &Image) -> Image {
    image.map_pixels(|rgb| {
        let [red, green, blue] = rgb.map(u32::from);
        [((red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16) as u8; 3]
    })
}

#[test]
fn equals_scikit_image() {
    let fixture = fixture();
    for (name, answers) in &fixture.images {
        let image = image(name);
        for answer in &answers.hog {
            answer.compare(&image, fixture.every, name);
        }
        answers.grey.compare(&grey(&image), fixture.every, name);
    }
}

#[test]
fn equals_image_hash() {
    for (name, answers) in fixture().images {
        assert_eq!(format!("{:016x}", average_hash(&image(&name))), answers.hash, "{name}");
    }
}
