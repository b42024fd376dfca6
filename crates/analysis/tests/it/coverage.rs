//! How often verdicts and tests err, from the records of simulated runs whose truth is known: trials of
//! one image resemble each other, so that only images tell something about images to come.

use crate::sample::Run;
use faultlens_analysis::{Verdict, compare};
use faultlens_core::{Seed, Stream};

const IMAGES: u32 = 24;
const REPEATS: u32 = 10;

/// Image rates of which a quarter is high and the others low: 0.2 on average, and trials of one image
/// resemble each other.
fn image_rates(stream: &mut Stream) -> Vec<f64> {
    (0..IMAGES).map(|_| if stream.chance(0.25) { 0.65 } else { 0.05 }).collect()
}

/// A run with fresh images and draws.
fn run(stream: &mut Stream, more: &str) -> Run {
    let rates = image_rates(stream);
    let mut events = Vec::new();
    for rate in rates {
        events.push((0..REPEATS).map(|_| stream.chance(rate)).collect::<Vec<bool>>());
    }
    let mut run = Run::new(&["small"], IMAGES, more);
    run.add((0, 0), REPEATS, |case, repeat| events[case as usize][repeat as usize]);
    run
}

/// The share of so many simulations in which something holds.
fn share(runs: u32, mut holds: impl FnMut() -> bool) -> f64 {
    let held = (0..runs).filter(|_| holds()).count();
    held as f64 / f64::from(runs)
}

/// A limit exactly at the true rate is called met at most 2.5% of the time, and where it is far
/// enough away it is met; trial by trial it would be called met in 20% of the runs.
#[test]
fn a_limit_at_the_true_rate_is_rarely_called_met() {
    let mut stream = Seed::new(5).stream();
    let verdicts = |stream: &mut Stream, limit: f64| {
        let more = format!("requirements: [{{rate: changed, at_most: {limit}}}]");
        run(stream, &more).summarised(&[]).unwrap().checks.verdict
    };
    let wrong = share(100, || verdicts(&mut stream, 0.2) == Some(Verdict::Met));
    // Three standard errors of the simulation above the level.
    assert!(wrong <= 0.025 + 0.047, "{wrong}");
    let right = share(20, || verdicts(&mut stream, 0.5) == Some(Verdict::Met));
    assert!(right > 0.7, "{right}");
}

/// Intervals for new images cover the rate among them; those for these images do not.
#[test]
fn intervals_cover_the_population_that_they_name() {
    let mut stream = Seed::new(7).stream();
    let mut too_narrow = 0;
    let covered = share(80, || {
        let rate = run(&mut stream, "").summarised(&["point"]).unwrap().overall.rate;
        let [low, high] = rate.these_images.unwrap();
        too_narrow += u32::from(!(low..=high).contains(&0.2));
        (rate.low..=rate.high).contains(&0.2)
    });
    assert!(covered >= 0.95 - 0.073, "{covered}");
    assert!(too_narrow > 24, "{too_narrow}");
}

/// Two runs on other images with the same rate differ significantly in at most 5% of all pairs.
#[test]
fn equal_runs_rarely_differ() {
    let mut stream = Seed::new(11).stream();
    let dir = tempfile::tempdir().unwrap();
    let mut number = 0;
    let rejected = share(80, || {
        number += 1;
        let first = run(&mut stream, "").write(&dir, &format!("a{number}"));
        let mut second = run(&mut stream, "");
        for case in &mut second.cases {
            case.digest = Some(1000 + u64::from(case.case));
        }
        let second = second.write(&dir, &format!("b{number}"));
        compare(&first, &second).unwrap().rows[0].p_value.unwrap() < 0.05
    });
    assert!(rejected <= 0.05 + 0.073, "{rejected}");
}
