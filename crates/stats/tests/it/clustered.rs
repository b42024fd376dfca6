//! How often the intervals of clustered trials cover the truth, in simulation with a fixed seed:
//! images with many trials each, whose own rates vary from image to image.

use faultlens_stats::{
    Clustered, Crossed, Formula, Level, Stratified, clopper_pearson, clustered_difference,
    clustered_test, wilson,
};

/// SplitMix64 (Steele, Lea and Flood 2014).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn events(&mut self, n: u64, rate: f64) -> u64 {
        (0..n).filter(|_| self.uniform() < rate).count() as u64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// A gamma variable (Marsaglia and Tsang 2000).
    fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let boost = self.uniform().powf(1.0 / shape);
            return boost * self.gamma(shape + 1.0);
        }
        let d = shape - 1.0 / 3.0;
        loop {
            let x = self.normal();
            let v = (1.0 + x / (9.0 * d).sqrt()).powi(3);
            if v > 0.0 && self.uniform().ln() < x * x / 2.0 + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }

    /// The rate of an image, where images' rates have this mean and trials of one image this
    /// correlation.
    fn rate(&mut self, mean: f64, correlation: f64) -> f64 {
        if correlation == 0.0 {
            return mean;
        }
        let size = 1.0 / correlation - 1.0;
        let a = self.gamma(mean * size);
        let b = self.gamma((1.0 - mean) * size);
        if a + b > 0.0 { a / (a + b) } else { f64::from(self.uniform() < mean) }
    }
}

const TRIALS: u64 = 20;

/// A campaign of so many images with 20 trials each, whose rates are drawn.
fn campaign(images: u64, random: &mut Random, rate: impl Fn(&mut Random) -> f64) -> Clustered {
    let mut all = Clustered::default();
    for image in 0..images {
        let rate = rate(random);
        let events = random.events(TRIALS, rate);
        for trial in 0..TRIALS {
            all.add(image, 1.0, trial < events).unwrap();
        }
    }
    all
}

/// The share of runs in which something holds.
fn share(runs: u32, mut holds: impl FnMut() -> bool) -> f64 {
    let held = (0..runs).filter(|_| holds()).count();
    held as f64 / f64::from(runs)
}

/// At least 93% up to what chance explains of 500 runs, and never more than 1.5 times as wide as an
/// interval that knows the variance; narrower than that from 50 images on.
#[test]
fn intervals_for_new_images_cover_them() {
    let runs = 500;
    for images in [20, 50, 200] {
        for correlation in [0.0, 0.1, 0.9] {
            for mean in [0.1, 0.5, 0.8] {
                let mut random = Random(images + (1000.0 * (mean + 7.0 * correlation)) as u64);
                let plain = mean * (1.0 - mean);
                let inside = (1.0 - correlation) / TRIALS as f64;
                let deviation = (plain * (correlation + inside) / images as f64).sqrt();
                let mut widths = 0.0;
                let covered = share(runs, || {
                    let all = campaign(images, &mut random, |r| r.rate(mean, correlation));
                    let estimate = all.estimate(Formula::ClopperPearson, Level::default()).unwrap();
                    widths += estimate.half_width() / (1.96 * deviation) / f64::from(runs);
                    estimate.contains(mean)
                });
                assert!(covered > 0.91, "{images} {correlation} {mean}: {covered}");
                let widest = if images < 50 { 1.3 } else { 1.2 };
                assert!(widths < widest, "{images} {correlation} {mean}: {widths}");
            }
        }
    }
}

/// What an interval does that takes trials of one image for independent ones.
#[test]
fn plain_intervals_do_not() {
    let mut random = Random(5);
    let covered = share(500, || {
        let all = campaign(100, &mut random, |r| r.rate(0.3, 0.3));
        let events = (all.rate().unwrap() * all.n() as f64).round() as u64;
        wilson(events, all.n(), Level::default()).unwrap().contains(0.3)
    });
    assert!(covered < 0.65, "{covered}");
}

/// One image in twenty fails always, the others hardly ever. A sample without one of those looks
/// as if all images were alike: only the bound stays above the truth.
#[test]
fn a_rare_kind_of_image_is_not_forgotten() {
    let truth = 0.05 + 0.95 * 0.01;
    let mut random = Random(11);
    let mut above_interval = 0;
    let above_bound = share(500, || {
        let all = campaign(20, &mut random, |r| if r.uniform() < 0.05 { 1.0 } else { 0.01 });
        above_interval += u32::from(
            all.estimate(Formula::ClopperPearson, Level::default()).unwrap().high < truth,
        );
        all.upper_bound(Level::default()).unwrap() < truth
    });
    assert!(above_bound <= 0.025 + 0.014, "{above_bound}");
    assert!(above_interval > 100, "no longer needed? {above_interval}");
}

