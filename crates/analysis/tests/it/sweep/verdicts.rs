//! Verdicts come from what was seen, for new images, and nothing is stated that the grid cannot show.

use faultlens_analysis::sweep::{Basis, Findings, Options, Rows, Scale, Standing, analyse};
use faultlens_core::Seed;

use super::generated::Sweep;

fn findings(rows: &Rows) -> Findings {
    analyse(rows, &Options::default()).unwrap()
}

fn conclusion(found: &Findings, about: &str) -> String {
    found.conclusions.iter().find(|one| one.about == about).unwrap().text.clone()
}

/// Times of a Pareto distribution with a soft start that ends at thirty times it: where every answer
/// changed, the generalised gamma follows the start (λ near −4) and invents a tail, which expects some
/// three and a half times the seconds observed.
fn steep() -> Rows {
    let mut rows = Sweep { budget: 1e9, ..Sweep::default() }.rows();
    let mut draw = Seed::new(5).stream();
    for row in &mut rows.rows {
        let of = &rows.configurations[row.configuration as usize];
        let place = 0.7 * of.attack.scaled + 0.02 * f64::from(of.epochs) - 4.0;
        let least = 30.0_f64.powf(-1.0 / 1.1);
        let share = 1.0 - draw.uniform() * (1.0 - least);
        row.seconds = (place - 1.1 * share.ln() + 0.05 * draw.gaussian()).exp();
        row.changed = true;
    }
    rows
}

#[test]
fn a_degenerate_shape_is_refused() {
    let found = findings(&steep());
    let gamma = found.seconds.models.iter().find(|model| model.model == "gengamma").unwrap();
    let why = gamma.refused.as_deref().unwrap();
    assert!(why.starts_with("its shape λ = -"), "{why}");
    let lowest = found.seconds.models.iter().filter_map(|model| model.aic);
    let lowest = lowest.fold(f64::INFINITY, f64::min);
    assert_eq!(gamma.aic, Some(lowest), "its criterion alone would have chosen it");
    let chosen = found.seconds.chosen.as_ref().unwrap();
    assert_ne!(chosen.model, "gengamma");
    let agreement = chosen.agreement.as_ref().unwrap();
    assert!((0.67..1.5).contains(&agreement.median), "{agreement:?}");
    let forced = Options { model: Some("gengamma".to_owned()), ..Options::default() };
    let forced = analyse(&steep(), &forced).unwrap();
    let off = forced.seconds.chosen.unwrap().agreement.unwrap();
    assert!(!off.calibrated && off.median > 2.0, "{off:?}");
    // What the samples say leads, whatever the model.
    assert_eq!(forced.standings.pooled, 0);
}

#[test]
fn where_every_answer_changed_the_observed_mean_is_the_estimate() {
    let rows = steep();
    let found = findings(&rows);
    for one in found.configurations.iter().step_by(17) {
        let own: Vec<f64> = rows
            .rows
            .iter()
            .filter(|row| u64::from(row.configuration) == one.index)
            .map(|row| row.seconds)
            .collect();
        let mean = own.iter().sum::<f64>() / own.len() as f64;
        let costs = one.costs.as_ref().unwrap();
        let cost = costs.own.as_ref().unwrap();
        assert!((cost.seconds.value.unwrap() / mean - 1.0).abs() < 1e-9);
        assert!(!cost.beyond && costs.images == 20);
        assert!((costs.off.unwrap().ratio > 0.0) && costs.model.is_some());
    }
    let text = conclusion(&found, "broken");
    assert!(text.contains("times the seconds observed in the middle of 270 configurations, and "));
    assert!(text.contains(" in the worst (resnet"), "{text}");
}

