//! Domains run from weak to strong, as a human eye sees it.

use std::path::Path;

use faultlens::Image;
use faultlens::faults::image::{Domain, Facts, all_facts, named};
use faultlens::judge::visual::Reference;

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

fn changed(facts: &Facts, domain: &Domain, position: f64, image: &Image) -> Image {
    let mut builder = named(facts.name).unwrap();
    for range in domain.ranges {
        builder = builder.set(range.parameter, range.at(position));
    }
    builder.build().unwrap().apply(image, 5)
}

#[test]
fn the_strong_end_changes_more_than_the_weak_one() {
    for small in [false, true] {
        let image = photo(small);
        let reference = Reference::new(&image).unwrap();
        for facts in all_facts() {
            let own = if small { &facts.small_domain } else { &facts.domain };
            let Some(domain) = own else { continue };
            let [weak, strong] = [0.0, 1.0].map(|position| {
                let changed = changed(facts, domain, position, &image);
                reference.visual_change(&changed).unwrap().delta_v
            });
            assert!(strong > weak + 0.2, "{}: {weak} to {strong}", facts.name);
        }
    }
}
