//! How often the intervals cover the truth. Where all outcomes can be listed, coverage is computed
//! exactly from their probabilities; where not, it is simulated with a fixed seed.

use faultlens_stats::{
    Bootstrap, Estimate, Level, Look, Mean, Range, StatsError, StopRule, Weighted, clopper_pearson,
    confidence_sequence, newcombe, wilson,
};

type Interval = fn(u64, u64, Level) -> Result<Estimate, StatsError>;

/// The true rates that averages run over: 0.005, 0.015, … 0.995.
fn rates() -> impl Iterator<Item = f64> {
    (0..100).map(|k| (f64::from(k) + 0.5) / 100.0)
}

/// The probabilities of 0 to n events.
fn binomial(n: u32, p: f64) -> Vec<f64> {
    let mut chances = vec![1.0];
    for _ in 0..n {
        let mut next = vec![0.0; chances.len() + 1];
        for (events, chance) in chances.iter().enumerate() {
            next[events] += chance * (1.0 - p);
            next[events + 1] += chance * p;
        }
        chances = next;
    }
    chances
}

fn intervals(method: Interval, n: u32) -> Vec<Estimate> {
    (0..=n)
        .map(|events| method(u64::from(events), u64::from(n), Level::default()).unwrap())
        .collect()
}

fn coverage(intervals: &[Estimate], p: f64) -> f64 {
    let chances = binomial(intervals.len() as u32 - 1, p);
    let covering = intervals.iter().zip(&chances).filter(|(i, _)| i.contains(p));
    covering.map(|(_, chance)| chance).sum()
}

#[test]
fn wilson_is_close_to_its_level_on_average() {
    for n in [10, 30, 100, 300] {
        let made = intervals(wilson, n);
        let mean = rates().map(|p| coverage(&made, p)).sum::<f64>() / 100.0;
        assert!((0.945..0.965).contains(&mean), "n = {n}: {mean}");
    }
}

#[test]
fn clopper_pearson_never_falls_below_its_level() {
    for n in [10, 30, 100, 300] {
        let made = intervals(clopper_pearson, n);
        let worst = rates().map(|p| coverage(&made, p)).fold(1.0, f64::min);
        assert!((0.95..0.975).contains(&worst), "n = {n}: {worst}");
    }
}

#[test]
fn newcombe_is_close_to_its_level_on_average() {
    let n1 = 20_u32;
    let n2 = 30_u32;
    let of = |a, b| {
        let second = (u64::from(b), u64::from(n2));
        newcombe((u64::from(a), u64::from(n1)), second, Level::default()).unwrap()
    };
    let made: Vec<Vec<Estimate>> = (0..=n1).map(|a| (0..=n2).map(|b| of(a, b)).collect()).collect();
    let some: Vec<f64> = rates().step_by(7).collect();
    let mut total = 0.0;
    for &p1 in &some {
        for &p2 in &some {
            let first = binomial(n1, p1);
            let second = binomial(n2, p2);
            for (row, chance1) in made.iter().zip(&first) {
                let covering = row.iter().zip(&second).filter(|(i, _)| i.contains(p1 - p2));
                total += chance1 * covering.map(|(_, chance2)| chance2).sum::<f64>();
            }
        }
    }
    let mean = total / (some.len() * some.len()) as f64;
    assert!((0.94..0.97).contains(&mean), "{mean}");
}

/// The chance that the interval misses p at any look, when one looks after each of `n` trials:
/// exact, by following the probability of every path that has not missed yet.
fn ever_misses(method: Interval, n: u32, p: f64) -> f64 {
    let mut chances = vec![1.0];
    let mut missed = 0.0;
    for trial in 1..=n {
        let mut next = vec![0.0; chances.len() + 1];
        for (events, chance) in chances.iter().enumerate() {
            next[events] += chance * (1.0 - p);
            next[events + 1] += chance * p;
        }
        for (events, chance) in next.iter_mut().enumerate() {
            // A path too unlikely to matter counts as a miss, which only makes the test harder.
            if *chance < 1e-9
                || !method(events as u64, u64::from(trial), Level::default()).unwrap().contains(p)
            {
                missed += std::mem::take(chance);
            }
        }
        chances = next;
    }
    missed
}

#[test]
fn looking_after_every_trial_breaks_wilson_but_not_the_confidence_sequence() {
    for p in [0.02, 0.1, 0.5] {
        let ours = ever_misses(confidence_sequence, 500, p);
        let fixed = ever_misses(wilson, 500, p);
        assert!(ours < 0.05, "p = {p}: {ours}");
        assert!(fixed > 0.15, "p = {p}: {fixed}");
    }
}

