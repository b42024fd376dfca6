//! Attacks that only ask, beside their peers on digits.

use crate::{Exam, attack};
use faultlens_faults::attack::Norm;

#[test]
fn hop_skip_jump_comes_closer_than_art_with_no_more_questions() {
    let exam = Exam::of(10);
    let results = exam.results(&*attack("hop_skip_jump", &[]));
    assert_eq!(results.reached(), 1.0);
    let (distance, queries) = (results.mean_distance(Norm::Two), results.mean_queries());
    // ART, all 100 digits: 1.4546.
    assert!(distance < 1.4546, "{distance}");
    assert!(queries < 2500.0, "{queries}");
}

#[test]
fn a_population_of_images_reaches_as_much_as_arts() {
    let exam = Exam::of(5);
    // ART: 0.2 with 5 pixels, 0.4 with 10 and differential evolution.
    for (pixels, least) in [("5", 0.2), ("10", 0.4)] {
        let results = exam.results(&*attack("pixel", &[("pixels", pixels)]));
        eprintln!("pixel {pixels} {} {}", results.reached(), results.mean_queries());
        assert!(results.reached() >= least, "{pixels}: {}", results.reached());
        let most: f64 = pixels.parse().unwrap();
        assert!(results.distances(Norm::Zero).iter().all(|distance| *distance <= most));
    }
    // ART: 0.4 with CMA-ES, none with differential evolution.
    for (search, least) in [("cma_es", 0.4), ("differential_evolution", 0.0)] {
        let settings = [("threshold", "38"), ("search", search)];
        let results = exam.results(&*attack("threshold", &settings));
        eprintln!("threshold {search} {} {}", results.reached(), results.mean_queries());
        assert!(results.reached() >= least, "{search}: {}", results.reached());
        assert!(results.distances(Norm::Infinity).iter().all(|d| *d <= 38.0 / 255.0 + 1e-6));
    }
}