/// Verdicts against the truth: a Weibull mean is λ·Γ(1 + 1/ρ).
#[test]
fn pooled_and_own_verdicts_are_right() {
    let gamma = 0.902_745_292_950_933_7;
    let mut pooled = 0;
    let mut decided = 0;
    let mut wrong = 0;
    for seed in 0..4 {
        let sweep = Sweep { seed, budget: 5.0, ..Sweep::default() };
        let found = findings(&sweep.rows());
        assert!(found.seconds.chosen.as_ref().unwrap().agreement.as_ref().unwrap().calibrated);
        for one in &found.configurations {
            let scaled = match one.attack_label.as_str() {
                "pgd 0.1" => 0.5,
                "pgd 1" | "hop_skip_jump 100" => 1.0,
                _ => 0.0,
            };
            let mut place =
                sweep.base + sweep.per_epoch * f64::from(one.epochs) + sweep.strength * scaled;
            place += if one.defence == "gauss_in" { sweep.gauss_in } else { 0.0 };
            place += if one.attack == "hop_skip_jump" { sweep.hop_skip_jump } else { 0.0 };
            let truth = one.training_seconds / (gamma * place.exp());
            let verdict = one.costs.as_ref().unwrap().verdict.unwrap();
            pooled += u32::from(verdict.basis == Basis::Pooled);
            match verdict.standing {
                Standing::Broken => wrong += u32::from(truth < 1.0),
                Standing::NotBroken => wrong += u32::from(truth > 1.0),
                Standing::Inconclusive => continue,
            }
            decided += 1;
        }
    }
    assert!(pooled > 20, "{pooled}");
    assert!(f64::from(wrong) <= 0.025 * f64::from(decided), "{wrong} of {decided}");
}

/// Configurations that differ by more than covariates know.
#[test]
fn a_model_that_disagrees_with_the_samples_decides_nothing() {
    let mut rows = Sweep { budget: 1e9, samples: 40, ..Sweep::default() }.rows();
    for row in &mut rows.rows {
        let odd = row.configuration * 7 % 11 < 5;
        row.seconds *= if odd { 4.0 } else { 0.25 };
    }
    let found = findings(&rows);
    let agreement = found.seconds.chosen.as_ref().unwrap().agreement.as_ref().unwrap();
    assert!(!agreement.calibrated && agreement.missed > 100, "{agreement:?}");
    assert_eq!(found.standings.pooled, 0);
    assert!(conclusion(&found, "broken").contains("too far off to decide anything"));
}

#[test]
fn few_images_give_no_verdict() {
    let found = findings(&Sweep { samples: 9, training: 0.1, ..Sweep::default() }.rows());
    assert_eq!((found.standings.inconclusive, found.standings.few_images), (270, 270));
    let warned = found.cautions.iter().any(|caution| {
        caution.starts_with("270 configurations have fewer than 10 images; nothing is said about")
    });
    assert!(warned, "{:?}", found.cautions);
    assert_eq!(found.trash.unwrap().interval, None);
}

#[test]
fn low_clean_accuracy_is_warned_of() {
    let low = findings(&Sweep { accuracy: 0.17, training: 1e-7, ..Sweep::default() }.rows());
    assert_eq!(low.standings.broken, 0);
    let text = conclusion(&low, "broken");
    assert!(text.contains("Without an attack 17.0% of the answers are right"), "{text}");
    assert!(
        low.cautions[0].starts_with(
            "Low clean accuracy: 270 of 270 configurations get less than half of the undisturbed \
             samples right, the lowest 17.0%."
        ),
        "{:?}",
        low.cautions
    );
    assert!(low.clean.unwrap().is_low());
    let high = findings(&Sweep { training: 1e-7, ..Sweep::default() }.rows());
    assert!(!high.cautions.iter().any(|caution| caution.starts_with("Low clean accuracy")));
}

#[test]
fn three_depths_state_nothing_about_depth() {
    let found = findings(&Sweep { per_layer: 0.04, ..Sweep::default() }.rows());
    let text = conclusion(&found, "depth");
    assert_eq!(
        text,
        "Nothing is stated about depth: it has 3 different values, and a trend needs at least 5."
    );
    let effects = &found.seconds.chosen.as_ref().unwrap().effects;
    let layers = effects.iter().find(|effect| effect.covariate.name == "layers").unwrap();
    assert_eq!(layers.covariate.values, 3);
    assert!(layers.withheld.is_some());
    assert!(found.questions.layer.is_none());
    assert!(found.questions.missing.iter().any(|why| why.starts_with("what one more layer buys")));
}