/// 2% of the permanent faults break nine answers in ten, the others one in a hundred.
#[test]
fn twenty_permanent_faults_say_little_about_others() {
    let truth = 0.02 * 0.9 + 0.98 * 0.01;
    let mut random = Random(3);
    let covered = share(300, || {
        let mut all = Crossed::default();
        for fault in 0..20 {
            let rate = if random.uniform() < 0.02 { 0.9 } else { 0.01 };
            for image in 0..60 {
                all.add(image, Some(fault), 1.0, random.uniform() < rate).unwrap();
            }
        }
        all.estimate(Formula::ClopperPearson, Level::default()).unwrap().contains(truth)
    });
    assert!(covered > 0.93, "{covered}");
}

/// Two targets on the same images, whose rates differ by this on average.
fn two_targets(images: u64, gap: f64, random: &mut Random) -> [Clustered; 2] {
    let mut both = [Clustered::default(), Clustered::default()];
    for image in 0..images {
        let shared = random.rate(0.3, 0.3);
        for (target, all) in both.iter_mut().enumerate() {
            let own = random.rate(0.3, 0.3);
            let rate = (shared + own) / 2.0 + gap * target as f64;
            for _ in 0..TRIALS {
                all.add(image, 1.0, random.uniform() < rate).unwrap();
            }
        }
    }
    both
}

/// Two targets with the same mean rate, each with its own hard images: trial by trial they differ
/// "significantly" far more often than 5 times in a hundred, image by image they do not.
#[test]
fn equal_targets_are_rarely_told_apart() {
    let mut random = Random(17);
    let rejected = share(400, || {
        let [a, b] = two_targets(60, 0.0, &mut random);
        clustered_test(&a, &b, || random.bits()) < 0.05
    });
    assert!((0.02..0.08).contains(&rejected), "{rejected}");
}

/// The same for targets on different images, and targets that do differ are found.
#[test]
fn targets_on_other_images_are_compared_by_image() {
    let mut random = Random(19);
    let mut found = 0;
    let rejected = share(300, || {
        let [a, _] = two_targets(40, 0.0, &mut random);
        let mut others = Clustered::default();
        let mut worse = Clustered::default();
        for image in 1000..1040 {
            let rate = (random.rate(0.3, 0.3) + random.rate(0.3, 0.3)) / 2.0;
            for _ in 0..TRIALS {
                others.add(image, 1.0, random.uniform() < rate).unwrap();
                worse.add(image, 1.0, random.uniform() < rate + 0.25).unwrap();
            }
        }
        found += u32::from(clustered_test(&a, &worse, || random.bits()) < 0.05);
        clustered_test(&a, &others, || random.bits()) < 0.05
    });
    assert!((0.015..0.09).contains(&rejected), "{rejected}");
    assert!(found > 270, "{found}");
}

/// Intervals of differences cover them, with and without images in common, also where little
/// differs.
#[test]
fn differences_between_targets_are_covered() {
    for (images, gap) in [(20, 0.0), (60, 0.1), (200, 0.02)] {
        let mut random = Random(23 + images);
        let covered = share(600, || {
            let [a, b] = two_targets(images, gap, &mut random);
            clustered_difference(&a, &b, Level::default()).unwrap().contains(gap)
        });
        assert!((0.925..0.985).contains(&covered), "{images} {gap}: {covered}");
    }
    let same = campaign(50, &mut Random(1), |_| 0.0);
    let nothing = clustered_difference(&same, &same, Level::default()).unwrap();
    assert!(nothing.value == Some(0.0) && nothing.high > 0.05, "{nothing:?}");
}

#[test]
fn single_clusters_and_none() {
    let level = Level::default();
    let mut all = Clustered::default();
    let nothing = all.estimate(Formula::ClopperPearson, level).unwrap();
    assert_eq!((nothing.value, nothing.low, nothing.high), (None, 0.0, 1.0));
    assert_eq!((all.upper_bound(level).unwrap(), all.lower_bound(level).unwrap()), (1.0, 0.0));
    for _ in 0..30 {
        all.add(7, 1.0, false).unwrap();
    }
    let one = all.estimate(Formula::ClopperPearson, level).unwrap();
    assert_eq!((one.value, one.low, one.high, one.n), (Some(0.0), 0.0, 1.0, 30));
    assert!(all.add(7, 0.0, true).is_err());
    assert_eq!(Crossed::default().estimate(Formula::ClopperPearson, level).unwrap().value, None);
}

