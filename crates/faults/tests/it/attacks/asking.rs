//! Attacks that only ask, beside their peers on digits.

use super::{Exam, attack};
use faultlens_faults::attack::Norm;

#[test]
fn hop_skip_jump_comes_closer_than_art_with_no_more_questions() {
    let exam = Exam::of(10);
    let results = exam.results(&*attack("hop_skip_jump", &[]));
    assert_eq!(results.reached(), 1.0);
    let distance = results.mean_distance(Norm::Two);
    let queries = results.mean_queries();
    // ART, all 100 digits: 1.4546.
    assert!(distance < 1.4546, "{distance}");
    assert!(queries < 2500.0, "{queries}");
}

#[test]
fn a_population_of_images_reaches_as_much_as_arts() {
    let exam = Exam::of(5);
    // ART with ten pixels and differential evolution, twice as many images a generation: 0.4.
    let settings = [("pixels", "10"), ("population", "200")];
    let results = exam.results(&*attack("pixel", &settings));
    assert!(results.reached() >= 0.4, "{}", results.reached());
    assert!(results.distances(Norm::Zero).iter().all(|distance| *distance <= 10.0));
    // ART with CMA-ES: 0.4.
    let results = exam.results(&*attack("threshold", &[("threshold", "38")]));
    assert!(results.reached() >= 0.4, "{}", results.reached());
    assert!(results.distances(Norm::Infinity).iter().all(|d| *d <= 38.0 / 255.0 + 1e-6));
    let settings =
        [("threshold", "38"), ("search", "differential_evolution"), ("iterations", "10")];
    let results = exam.results_within(&*attack("threshold", &settings), 1000);
    assert!(results.distances(Norm::Infinity).iter().all(|d| *d <= 38.0 / 255.0 + 1e-6));
    let settings = [("pixels", "10"), ("search", "cma_es"), ("iterations", "50")];
    assert!(exam.results(&*attack("pixel", &settings)).mean_queries() > 100.0);
}

#[test]
fn squares_reach_more_than_noise() {
    let exam = Exam::of(20);
    for (norm, epsilon) in [("inf", "0.15"), ("2", "1.5")] {
        let size = [("norm", norm), ("epsilon", epsilon)];
        let noise = exam.results(&*attack("random_noise", &size)).reached();
        let size = [("norm", norm), ("epsilon", epsilon), ("iterations", "300")];
        let squares = exam.results(&*attack("square", &size)).reached();
        assert!(squares >= noise + 0.3, "{norm}: {squares} {noise}");
    }
}

#[test]
fn wanted_classes_are_reached_by_asking() {
    let exam = Exam::of(3).targeted();
    // Two of the three classes turn up among random images.
    let hops = (attack("hop_skip_jump", &[("iterations", "2")]), 0.6);
    let squares = (attack("square", &[("epsilon", "0.5"), ("iterations", "500")]), 1.0);
    let all = (attack("threshold", &[("threshold", "128")]), 1.0);
    for (attack, min) in [hops, squares, all] {
        let reached = exam.results(&*attack).reached();
        assert!(reached >= min, "{}: {reached}", attack.dose().axis);
    }
}