/// Layers and the time of an answer that share nearly all of their variance.
#[test]
fn what_others_explain_is_not_stated() {
    let mut rows = Sweep { per_layer: 0.04, ..Sweep::wide() }.rows();
    for (i, of) in rows.configurations.iter_mut().enumerate() {
        let noise = 1.0 + 0.04 * f64::from((i / 10 * 7 % 5) as u32 % 5);
        of.prediction_seconds = 0.001 * f64::from(of.layers) * noise;
    }
    let found = findings(&rows);
    let text = conclusion(&found, "depth");
    assert!(text.starts_with("Depth helps: "), "{text}");
    let wanted = "Nothing is stated about depth at the same time of a plain answer: the other \
                  covariates explain 9";
    assert!(text.contains(wanted), "{text}");
    let with = found.questions.depth.unwrap().with.unwrap();
    assert!(with.covariate.inflation > 5.0 && with.covariate.inflation < 100.0, "{with:?}");
}

/// The covariate's R² by regression on the others gives the variance inflation of two columns.
#[test]
fn variance_inflation_of_two_columns_is_that_of_their_correlation() {
    let rows = Sweep::wide().rows();
    let found = findings(&rows);
    let with = found.questions.depth.as_ref().unwrap().with.as_ref().unwrap();
    // Only layers and the time of an answer share anything in this design.
    let x: Vec<f64> = rows.configurations.iter().map(|of| f64::from(of.layers)).collect();
    let y: Vec<f64> = rows.configurations.iter().map(|of| of.prediction_seconds).collect();
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (mx, my) = (mean(&x), mean(&y));
    let shared: f64 = x.iter().zip(&y).map(|(a, b)| (a - mx) * (b - my)).sum();
    let of_x: f64 = x.iter().map(|a| (a - mx) * (a - mx)).sum();
    let of_y: f64 = y.iter().map(|b| (b - my) * (b - my)).sum();
    let wanted = 1.0 / (1.0 - shared * shared / (of_x * of_y));
    let got = with.covariate.inflation;
    assert!((got / wanted - 1.0).abs() < 0.05, "{got} {wanted}");
}

#[test]
fn queries_have_a_discrete_hazard() {
    let sweep = Sweep::default();
    let mut rows = sweep.rows();
    for row in &mut rows.rows {
        row.queries = 1 + (row.seconds / 0.01) as u64;
    }
    let found = findings(&rows);
    let chosen = found.queries.chosen.as_ref().unwrap();
    assert_eq!((chosen.scale, chosen.model.as_str()), (Scale::Hazard, "discrete hazard"));
    let effect =
        |name: &str| chosen.effects.iter().find(|effect| effect.covariate.name == name).unwrap();
    // A Weibull time of shape 1.5 that lasts e times as long has a hazard of e^-1.5.
    let slower = effect("attack: hop_skip_jump");
    assert!((slower.estimate + 1.5 * sweep.hop_skip_jump).abs() < 0.25, "{slower:?}");
    let stronger = effect("attack strength");
    assert!((stronger.estimate + 1.5 * sweep.strength).abs() < 0.3, "{stronger:?}");
    let agreement = chosen.agreement.as_ref().unwrap();
    assert!((0.9..1.1).contains(&agreement.median), "{agreement:?}");
}

/// Images that resist whatever attacks them: the truth is that of four thousand images.
#[test]
fn intervals_of_trash_hold_for_new_images() {
    let small = Sweep {
        per_image: 0.5,
        samples: 40,
        layers: &[18],
        epochs: &[10],
        budget: 1e9,
        ..Sweep::default()
    };
    let rows = |sweep: &Sweep| {
        let mut rows = sweep.rows();
        rows.configurations.iter_mut().for_each(|of| of.training_seconds = 1.0);
        rows
    };
    let truth = findings(&rows(&Sweep { samples: 4000, ..small.clone() }));
    let first = |found: &Findings| {
        found.configurations[0].costs.as_ref().unwrap().own.as_ref().unwrap().seconds
    };
    let mean = first(&truth).value.unwrap();
    let middle = truth.trash.unwrap().value;
    let mut held = 0;
    let mut own = 0;
    let runs = 60;
    for seed in 100..100 + runs {
        let found = findings(&rows(&Sweep { seed, ..small.clone() }));
        let trash = found.trash.unwrap();
        let [low, high] = trash.interval.unwrap();
        held += u32::from(low <= middle && middle <= high);
        assert_eq!((trash.images, trash.resamples), (40, 999));
        let first = first(&found);
        own += u32::from(first.low <= mean && mean <= first.high.unwrap());
    }
    assert!(f64::from(held) >= 0.88 * runs as f64, "{held} of {runs}");
    assert!(f64::from(own) >= 0.88 * runs as f64, "{own} of {runs}");
}
