//! How often thresholds are found where there are none, and where they are found where there is
//! one: simulated answers of known truth, with fixed seeds.

use faultlens_stats::tolerance::{
    Bin, Bins, Changed, Evidence, Interval, Original, Originals, Rule, StatedDrop, ThresholdError,
};
use faultlens_stats::{Level, clopper_pearson};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn chance(&mut self, rate: f64) -> bool {
        ((self.bits() >> 11) as f64) < rate * (1_u64 << 53) as f64
    }
}

/// Answers per bin of a small study with few images, and of a large one; as uneven as real ones.
const SHAPES: [(u8, u64, u64); 2] = [(60, 12, 60), (85, 15, 160)];

/// A table of the shape with a rate for each visual change; answers in groups of five, of which
/// so many agree by more than chance.
fn table(
    shape: (u8, u64, u64),
    random: &mut Random,
    agree: f64,
    rate: impl Fn(f64) -> f64,
) -> Bins {
    let (bins, fewest, most) = shape;
    Bins::new((5..5 + bins).map(|hundredths| {
        let n = (fewest + random.bits() % (most - fewest)) / 5 * 5 + 5;
        let rate = rate(f64::from(hundredths) / 100.0);
        let mut hits = 0;
        for _ in 0..n / 5 {
            let common = random.chance(rate);
            hits += (0..5)
                .filter(|_| {
                    // Five people share an image, and agree beyond chance.
                    if random.chance(agree.sqrt()) { common } else { random.chance(rate) }
                })
                .count() as u64;
        }
        Bin { hundredths, n, hits }
    }))
    .unwrap()
}

/// How many of the tables without a drop are said to have one.
fn false_alarms(agree: f64, evidence: impl Fn(Bins) -> Evidence) -> [u64; 2] {
    let mut random = Random(8);
    SHAPES.map(|shape| {
        (0..TABLES)
            .filter(|_| {
                let bins = table(shape, &mut random, agree, |_| 0.97);
                evidence(bins).threshold(Rule::Default).unwrap().drop().is_some()
            })
            .count() as u64
    })
}

const TABLES: u32 = 400;

#[test]
fn the_default_rule_seldom_sees_a_drop_where_there_is_none() {
    for (agree, most_right, most_same) in [(0.0, 0.05, 0.05), (0.3, 0.05, 0.10)] {
        let counts = [
            (
                false_alarms(agree, |bins| Evidence::correctness_table(bins, 0.97).unwrap()),
                most_right,
            ),
            (false_alarms(agree, Evidence::prediction_table), most_same),
        ];
        for (alarms, most) in counts {
            for alarms in alarms {
                let rate = clopper_pearson(alarms, TABLES.into(), Level::default()).unwrap();
                assert!(rate.value.unwrap() <= most, "agreement {agree}: {rate:?}");
            }
        }
    }
}

/// Right up to a visual change of 0.6, then ever less.
fn falling(x: f64) -> f64 {
    if x <= 0.6 { 0.97 } else { 0.97 - 2.0 * (x - 0.6) }
}

#[test]
fn a_drop_is_found_where_it_is() {
    let mut random = Random(5);
    for shape in [(85, 40, 60), (85, 100, 160)] {
        for _ in 0..20 {
            let bins = table(shape, &mut random, 0.0, falling);
            let found = Evidence::correctness_table(bins, 0.97).unwrap();
            let found = found.threshold(Rule::Default).unwrap();
            assert!(found.value > 0.55 && found.value < 0.75, "{}", found.value);
            assert!(found.cautious < found.value);
        }
    }
}

