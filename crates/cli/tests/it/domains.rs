//! Domains run from weak to strong, as a human eye sees it.

use std::path::Path;

use faultlens::faults::IMAGE_FAULTS;
use faultlens::faults::image::{DOMAINS, Domain, SMALL_DOMAINS};
use faultlens::judge::visual::Reference;
use faultlens::{Image, Seed, Setting, Settings, Unset};

/// A photo, or its middle 32×32 pixels.
fn photo(small: bool) -> Image {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../faults/tests/fixtures/input.png");
    let mut photo = image::open(path).unwrap().to_rgb8();
    if small {
        let (width, height) = photo.dimensions();
        photo = image::imageops::crop(&mut photo, width / 2, height / 2, 32, 32).to_image();
    }
    let (width, height) = photo.dimensions();
    Image::from_rgb(width as usize, height as usize, photo.into_raw()).unwrap()
}

fn changed(domain: &Domain, position: f64, image: &Image) -> Image {
    let plugin = IMAGE_FAULTS.iter().find(|plugin| plugin.name == domain.fault).unwrap();
    let mut settings = Settings::default();
    for parameter in plugin.parameters {
        if let Unset::Is(setting) = &parameter.unset {
            settings.set(parameter.name, setting.clone());
        }
    }
    for range in domain.ranges {
        settings.set(range.parameter, Setting::Number(range.at(position)));
    }
    (plugin.build)(&settings).unwrap().change(image, &mut Seed::new(5).stream())
}

fn visual_changes(domain: &Domain, image: &Image) -> [f64; 2] {
    let reference = Reference::new(image).unwrap();
    let change = |position| reference.visual_change(&changed(domain, position, image)).unwrap();
    [0.0, 1.0].map(|position| change(position).delta_v)
}

#[test]
fn the_strong_end_changes_more_than_the_weak_one() {
    for (list, small) in [(DOMAINS, false), (SMALL_DOMAINS, true)] {
        let image = photo(small);
        for domain in list {
            let changes = visual_changes(domain, &image);
            assert!(changes[1] > changes[0] + 0.2, "{}: {changes:?}", domain.fault);
        }
    }
}
