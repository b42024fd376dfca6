//! Attacks that follow gradients, beside their peers on digits.

use super::{Exam, array, attack};
use faultlens_faults::attack::Norm;

#[test]
fn fgm_finds_what_art_finds() {
    let exam = Exam::of(100);
    let results = exam.results(&*attack("fgm", &[("epsilon", "0.15")]));
    for (found, wanted) in results.found.iter().zip(array("fgm.npy", 256)) {
        let furthest = Norm::Infinity.distance(&found.point, &wanted);
        assert!(furthest < 1e-5, "{furthest}");
    }
    assert_eq!(results.reached(), 0.77);
}

#[test]
fn pgd_reaches_as_much_as_art_and_foolbox() {
    let exam = Exam::of(100);
    let settings = [("epsilon", "0.15"), ("step", "0.03")];
    let results = exam.results(&*attack("pgd", &settings));
    assert!(results.reached() >= 0.91, "{}", results.reached());
    assert!(results.distances(Norm::Infinity).iter().all(|distance| *distance < 0.15001));
    let queries = results.mean_queries();
    assert!(queries < 11.0, "those that are found stop: {queries}");
    let more =
        [("epsilon", "0.15"), ("restarts", "3"), ("random_start", "yes"), ("momentum", "0.5")];
    let again = exam.results(&*attack("pgd", &more));
    assert!(again.reached() >= results.reached(), "{}", again.reached());
    let targeted = Exam::of(100).targeted();
    let reached = targeted.results(&*attack("pgd", &settings)).reached();
    assert!((0.2..0.91).contains(&reached), "one class is harder to reach than any: {reached}");
}

#[test]
fn deepfool_reaches_more_than_art_at_less_than_foolbox() {
    let exam = Exam::of(100);
    let results = exam.results(&*attack("deepfool", &[]));
    assert_eq!(results.reached(), 1.0);
    let distance = results.mean_distance(Norm::Two);
    // ART: 0.90 of the samples at 0.9730; foolbox: all at 0.9737.
    assert!(distance < 0.973, "{distance}");
    let few = Exam::of(20).results(&*attack("deepfool", &[("classes", "3")]));
    assert!(few.reached() >= 0.9 && few.mean_queries() < results.mean_queries());
    let targeted = Exam::of(20).targeted().results(&*attack("deepfool", &[("iterations", "30")]));
    assert!(targeted.reached() >= 0.9, "{}", targeted.reached());
    assert!(targeted.mean_distance(Norm::Two) > distance);
}

#[test]
fn auto_pgd_reaches_what_pgd_does() {
    let exam = Exam::of(100);
    for (norm, epsilon) in [("inf", "0.12"), ("2", "0.9")] {
        let plain = exam.results(&*attack("pgd", &[("epsilon", epsilon), ("norm", norm)]));
        // The other loss is for models that are too sure for the cross entropy; this one is not.
        for (loss, share) in [("cross_entropy", 1.0), ("dlr", 0.9)] {
            let settings = [
                ("epsilon", epsilon),
                ("norm", norm),
                ("loss", loss),
                ("iterations", "30"),
                ("random_start", "no"),
            ];
            let results = exam.results(&*attack("auto_pgd", &settings));
            let reached = results.reached();
            assert!(reached >= share * plain.reached(), "{norm} {loss}: {reached}");
        }
    }
    let settings = [("epsilon", "0.2"), ("loss", "dlr"), ("iterations", "30")];
    let targeted = Exam::of(20).targeted().results(&*attack("auto_pgd", &settings));
    assert!(targeted.reached() > 0.5, "{}", targeted.reached());
}
