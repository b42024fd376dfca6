//! What holds for every image fault of the registry.

use super::*;
use faultlens_core::{GUIDE_WORDS, Image, ParameterKind, Seed};
use std::collections::BTreeSet;
use std::path::Path;

/// Severities of these are not one thing that gets stronger.
const NOT_MONOTONIC: &[&str] = &["saturate", "unchanged"];

fn distance(a: &Image, b: &Image) -> f64 {
    let squares = a.rgb().iter().zip(b.rgb()).map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2));
    squares.sum::<f64>().sqrt()
}

/// Blocks within blocks, so that there is detail at every scale, as in a photograph.
fn blocks(width: usize, height: usize) -> Image {
    let mut rgb = Vec::with_capacity(3 * width * height);
    for at in 0..3 * width * height {
        let x = at / 3 % width;
        let y = at / 3 / width;
        let mut level = 20;
        for size in [1, 3, 7, 13, 29] {
            let block = (x / size) as u64 + 1000 * (y / size) as u64;
            level += Seed::new(block).at(size as u64).block((at % 3) as u64)[0] % 40;
        }
        rgb.push(level as u8);
    }
    Image::from_rgb(width, height, rgb).unwrap()
}

fn built(facts: &Facts, severity: u8) -> Box<dyn ImageFault> {
    let builder = named(facts.name).unwrap();
    let fault = if facts.has_severity() { builder.severity(severity) } else { builder.build() };
    fault.unwrap()
}

/// Same numbers same image, size kept, stronger with severity, motion where it says so.
#[test]
fn every_fault_keeps_the_contract() {
    let image = blocks(96, 64);
    for facts in all_facts() {
        let mut last = 0.0;
        for severity in 1..=if facts.has_severity() { 5 } else { 1 } {
            let fault = built(facts, severity);
            let changed = fault.apply(&image, 3);
            assert_eq!(changed, fault.apply(&image, 3), "{}", facts.name);
            assert_eq!(changed != fault.apply(&image, 4), fault.draws(), "{}", facts.name);
            assert_eq!((changed.width(), changed.height()), (96, 64));
            let motion = fault.motion(96, 64, &mut Seed::new(3).stream());
            assert_eq!(motion.is_some(), facts.moves, "{}", facts.name);
            let now = distance(&image, &changed);
            // Published tables are not strict: some step back a little on some images.
            let stronger = now > 0.8 * last && now > 0.0;
            let monotonic = !NOT_MONOTONIC.contains(&facts.name);
            assert!(stronger || !monotonic, "{} at {severity}", facts.name);
            assert_eq!(fault.dose().amount, f64::from(severity));
            last = now;
        }
        if facts.has_severity() {
            let half = named(facts.name).unwrap().set("severity", 2.5).build();
            assert!(half.is_err(), "{}", facts.name);
        }
    }
}

#[test]
fn every_fault_but_the_controls_stands_for_a_hazard() {
    for facts in all_facts() {
        assert_eq!(facts.hazard.is_none(), CONTROLS.contains(&facts.name), "{}", facts.name);
        let known = facts.hazard.is_none_or(|own| GUIDE_WORDS.contains(&own.guide_word));
        assert!(known, "{}: {:?}", facts.name, facts.hazard);
    }
}

#[test]
fn the_registry_is_in_order_and_has_the_facts() {
    assert_eq!(IMAGE_FAULTS.len(), ENTRIES.len());
    for (plugin, facts) in IMAGE_FAULTS.iter().zip(all_facts()) {
        assert_eq!((plugin.name, plugin.about), (facts.name, facts.about()));
        assert!(facts.what().starts_with(facts.about()) && facts.what().ends_with('.'));
        assert!(!plugin.when.is_empty() && !plugin.when.ends_with('.'), "{}", plugin.name);
    }
    assert!(IMAGE_FAULTS.is_sorted_by(|a, b| a.name < b.name));
}

/// A file without a line in the list of faults would never be compiled, nor missed.
#[test]
fn every_file_is_a_registered_fault() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/image");
    let mut files = BTreeSet::new();
    for group in std::fs::read_dir(root).unwrap() {
        let group = group.unwrap().path();
        if !group.is_dir() || group.ends_with("paint") {
            continue;
        }
        for file in std::fs::read_dir(group).unwrap() {
            files.insert(file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned());
        }
    }
    let registered: BTreeSet<String> = all_facts().map(|facts| facts.name.to_owned()).collect();
    assert_eq!(files, registered);
}

#[test]
fn every_fault_with_a_severity_has_a_domain_within_its_parameters() {
    for facts in all_facts() {
        for small in [false, true] {
            let domain = facts.domain(small);
            assert_eq!(domain.is_some(), facts.has_severity(), "{}", facts.name);
            for range in domain.into_iter().flat_map(|domain| domain.ranges) {
                let own = facts.parameters.iter().find(|own| own.name == range.parameter);
                let kind = own.map(|parameter| parameter.kind);
                let Some(ParameterKind::Number { min, max }) = kind else {
                    panic!("{}: {range:?} {kind:?}", facts.name);
                };
                for end in [range.from, range.to] {
                    assert!((min..=max).contains(&end), "{} {range:?}", facts.name);
                }
                assert_eq!([range.at(0.0), range.at(1.0)], [range.from, range.to]);
            }
        }
    }
    assert_eq!(domain("black", false), None);
    assert_eq!(domain("contrast", true).map(|domain| domain.ranges[0].from), Some(1.0));
}

/// What a fault makes of an image at the strong end of its domain, but for one number.
fn changed(facts: &Facts, domain: &Domain, parameter: &str, number: f64) -> Image {
    let mut builder = named(facts.name).unwrap();
    for range in domain.ranges {
        let value = if range.parameter == parameter { number } else { range.to };
        builder = builder.set(range.parameter, value);
    }
    let rgb = (0..3 * 96 * 80).map(|at| (at * at / 7 % 200 + at % 50) as u8).collect();
    let image = Image::from_rgb(96, 80, rgb).unwrap();
    builder.build().unwrap().apply(&image, 3)
}

#[test]
fn ranges_are_whole_where_a_fault_ignores_the_fractional_part() {
    // Domains for small images have the same numbers, but start where a fault does nothing.
    for facts in all_facts() {
        let Some(domain) = facts.domain(false) else { continue };
        for range in domain.ranges.iter().filter(|range| range.from != range.to) {
            let min = range.from.min(range.to).floor();
            let low = changed(facts, domain, range.parameter, min + 0.15);
            let high = changed(facts, domain, range.parameter, min + 0.45);
            assert_eq!(low == high, range.whole, "{} {range:?}", facts.name);
        }
    }
    let quality = Range::whole("quality", 100.0, 1.0);
    assert_eq!([0.0, 0.501, 1.0].map(|position| quality.at(position)), [100.0, 50.0, 1.0]);
}
