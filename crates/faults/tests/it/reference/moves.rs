//! Faults that move what an image shows.

use super::fault;
use super::statistics::check;
use faultlens_core::{Bounds, Case, Image, Mask, Object, Seed, Setting, Settings};
use faultlens_faults::IMAGE_FAULTS;

#[test]
fn elastic_transform_has_the_statistics_of_the_reference() {
    check("elastic_transform", 20, 0.0);
}

const SIZE: [usize; 2] = [200, 150];

/// A white rectangle on black, with all that is known of it.
fn rectangle() -> Case {
    let bounds = Bounds { left: 60.0, top: 50.0, right: 110.0, bottom: 80.0 };
    let inside = |at: usize| {
        let x = (at % SIZE[0]) as f32;
        let y = (at / SIZE[0]) as f32;
        x >= bounds.left && x < bounds.right && y >= bounds.top && y < bounds.bottom
    };
    let bits: Vec<bool> = (0..SIZE[0] * SIZE[1]).map(inside).collect();
    let rgb = bits.iter().flat_map(|&bit| [if bit { 255 } else { 0 }; 3]).collect();
    let image = Image::from_rgb(SIZE[0], SIZE[1], rgb).unwrap();
    let segments = bits.iter().map(|&bit| u8::from(bit)).collect();
    let object = |mask| Object { class: 0, bounds, mask, crowd: false };
    let objects = vec![object(None), object(Mask::new(SIZE[0], bits))];
    Case { objects, segments, ..Case::new("rectangle", image) }
}

/// The pixels that are bright.
fn seen(image: &Image) -> Mask {
    let bright = image.rgb().iter().step_by(3).map(|&level| level >= 128);
    Mask::new(image.width(), bright.collect()).unwrap()
}

/// How far apart the sides of two boxes are.
fn apart(a: &Bounds, b: &Bounds) -> f32 {
    let sides = |b: &Bounds| [b.left, b.top, b.right, b.bottom];
    let off = sides(a).into_iter().zip(sides(b)).map(|(a, b)| (a - b).abs());
    off.fold(0.0, f32::max)
}

/// Every fault that moves things says where they went: boxes and masks lie on what is seen.
#[test]
fn motions_are_where_things_went() {
    let case = rectangle();
    let mut moving = Vec::new();
    for plugin in IMAGE_FAULTS {
        for severity in 1..=5u32 {
            let mut settings = Settings::default();
            settings.set("severity", Setting::Number(f64::from(severity)));
            let Ok(fault) = (plugin.build)(&settings) else {
                continue;
            };
            let seed = Seed::new(u64::from(severity));
            let Some(motion) = fault.motion(SIZE[0], SIZE[1], &mut seed.stream()) else {
                continue;
            };
            let image = fault.change(&case.image, &mut seed.stream());
            let seen = seen(&image);
            let new = motion.case(&case, image);
            let place = format!("{} at {severity}", plugin.name);
            let around = seen.bounds().unwrap();
            assert!(apart(&around, &case.objects[0].bounds) >= 1.0, "{place} moves nothing");
            for object in &new.objects {
                // Tips of a turned rectangle are thinner than a pixel.
                assert!(apart(&object.bounds, &around) <= 2.0, "{place}: {object:?} {around:?}");
            }
            let mask = new.objects[1].mask.as_ref().unwrap();
            let differ = mask.bits().iter().zip(seen.bits()).filter(|(a, b)| a != b).count();
            assert!(differ <= seen.area() / 15 + 20, "{place}: {differ} of {}", seen.area());
            let classes: Vec<bool> = new.segments.iter().map(|&class| class == 1).collect();
            assert_eq!(classes, mask.bits(), "{place}");
            moving.push(plugin.name);
        }
    }
    moving.dedup();
    assert_eq!(moving, ["elastic_transform", "mirror", "rescale", "rotation", "translation"]);
}

/// An object that leaves the image is no longer there to be found.
#[test]
fn what_leaves_the_image_is_dropped() {
    let case = rectangle();
    let fault = fault("translation", &[("right", 0.8), ("down", 0.0)]);
    let stream = &mut Seed::new(1).stream();
    let image = fault.change(&case.image, stream);
    let motion = fault.motion(SIZE[0], SIZE[1], stream).unwrap();
    assert_eq!(seen(&image).area(), 0);
    assert!(motion.case(&case, image).objects.is_empty());
}