/// Five answers on each of 1,500 originals and on a changed version of each.
fn answers(random: &mut Random, agree: f64) -> (Vec<Changed>, Originals) {
    let mut changed = Vec::new();
    let mut originals = Vec::new();
    for image in 0..1500 {
        let visual_change = f64::from(image % 90 + 5) / 100.0;
        let easy = random.chance(0.97);
        let common = random.chance(falling(visual_change));
        for _ in 0..5 {
            let bound = random.chance(agree.sqrt());
            let right = if bound { easy } else { random.chance(0.97) };
            originals.push(Original { image, answer: u32::from(right), truth: Some(1) });
            let right = if bound { common } else { random.chance(falling(visual_change)) };
            let answer = u32::from(right);
            changed.push(Changed { image, visual_change, answer, truth: Some(1) });
        }
    }
    (changed, Originals::new(originals))
}

fn interval(of: &Evidence, seed: u64) -> Interval {
    Interval::new(
        &(0..100)
            .map(|round| {
                let mut random = Random(seed << 32 | round);
                of.again(Rule::Default, &mut || random.bits()).unwrap()
            })
            .collect::<Vec<_>>(),
        Level::default(),
    )
    .unwrap()
}

#[test]
fn intervals_over_images_are_wider_where_answers_on_an_image_agree() {
    let mut widths = [0.0; 2];
    for (width, agree) in widths.iter_mut().zip([0.0, 0.5]) {
        for seed in 0..4 {
            let (changed, originals) = answers(&mut Random(seed), agree);
            let evidence = Evidence::correctness(&changed, &originals).unwrap();
            assert!(evidence.has_images() && evidence.bins().answers() == 7500);
            let interval = interval(&evidence, seed);
            *width += interval.high - interval.low;
            assert!(interval.low < 0.75 && interval.high > 0.6, "{interval:?}");
        }
    }
    assert!(widths[1] > 1.2 * widths[0], "{widths:?}");
}

#[test]
fn the_same_draws_give_the_same_interval() {
    let (changed, originals) = answers(&mut Random(3), 0.2);
    let evidence = Evidence::prediction(&changed, &originals).unwrap();
    assert_eq!(interval(&evidence, 1), interval(&evidence, 1));
    assert_ne!(interval(&evidence, 1), interval(&evidence, 2));
}

#[test]
fn parts_of_the_answers_tell_the_same_story() {
    let mut random = Random(2);
    let bins = table((85, 100, 160), &mut random, 0.0, falling);
    let evidence = Evidence::prediction_table(bins);
    let pairs = (0..20).map(|_| evidence.reuse(&mut || random.bits()).unwrap().unwrap());
    let alike = pairs.filter(|pair| pair.similar()).count();
    assert!(alike >= 12, "{alike}");
}

#[test]
fn evidence_without_a_reference_is_refused() {
    let changed = [Changed { image: 1, visual_change: 0.5, answer: 1, truth: Some(1) }];
    let none = Originals::default();
    for refused in [Evidence::correctness(&changed, &none), Evidence::prediction(&changed, &none)] {
        assert_eq!(refused.err(), Some(ThresholdError::NoOriginals));
    }
    let rate = Evidence::correctness_against(&changed, 97.0).err();
    assert_eq!(rate, Some(ThresholdError::Rate(97.0)));
    let thin = Evidence::correctness_against(&changed, 0.97).unwrap();
    let error = thin.threshold(Rule::Default).err();
    assert_eq!(error, Some(ThresholdError::TooFewBins { kept: 0, bins: 1 }));
    assert_eq!(thin.again(Rule::Default, &mut || 7), Ok(None));
    assert_eq!(thin.reuse(&mut || 7), Ok(None));
}

/// Right up to 0.40, then ever less: half a point a hundredth, so that ten points are lost at 0.60.
fn from_forty(x: f64) -> f64 {
    if x <= 0.4 { 0.97 } else { 0.97 - 0.5 * (x - 0.4) }
}

fn ten_points() -> Rule {
    Rule::StatedDrop(StatedDrop::new(0.1).unwrap())
}

