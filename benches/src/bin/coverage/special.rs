//! Runs that have more in them than images: permanent faults, weights, stop rules, pairs.

use crate::images::Images;
use crate::run;
use faultlens_core::{Seed, Stream};
use faultlens_stats::{
    Clustered, Crossed, Formula, Level, StatsError, clustered_difference, clustered_test,
    crossed_difference,
};

/// How many of the runs something happened in.
#[derive(Default)]
struct Share {
    times: u32,
    runs: u32,
}

impl Share {
    fn count(&mut self, happened: bool) {
        self.times += u32::from(happened);
        self.runs += 1;
    }

    fn percent(&self) -> String {
        format!("{:.1}%", 100.0 * f64::from(self.times) / f64::from(self.runs))
    }
}

/// Permanent faults, of which 2% break nine answers in ten and the others one in a hundred.
pub(crate) fn permanent_faults(runs: u32, seed: Seed) -> Result<(), StatsError> {
    println!("\n| permanent faults | images | covered | wrongly met |\n|---:|---:|---:|---:|");
    let truth = 0.02 * 0.9 + 0.98 * 0.01;
    for (faults, images) in
        [(5, 10), (5, 60), (20, 10), (20, 30), (20, 60), (100, 10), (100, 60), (300, 60)]
    {
        let mut stream = seed.child("permanent").at(faults * 1000 + images).stream();
        let mut covered = Share::default();
        let mut wrong = Share::default();
        for _ in 0..runs {
            let mut all = Crossed::default();
            for fault in 0..faults {
                let rate = fault_rate(&mut stream);
                for image in 0..images {
                    all.add(image, Some(fault), 1.0, stream.chance(rate))?;
                }
            }
            let estimate = all.estimate(Formula::Wilson, Level::default())?;
            covered.count(estimate.contains(truth));
            wrong.count(all.upper_bound(Level::default())? < truth);
        }
        println!("| {faults} | {images} | {} | {} |", covered.percent(), wrong.percent());
    }
    Ok(())
}

fn fault_rate(stream: &mut Stream) -> f64 {
    if stream.chance(0.02) { 0.9 } else { 0.01 }
}

/// Importance sampling: places that are a fifth of a model get four fifths of the trials, and break
/// answers twice as often as the others.
pub(crate) fn weights(runs: u32, seed: Seed) -> Result<(), StatsError> {
    println!(
        "\n| images (weighted trials) | rate | covered | wrongly met |\n|---:|---:|---:|---:|"
    );
    for images in [10, 30, 100, 1000] {
        for mean in [0.05, 0.3] {
            let mut stream = seed.child("weights").child(&format!("{mean}")).at(images).stream();
            let truth = mean * (0.2 * 2.0 + 0.8);
            let mut covered = Share::default();
            let mut wrong = Share::default();
            for _ in 0..runs {
                let all = weighted(images, mean, &mut stream)?;
                covered.count(all.estimate(Formula::Wilson, Level::default())?.contains(truth));
                wrong.count(all.upper_bound(Level::default())? < truth);
            }
            let [covered, wrong] = [covered.percent(), wrong.percent()];
            println!("| {images} | {truth:.2} | {covered} | {wrong} |");
        }
    }
    Ok(())
}

fn weighted(images: u64, mean: f64, stream: &mut Stream) -> Result<Clustered, StatsError> {
    let mut all = Clustered::default();
    for image in 0..images {
        // Half of the scale, so that twice the rate is still one.
        let rate = Images::Beta(2.0 * mean, 0.3).draw(stream) / 2.0;
        for _ in 0..20 {
            let (weight, rate) = if stream.chance(0.8) { (0.25, 2.0 * rate) } else { (4.0, rate) };
            all.add(image, weight, stream.chance(rate))?;
        }
    }
    Ok(all)
}

/// Rounds of twice as many repeats each, until the interval is narrow enough or more trials on these
/// images would not make it so.
pub(crate) fn stop_rule(runs: u32, seed: Seed) -> Result<(), StatsError> {
    println!(
        "\n| images (stop at ±5 points) | rate | trials, mean | covered |\n|---:|---:|---:|---:|"
    );
    for images in [30, 100, 1000] {
        for mean in [0.05, 0.3] {
            let mut stream = seed.child("stop").child(&format!("{mean}")).at(images).stream();
            let mut covered = Share::default();
            let mut trials = 0;
            for _ in 0..runs {
                let all = stopped(images, Images::Beta(mean, 0.1), &mut stream)?;
                trials += all.n();
                covered.count(all.estimate(Formula::Wilson, Level::default())?.contains(mean));
            }
            let trials = trials / u64::from(runs);
            println!("| {images} | {mean} | {trials} | {} |", covered.percent());
        }
    }
    Ok(())
}

fn stopped(images: u64, of: Images, stream: &mut Stream) -> Result<Clustered, StatsError> {
    let level = Level::default();
    let mut rates = Vec::new();
    for _ in 0..images {
        rates.push(of.draw(stream));
    }
    let mut all = Clustered::default();
    let mut repeats = 1;
    loop {
        for (image, rate) in (0..).zip(&rates) {
            for _ in 0..repeats {
                all.count(image, stream.chance(*rate));
            }
        }
        let least = all.half_width_of_any_trials(Formula::Wilson, level)?;
        let enough = all.estimate(Formula::Wilson, level)?.half_width() <= 0.05;
        let hopeless = repeats >= 4 && least.is_some_and(|least| least > 0.05);
        if enough || hopeless || repeats >= 128 {
            return Ok(all);
        }
        repeats *= 2;
    }
}

/// How often two equal targets on the same images differ at 5%, and their difference is covered.
pub(crate) fn equal_targets(runs: u32, seed: Seed) -> Result<(), StatsError> {
    println!(
        "\n| images (two equal targets) | differ at 5% | difference covered |\n|---:|---:|---:|"
    );
    for images in [10, 30, 100, 1000] {
        let mut stream = seed.child("pairs").at(images).stream();
        let mut differ = Share::default();
        let mut covered = Share::default();
        for _ in 0..runs {
            let of = Images::Beta(0.3, 0.3);
            let a = run(images, of, &mut stream);
            let b = run(images, of, &mut stream);
            covered.count(clustered_difference(&a, &b, Level::default())?.contains(0.0));
            differ.count(clustered_test(&a, &b, || stream.next_u64()) < 0.05);
        }
        println!("| {images} | {} | {} |", differ.percent(), covered.percent());
    }
    Ok(())
}

/// A protection that stops 40% of what permanent faults break: how often its gain is covered.
pub(crate) fn protections(runs: u32, seed: Seed) -> Result<(), StatsError> {
    println!("\n| permanent faults (a protection) | images | gain covered |\n|---:|---:|---:|");
    for (faults, images) in [(10, 10), (30, 30), (100, 60), (300, 60)] {
        let mut stream = seed.child("protections").at(faults).stream();
        let mut covered = Share::default();
        for _ in 0..runs {
            let mut before = Crossed::default();
            let mut after = Crossed::default();
            for fault in 0..faults {
                let rate = Images::Beta(0.3, 0.3).draw(&mut stream);
                let stops = stream.chance(0.4);
                for image in 0..images {
                    let broken = stream.chance(rate);
                    before.add(image, Some(fault), 1.0, broken)?;
                    after.add(image, Some(fault), 1.0, broken && !stops)?;
                }
            }
            let gain = crossed_difference(&after, &before, Level::default())?;
            covered.count(gain.contains(0.3 * 0.4));
        }
        println!("| {faults} | {images} | {} |", covered.percent());
    }
    Ok(())
}