/// Vigna's SplitMix64.
fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn uniform(state: &mut u64) -> f64 {
    (splitmix(state) >> 11) as f64 / (1_u64 << 53) as f64
}

/// The chance that the interval at the stop covers p, when one looks after every trial: exact, by
/// following the probability of every count that has not stopped yet.
fn covered_at_stop(rule: &StopRule, p: f64) -> f64 {
    let mut chances = vec![1.0];
    let mut covered = 0.0;
    let mut going = 1.0;
    for n in 1.. {
        let mut next = vec![0.0; chances.len() + 1];
        for (events, chance) in chances.iter().enumerate() {
            next[events] += chance * (1.0 - p);
            next[events + 1] += chance * p;
        }
        for (events, chance) in next.iter_mut().enumerate().filter(|(_, chance)| **chance > 0.0) {
            if let Look::Stop(estimate) = rule.look(events as u64, n).unwrap() {
                covered += if estimate.contains(p) { *chance } else { 0.0 };
                going -= std::mem::take(chance);
            }
        }
        if going < 1e-9 {
            break;
        }
        chances = next;
    }
    covered
}

#[test]
fn the_interval_at_the_stop_covers() {
    // Single rates as computed with NumPy and SciPy.
    for (half_width, wanted) in [
        (0.1, [0.965_158, 0.980_372, 0.940_880, 0.944_203]),
        (0.07, [0.976_117, 0.975_284, 0.941_857, 0.941_693]),
    ] {
        let rule = StopRule::new(half_width, Level::default()).unwrap();
        let rates: Vec<f64> = rates().step_by(2).collect();
        let sum: f64 = rates.iter().map(|&p| covered_at_stop(&rule, p)).sum();
        let mean = sum / rates.len() as f64;
        assert!((0.945..0.965).contains(&mean), "±{half_width}: {mean}");
        for (p, wanted) in [0.05, 0.1, 0.3, 0.5].into_iter().zip(wanted) {
            let covered = covered_at_stop(&rule, p);
            assert!((covered - wanted).abs() < 1e-5, "±{half_width}, p = {p}: {covered}");
        }
    }
}

/// The mean of 40 skewed (exponential) observations. In theory BCa is the better of the two; both
/// are known to cover a little less than they say in small samples.
#[test]
fn bootstrap_intervals_cover_a_skewed_mean() {
    let bootstrap = Bootstrap::new(400, Level::default()).unwrap();
    let mut state = 2;
    let mut covered = [0, 0];
    for _ in 0..500 {
        let data: Vec<f64> = (0..40).map(|_| -(1.0 - uniform(&mut state)).ln()).collect();
        let mean = |at: &[usize]| at.iter().map(|&i| data[i]).sum::<f64>() / at.len() as f64;
        let plain = bootstrap.percentile(40, || splitmix(&mut state), mean);
        covered[0] += u32::from(plain.unwrap().contains(1.0));
        let moved = bootstrap.bca(40, || splitmix(&mut state), mean);
        covered[1] += u32::from(moved.unwrap().contains(1.0));
    }
    let [percentile, bca] = covered.map(|count| f64::from(count) / 500.0);
    assert!((0.89..0.97).contains(&percentile), "{percentile}");
    assert!((0.90..0.97).contains(&bca), "{bca}");
}

/// The mean of shares close to 1 (Beta(k, 1), the k-th root of a uniform number): the interval of the
/// logit stays below 1 and covers better than Student's own.
#[test]
fn means_of_shares_are_covered_within_their_range() {
    let level = Level::default();
    let share = Range::Between(0.0, 1.0);
    for (k, n, least) in [(4.0, 10, 0.93), (20.0, 30, 0.93), (60.0, 10, 0.91), (60.0, 100, 0.935)] {
        let mut state = 3;
        let truth = k / (k + 1.0);
        let mut plain = 0;
        let mut kept = 0;
        for _ in 0..4000 {
            let mut mean = Mean::default();
            (0..n).for_each(|_| mean.add(uniform(&mut state).powf(1.0 / k)).unwrap());
            let within = mean.estimate_in(share, level);
            assert!(within.low > 0.0 && within.high < 1.0);
            plain += u32::from(mean.estimate(level).contains(truth));
            kept += u32::from(within.contains(truth));
        }
        let [plain, kept] = [plain, kept].map(|count| f64::from(count) / 4000.0);
        assert!(kept > plain && (least..0.965).contains(&kept), "{k}, {n}: {plain}, {kept}");
    }
}

/// Faults of 32 bits, of which the highest break the answer: what weights are for.
const BREAKS: [f64; 32] = {
    let mut breaks = [0.001; 32];
    breaks[30] = 0.8;
    breaks[29] = 0.3;
    breaks[28] = 0.05;
    breaks
};