/// The mean threshold over tables with so many answers in each bin.
fn mean_threshold(rule: Rule, answers: u64, tables: u64) -> f64 {
    let mut random = Random(answers);
    let mut sum = 0.0;
    for _ in 0..tables {
        let bins = (1..=100).map(|hundredths| {
            // The middle of the bin.
            let rate = from_forty(f64::from(hundredths) / 100.0 - 0.005);
            let hits = (0..answers).filter(|_| random.chance(rate)).count() as u64;
            Bin { hundredths, n: answers, hits }
        });
        let evidence = Evidence::correctness_table(Bins::new(bins).unwrap(), 0.97).unwrap();
        sum += evidence.threshold(rule).unwrap().value;
    }
    sum / tables as f64
}

/// The finding that led to stated drops: by significance t_c moves from .64 to .46 as people are
/// asked more, and by a stated drop it stays where people have lost that much.
#[test]
fn a_stated_drop_does_not_move_with_the_number_of_answers() {
    for (answers, significant) in [(11, 0.64), (20, 0.61), (50, 0.54), (200, 0.46)] {
        let by_significance = mean_threshold(Rule::Default, answers, 60);
        assert!((by_significance - significant).abs() < 0.02, "{answers}: {by_significance}");
        let stated = mean_threshold(ten_points(), answers, 60);
        assert!((stated - 0.6).abs() < 0.02, "{answers}: {stated}");
    }
}

/// A study with five answers on each of so many images and on its original, of which one in five
/// images agrees by more than chance.
fn study(random: &mut Random, images: u32, rate: impl Fn(f64) -> f64) -> Evidence {
    let mut changed = Vec::new();
    let mut originals = Vec::new();
    for image in 0..images {
        let visual_change = (random.bits() >> 11) as f64 / (1_u64 << 53) as f64;
        let easy = random.chance(0.97);
        let common = random.chance(rate(visual_change));
        for _ in 0..5 {
            let bound = random.chance(0.2_f64.sqrt());
            let right = if bound { easy } else { random.chance(0.97) };
            originals.push(Original { image, answer: u32::from(right), truth: Some(1) });
            let right = if bound { common } else { random.chance(rate(visual_change)) };
            let answer = u32::from(right);
            changed.push(Changed { image, visual_change, answer, truth: Some(1) });
        }
    }
    Evidence::correctness(&changed, &Originals::new(originals)).unwrap()
}

/// How many of so many studies have an interval that covers the visual change at which people have
/// lost ten points, from so many rounds each.
fn covering(images: u32, slope: f64, studies: u64, rounds: u64) -> u64 {
    let truth = 0.4 + 0.1 / slope;
    let rate = |x: f64| 0.97 - slope * (x - 0.4).max(0.0);
    let mut covered = 0;
    for seed in 0..studies {
        let evidence = study(&mut Random(seed << 24 | u64::from(images)), images, rate);
        let mut drops = Vec::new();
        for round in 0..rounds {
            let mut random = Random(seed << 40 | round << 20 | 99);
            drops.push(evidence.again(ten_points(), &mut || random.bits()).unwrap());
        }
        let interval = Interval::new(&drops, Level::default()).unwrap();
        covered += u64::from(interval.low <= truth && truth <= interval.high);
    }
    covered
}

/// As far as so many studies can tell, at least 93% of the intervals of a stated drop cover it.
fn assert_covers(studies: u64, rounds: u64) {
    for (images, slope) in [(400, 0.5), (400, 1.0), (1500, 0.5), (1500, 1.0)] {
        let covered = covering(images, slope, studies, rounds);
        let rate = clopper_pearson(covered, studies, Level::default()).unwrap();
        assert!(rate.high >= 0.93, "{images} images, slope {slope}: {covered} of {studies}");
    }
}

#[test]
fn the_interval_of_a_stated_drop_covers_it() {
    assert_covers(30, 60);
}

/// The full grid, whose figures stand in docs/tolerance.md.
#[test]
#[ignore = "takes minutes"]
fn the_interval_of_a_stated_drop_covers_it_in_many_studies() {
    assert_covers(400, 200);
}