/// Without an event the images count, not their trials: the rule of three for a hundred images.
#[test]
fn images_count_where_nothing_failed() {
    let mut all = Clustered::default();
    for trial in 0..5000_u64 {
        all.add(trial % 100, 1.0, false).unwrap();
    }
    let hundred = clopper_pearson(0, 100, Level::default()).unwrap();
    let estimate = all.estimate(Formula::ClopperPearson, Level::default()).unwrap();
    assert!((estimate.high - hundred.high).abs() < 1e-12);
    assert!((all.upper_bound(Level::default()).unwrap() - hundred.high).abs() < 1e-9);
}

/// The schools of R's `apiclus1`, by district: schools, those without a pupil who learns English,
/// and high schools; the ends are those of `svyciprop(method = "beta")` of R's survey 4.1.1.
#[test]
fn korn_and_graubard_as_in_r() {
    let districts: [[u64; 3]; 15] = [
        [13, 0, 0],
        [34, 0, 0],
        [4, 0, 1],
        [13, 0, 0],
        [16, 0, 0],
        [2, 0, 0],
        [1, 0, 0],
        [4, 0, 1],
        [12, 0, 1],
        [21, 0, 2],
        [9, 4, 4],
        [11, 0, 1],
        [37, 0, 3],
        [2, 0, 0],
        [4, 0, 1],
    ];
    for (column, value, low, high) in [
        (1, 0.021_857_923_497_268, 0.000_198_643_678_807, 0.139_396_111_630_852),
        (2, 0.076_502_732_240_4, 0.029_283_521_653_8, 0.157_058_498_761_5),
    ] {
        let mut all = Clustered::default();
        for (district, schools) in (0..).zip(districts) {
            for school in 0..schools[0] {
                all.add(district, 1.0, school < schools[column]).unwrap();
            }
        }
        let found = all.estimate(Formula::ClopperPearson, Level::default()).unwrap();
        assert!((found.value.unwrap() - value).abs() < 1e-12);
        assert!((found.low - low).abs() < 1e-9 && (found.high - high).abs() < 1e-9, "{found:?}");
    }
}

/// On images that stay the same only the draws within each are chance: Wilson's interval over all
/// trials covers far too often, the stratified one as often as it says.
#[test]
fn intervals_for_these_images_cover_them() {
    for repeats in [1, 2, 10] {
        let mut random = Random(repeats);
        let images: Vec<f64> = (0..100).map(|_| random.rate(0.3, 0.5)).collect();
        let truth = images.iter().sum::<f64>() / 100.0;
        let mut widths = [0.0, 0.0];
        let covered = share(1000, || {
            let mut all = Stratified::default();
            let mut events = 0;
            for (image, rate) in (0..).zip(&images) {
                for _ in 0..repeats {
                    let event = random.uniform() < *rate;
                    events += u64::from(event);
                    all.add(image, true, event);
                }
            }
            let estimate = all.estimate(Formula::Wilson, Level::default()).unwrap();
            let plain = wilson(events, 100 * repeats, Level::default()).unwrap();
            widths[0] += estimate.half_width();
            widths[1] += plain.half_width();
            estimate.contains(truth)
        });
        // With one trial of each image nothing tells the draws from the images.
        let most = if repeats == 1 { 1.0 } else { 0.97 };
        assert!((0.93..=most).contains(&covered), "{repeats}: {covered}");
        assert!(repeats == 1 || widths[0] < 0.8 * widths[1], "{repeats}: {widths:?}");
    }
}

#[test]
fn nothing_drawn_is_exact() {
    let mut all = Stratified::default();
    for image in 0..150 {
        all.add(image, false, image % 5 == 0);
    }
    let exact = all.estimate(Formula::Wilson, Level::default()).unwrap();
    assert!(all.is_exact());
    assert_eq!((exact.value, exact.low, exact.high, exact.n), (Some(0.2), 0.2, 0.2, 150));
    let mut drawn = Stratified::default();
    (0..150).for_each(|image| drawn.add(image, true, image % 5 == 0));
    // The exact trials halve what the draws leave open.
    all.merge(&drawn);
    let both = all.estimate(Formula::Wilson, Level::default()).unwrap();
    let alone = drawn.estimate(Formula::Wilson, Level::default()).unwrap();
    assert!(both.half_width() < 0.55 * alone.half_width(), "{both:?} {alone:?}");
}