/// How often a bit is drawn, for some favour of the upper bits.
fn drawn(favour: f64) -> [f64; 32] {
    let mut chances = [1.0; 32];
    chances[28..31].fill(favour);
    let sum: f64 = chances.iter().sum();
    chances.map(|chance| chance / sum)
}

/// So many trials, drawn with that favour: all of them, and those of the upper eight bits.
fn sampled(n: u32, favour: f64, state: &mut u64) -> [Weighted; 2] {
    let chances = drawn(favour);
    let mut all = Weighted::default();
    let mut upper = Weighted::default();
    for _ in 0..n {
        let mut at = uniform(state);
        let bit = chances.iter().position(|chance| {
            at -= chance;
            at < 0.0
        });
        let bit = bit.unwrap_or(31);
        let event = uniform(state) < BREAKS[bit];
        let weight = 1.0 / 32.0 / chances[bit];
        all.add(weight, event).unwrap();
        if bit >= 24 {
            upper.add(weight, event).unwrap();
        }
    }
    [all, upper]
}

/// Weighted estimates have no bias, cover, and are narrower than plain sampling where the favour
/// is moderate. Where it is extreme, little is known of what was hardly drawn: intervals are wide
/// and cover more often than they say, but never less.
#[test]
fn weighted_estimates_are_unbiased_and_cover() {
    let truth = BREAKS.iter().sum::<f64>() / 32.0;
    let upper_truth = BREAKS[24..].iter().sum::<f64>() / 8.0;
    let runs = 3000;
    let n = 400;
    let mut state = 11;
    let mut widths = Vec::new();
    for (favour, most) in [(1.0, 0.97), (8.0, 0.99), (16.0, 1.0), (100.0, 1.0), (1000.0, 1.0)] {
        let mut sums = [0.0; 2];
        let mut covered = [0; 2];
        let mut width = 0.0;
        for _ in 0..runs {
            let [all, upper] = sampled(n, favour, &mut state);
            let total = all.total(Level::default()).unwrap();
            let part = upper.ratio(Level::default()).unwrap();
            for (at, (estimate, truth)) in [(total, truth), (part, upper_truth)].iter().enumerate()
            {
                sums[at] += estimate.value.unwrap();
                covered[at] += u32::from(estimate.contains(*truth));
            }
            width += total.half_width();
        }
        let [mean, part] = sums.map(|sum| sum / f64::from(runs));
        let covered = covered.map(|covered| f64::from(covered) / f64::from(runs));
        // One standard error of the mean is below 0.0004; the ratio of the part is unbiased only
        // where both kinds of bits were drawn often enough.
        assert!((mean - truth).abs() < 0.0015, "{favour}: {mean} {truth}");
        if favour <= 16.0 {
            assert!((part - upper_truth).abs() < 0.006, "{favour}: {part} {upper_truth}");
            assert!(covered[1] > 0.935 && covered[1] <= most, "{favour}: {covered:?}");
        }
        assert!(covered[0] > 0.935 && covered[0] <= most, "{favour}: {covered:?}");
        widths.push(width / f64::from(runs));
    }
    assert!(widths[1] < 0.8 * widths[0], "{widths:?}");
}

/// Faults that all cases meet: most break nothing, some break many cases. The faults are the
/// sample; counting their trials as independent covers far too rarely.
#[test]
fn bundles_of_one_cause_cover() {
    let cases = 50;
    let mut state = 5;
    for (faults, least) in [(30, 0.91), (100, 0.93), (300, 0.935)] {
        let runs = 2000;
        let mut covered = 0;
        let mut as_trials = 0;
        for _ in 0..runs {
            let mut bundles = Weighted::default();
            let mut all = 0;
            for _ in 0..faults {
                // One fault in five hits; it then breaks each case with a chance of its own.
                let hits = uniform(&mut state) < 0.2;
                let chance = if hits { uniform(&mut state) } else { 0.0 };
                let broken = (0..cases).filter(|_| uniform(&mut state) < chance).count() as u64;
                bundles.add_bundle(1.0, broken, cases).unwrap();
                all += broken;
            }
            covered += u32::from(bundles.total(Level::default()).unwrap().contains(0.1));
            let plain = wilson(all, faults * cases, Level::default()).unwrap();
            as_trials += u32::from(plain.contains(0.1));
        }
        let [covered, as_trials] = [covered, as_trials].map(|n| f64::from(n) / f64::from(runs));
        assert!((least..0.98).contains(&covered), "{faults} faults: {covered}");
        assert!(as_trials < 0.6, "{faults} faults: {as_trials}");
    }
}
