//! Results beside those of programs and papers that are not ours.

use faultlens_stats::{
    Bootstrap, Level, PairedCounts, benjamini_hochberg, clopper_pearson, holm, newcombe,
    newcombe_paired, sample_size, wilson,
};

/// Made by `fixtures/reference.py` with SciPy and statsmodels.
const REFERENCE: &str = include_str!("../fixtures/reference.txt");

/// The cases of one method: what it was given and what must come out.
fn cases(method: &str) -> Vec<(Vec<&'static str>, Vec<f64>)> {
    let found: Vec<_> = REFERENCE
        .lines()
        .filter_map(|line| line.strip_prefix(method)?.strip_prefix(' '))
        .map(|line| {
            let (given, wanted) = line.split_once(" = ").unwrap();
            let wanted = wanted.split(' ').map(|x| x.parse().unwrap());
            (given.split(' ').collect(), wanted.collect())
        })
        .collect();
    assert!(!found.is_empty(), "no case of {method}");
    found
}

fn numbers(given: &[&str]) -> Vec<f64> {
    given.iter().map(|x| x.parse().unwrap()).collect()
}

fn counts(given: &[&str]) -> Vec<u64> {
    given.iter().map(|x| x.parse().unwrap()).collect()
}

fn assert_close(got: &[f64], want: &[f64], tolerance: f64, case: &[&str]) {
    assert_eq!(got.len(), want.len());
    for (got_one, want_one) in got.iter().zip(want) {
        let error = (got_one - want_one).abs();
        assert!(error <= tolerance, "{case:?}: {got:?} instead of {want:?}");
    }
}

#[test]
fn wilson_as_scipy() {
    for (given, want) in cases("wilson") {
        let n = counts(&given[..2]);
        let got = wilson(n[0], n[1], given[2].parse().unwrap()).unwrap();
        assert_close(&[got.low, got.high], &want, 1e-14, &given);
    }
}

#[test]
fn clopper_pearson_as_statsmodels() {
    for (given, want) in cases("clopper_pearson") {
        let n = counts(&given[..2]);
        let got = clopper_pearson(n[0], n[1], given[2].parse().unwrap()).unwrap();
        let tolerance = if n[1] > 100_000_000 { 1e-7 } else { 1e-9 };
        let relative = [got.low / want[0].max(1e-300), got.high / want[1]];
        let one = [f64::from(want[0] > 0.0), 1.0];
        assert_close(&relative, &one, tolerance, &given);
        assert_close(&[got.low, got.high], &want, 1e-13, &given);
    }
}

#[test]
fn newcombe_as_statsmodels() {
    for (given, want) in cases("newcombe") {
        let n = counts(&given[..4]);
        let level = given[4].parse().unwrap();
        let got = newcombe((n[0], n[1]), (n[2], n[3]), level).unwrap();
        assert_close(&[got.low, got.high], &want, 1e-13, &given);
    }
}

#[test]
fn sample_size_of_a_vast_population_as_statsmodels() {
    for (given, want) in cases("infinite_sample_size") {
        let x = numbers(&given);
        let got = sample_size(1 << 62, x[0], x[1], given[2].parse().unwrap()).unwrap();
        assert_eq!(got, want[0].ceil() as u64, "{given:?}");
    }
}

#[test]
fn adjusted_p_values_as_statsmodels() {
    for (given, want) in cases("holm") {
        assert_close(&holm(&numbers(&given)).unwrap(), &want, 1e-15, &given);
    }
    for (given, want) in cases("benjamini_hochberg") {
        let got = benjamini_hochberg(&numbers(&given)).unwrap();
        assert_close(&got, &want, 1e-15, &given);
    }
}

const SKEWED: [f64; 12] = [0.5, 1.25, 0.75, 8.0, 2.5, 0.25, 3.0, 1.0, 0.125, 4.5, 2.0, 16.0];

fn mean(indices: &[usize]) -> f64 {
    indices.iter().map(|&i| SKEWED[i]).sum::<f64>() / indices.len() as f64
}

fn sd(indices: &[usize]) -> f64 {
    let centre = mean(indices);
    let squares = indices.iter().map(|&i| (SKEWED[i] - centre).powi(2));
    (squares.sum::<f64>() / indices.len() as f64).sqrt()
}

/// Vigna's SplitMix64, as in the generator script.
fn splitmix(mut state: u64) -> impl FnMut() -> u64 {
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[test]
fn bootstrap_as_scipy_on_the_same_resamples() {
    for (given, want) in cases("bootstrap") {
        let bootstrap = Bootstrap::new(999, given[2].parse().unwrap()).unwrap();
        let statistic = if given[1] == "mean" { mean } else { sd };
        let got = match given[0] {
            "bca" => bootstrap.bca(SKEWED.len(), splitmix(42), statistic),
            _ => bootstrap.percentile(SKEWED.len(), splitmix(42), statistic),
        }
        .unwrap();
        assert_close(&[got.low, got.high], &want, 1e-9, &given);
    }
}

/// The examples of Newcombe 1998, Stat. Med. 17:857–872, to the four digits printed; the same cases
/// are in the fixture to all digits.
#[test]
fn single_proportions_of_newcombe() {
    for (events, n, score, exact) in [
        (81, 263, [0.2553, 0.3662], [0.2527, 0.3676]),
        (15, 148, [0.0624, 0.1605], [0.0578, 0.1617]),
        (0, 20, [0.0, 0.1611], [0.0, 0.1684]),
        (1, 29, [0.0061, 0.1718], [0.0009, 0.1776]),
    ] {
        let by_score = wilson(events, n, Level::default()).unwrap();
        let by_exact = clopper_pearson(events, n, Level::default()).unwrap();
        assert_close(&[by_score.low, by_score.high], &score, 5.1e-5, &["wilson"]);
        assert_close(&[by_exact.low, by_exact.high], &exact, 5.1e-5, &["exact"]);
    }
}

/// The examples of Newcombe 1998, Stat. Med. 17:873–890, method 10, to the four digits printed; the
/// same cases are in the fixture to all digits.
#[test]
fn differences_of_newcombe() {
    for (first, second, want) in [
        ((56, 70), (48, 80), [0.0524, 0.3339]),
        ((9, 10), (3, 10), [0.1705, 0.8090]),
        ((6, 7), (2, 7), [0.0582, 0.8062]),
        ((5, 56), (0, 29), [-0.0381, 0.1926]),
        ((0, 10), (0, 20), [-0.1611, 0.2775]),
        ((0, 10), (0, 10), [-0.2775, 0.2775]),
        ((10, 10), (0, 20), [0.6791, 1.0]),
        ((10, 10), (0, 10), [0.6075, 1.0]),
    ] {
        let got = newcombe(first, second, Level::default()).unwrap();
        assert_close(&[got.low, got.high], &want, 5.1e-5, &["newcombe"]);
    }
}

/// Newcombe 1998, Stat. Med. 17:2635–2650, method 10, as quoted by the tests of the R package
/// propint (to 1e-4).
#[test]
fn paired_differences_of_newcombe() {
    for ([both, first_only, second_only, neither], want) in [
        ([36, 12, 2, 0], [0.0569, 0.3404]),
        ([18, 12, 2, 18], [0.0562, 0.3290]),
        ([53, 0, 0, 1], [-0.0729, 0.0729]),
        ([0, 30, 0, 0], [0.8395, 1.0]),
    ] {
        let counts = PairedCounts { both, first_only, second_only, neither };
        let got = newcombe_paired(counts, Level::default()).unwrap();
        assert_close(&[got.low, got.high], &want, 1e-4, &["newcombe_paired"]);
    }
}
