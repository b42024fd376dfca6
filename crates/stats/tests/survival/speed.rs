//! How long a fit takes; run by hand, since a shared machine makes no promise.

#![expect(clippy::print_stdout, reason = "measurements are read by people")]

use std::time::Instant;

use faultlens_stats::survival::{
    FAMILIES, Lifetimes, Options, Smoothing, Ties, calibration, concordance, cox, fit,
};

use crate::simulate::Rng;

/// Weibull durations on eight covariates, some of them binary, a third censored.
fn eight(rows: usize) -> Lifetimes {
    let mut rng = Rng(rows as u64);
    let column = |k: usize, rng: &mut Rng| match k % 2 {
        0 => rng.normal(),
        _ => f64::from(rng.uniform() < 0.5),
    };
    let columns: Vec<Vec<f64>> =
        (0..8).map(|k| (0..rows).map(|_| column(k, &mut rng)).collect()).collect();
    let (mut times, mut observed) = (Vec::new(), Vec::new());
    for i in 0..rows {
        let location: f64 = columns.iter().enumerate().map(|(k, c)| 0.1 * k as f64 * c[i]).sum();
        let time = (location + (-rng.uniform().ln()).ln() / 1.4).exp();
        let end = 15.0 * rng.uniform();
        times.push(time.min(end));
        observed.push(time <= end);
    }
    let mut data = Lifetimes::new(times, observed).unwrap();
    for (k, values) in columns.into_iter().enumerate() {
        data = data.covariate(&format!("x{k}"), values).unwrap();
    }
    data
}

/// The best of `times` runs in milliseconds.
fn best<T>(times: usize, run: impl Fn() -> T) -> (f64, T) {
    let mut out = None;
    let mut least = f64::INFINITY;
    for _ in 0..times {
        let start = Instant::now();
        out = Some(run());
        least = least.min(start.elapsed().as_secs_f64() * 1e3);
    }
    (least, out.unwrap())
}

#[test]
#[ignore = "a measurement, not a check"]
fn fit_times() {
    for (rows, times) in [(2_000, 5), (20_000, 3), (200_000, 1)] {
        let data = eight(rows);
        for family in FAMILIES {
            let (ms, got) = best(times, || fit(*family, &data, &Options::default()).unwrap());
            println!("{rows} rows, {}: {ms:.1} ms", family.name());
            if family.name() == "weibull" {
                let scores = got.medians(&data).unwrap();
                let (ms, _) = best(times, || concordance(&data, &scores).unwrap());
                println!("{rows} rows, concordance: {ms:.1} ms");
                let time = data.median_event_time().unwrap();
                let chances = got.event_chances(&data, time).unwrap();
                let smooth = || calibration(&data, &chances, time, Smoothing::Spline).unwrap();
                println!("{rows} rows, calibration: {:.1} ms", best(times, smooth).0);
            }
        }
        let (ms, _) = best(times, || cox(&data, Ties::Efron, 0.0).unwrap());
        println!("{rows} rows, cox: {ms:.1} ms");
    }
}
