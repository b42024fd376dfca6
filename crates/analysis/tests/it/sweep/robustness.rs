//! What an analysis says about rows whose effects are known.

use super::generated::Sweep;
use faultlens_analysis::sweep::{Effect, Findings, Options, Standing, analyse};

fn findings(sweep: &Sweep) -> Findings {
    analyse(&sweep.rows(), &Options::default()).unwrap()
}

/// The interval of an effect in the number's own unit.
fn interval(effects: &[Effect], name: &str) -> (f64, f64) {
    let found = effects.iter().find(|effect| effect.covariate.name == name).unwrap();
    (found.low / found.covariate.step, found.high / found.covariate.step)
}

#[test]
fn intervals_cover_the_effects_that_made_the_rows() {
    let (mut looks, mut covered) = (0, 0);
    for seed in 0..8 {
        // In half of the sweeps models of equal settings differ by luck.
        let per_model = if seed % 2 == 0 { 0.0 } else { 0.3 };
        let sweep = Sweep { seed, samples: 8, per_model, ..Sweep::default() };
        let found = findings(&sweep);
        let chosen = found.seconds.chosen.unwrap();
        let truths = [
            ("attack: hop_skip_jump", sweep.hop_skip_jump),
            ("defence: gauss_in", sweep.gauss_in),
            ("attack strength", sweep.strength),
            ("epochs", sweep.per_epoch),
            ("layers", sweep.per_layer),
            ("prediction seconds", sweep.per_prediction_second),
        ];
        for (name, truth) in truths {
            let (low, high) = interval(&chosen.effects, name);
            looks += 1;
            covered += u32::from(low <= truth && truth <= high);
        }
        // Luck spreads the times of all models together.
        let right = ["weibull", "gengamma"].contains(&chosen.model.as_str());
        assert!(right || per_model > 0.0, "{}", chosen.model);
    }
    assert!(covered >= looks - 5, "{covered} of {looks}");
}

#[test]
fn the_model_that_made_the_rows_fits_them() {
    let found = findings(&Sweep::default());
    assert_eq!(found.seconds.models.len(), 6);
    let weibull = found.seconds.models.iter().find(|m| m.model == "weibull").unwrap();
    assert!(weibull.ici.unwrap() < 0.01, "{:?}", weibull.ici);
    // The samples that were held out happen to fall a little sooner.
    assert!(weibull.test_ici.unwrap() < 0.04, "{:?}", weibull.test_ici);
    assert!(weibull.test_concordance.unwrap() > 0.65);
    assert_eq!((weibull.calibration.len(), weibull.qq.len()), (2, 2));
    let normal = found.seconds.models.iter().find(|m| m.model == "lognormal").unwrap();
    assert!(weibull.aic.unwrap() < normal.aic.unwrap());
    let split = found.seconds.split.unwrap();
    assert_eq!(split.test_rows * 4, split.train_rows);
    assert_eq!(split.test_rows + split.train_rows, found.seconds.rows);
    assert!(found.queries.chosen.is_some(), "{:?}", found.queries.missing);
}

#[test]
fn models_that_differ_by_luck_widen_the_errors() {
    let error = |per_model: f64| {
        let found = findings(&Sweep { per_model, ..Sweep::default() });
        let chosen = found.seconds.chosen.unwrap();
        assert_eq!((chosen.clustered_by, chosen.trained), ("model and image", 27));
        chosen.effects.iter().find(|e| e.covariate.name == "epochs").unwrap().se
    };
    assert!(error(0.5) > 3.0 * error(0.0));
}

/// Shares of a configuration's costs by the truth: a Weibull mean is λ·Γ(1 + 1/ρ).
#[test]
fn broken_and_robust_are_distinguished() {
    let cheap = findings(&Sweep { training: 0.1, ..Sweep::default() });
    assert_eq!(cheap.standings.broken, cheap.standings.known());
    assert!(cheap.conclusions[0].text.starts_with("270 of 270 configurations (100%) are broken"));
    let dear = findings(&Sweep { training: 1e-7, ..Sweep::default() });
    assert_eq!(dear.standings.not_broken, dear.standings.known());
    let gamma = 0.902_745_292_950_933_7; // Γ(1 + 1/1.5)
    let sweep = Sweep { samples: 100, ..Sweep::default() };
    let mixed = findings(&sweep);
    assert!(mixed.standings.broken > 0 && mixed.standings.not_broken > 0);
    let (mut model, mut own, mut all) = (0, 0, 0);
    for one in &mixed.configurations {
        let is = |name: &str, effect: f64| {
            if one.attack == name || one.defence == name { effect } else { 0.0 }
        };
        let scaled = match one.attack_label.as_str() {
            "pgd 0.1" => 0.5,
            "pgd 1" | "hop_skip_jump 100" => 1.0,
            _ => 0.0,
        };
        let place = sweep.base
            + sweep.per_epoch * f64::from(one.epochs)
            + sweep.strength * scaled
            + is("gauss_in", sweep.gauss_in)
            + is("hop_skip_jump", sweep.hop_skip_jump);
        let truth = one.training_seconds / (gamma * place.exp());
        let costs = one.costs.as_ref().unwrap();
        let holds = |cost: &faultlens_analysis::sweep::Cost| {
            cost.ratio.low <= truth && cost.ratio.high.is_none_or(|high| truth <= high)
        };
        all += 1;
        model += u32::from(holds(costs.model.as_ref().unwrap()));
        own += u32::from(holds(costs.own.as_ref().unwrap()));
    }
    assert!(f64::from(model) > 0.75 * f64::from(all), "{model} of {all}");
    assert!(f64::from(own) > 0.9 * f64::from(all), "{own} of {all}");
}

/// Rows of which every answer resists must not be called broken by what was never seen.
#[test]
fn a_configuration_that_resists_is_not_broken_by_its_own_samples() {
    let sweep = Sweep { training: 1.0, ..Sweep::default() };
    let mut rows = sweep.rows();
    for row in rows.rows.iter_mut().filter(|row| row.configuration == 0) {
        (row.changed, row.seconds) = (false, sweep.budget);
    }
    let found = analyse(&rows, &Options::default()).unwrap();
    let own = found.configurations[0].costs.as_ref().unwrap().own.as_ref().unwrap();
    assert_eq!(own.standing, Standing::Inconclusive);
    assert!(own.beyond && own.ratio.low < 1.0, "{own:?}");
}

#[test]
fn depth_is_distinguished_from_slowness() {
    let text = |sweep: &Sweep| {
        let found = findings(sweep);
        found.conclusions.into_iter().find(|c| c.about == "depth").unwrap().text
    };
    let slow = text(&Sweep { per_prediction_second: 40.0, ..Sweep::wide() });
    assert!(slow.starts_with("Depth helps only as far as it makes answers slower"), "{slow}");
    let deep = text(&Sweep { per_layer: 0.04, ..Sweep::wide() });
    assert!(deep.starts_with("Depth helps beyond the time of an answer"), "{deep}");
    let neither = text(&Sweep::wide());
    assert!(neither.starts_with("Depth does not show an effect"), "{neither}");
}

#[test]
fn defences_and_epochs_are_weighed() {
    let text = |sweep: &Sweep, about: &str| {
        let found = findings(sweep);
        found.conclusions.into_iter().find(|c| c.about == about).unwrap().text
    };
    let helps = text(&Sweep::default(), "defences");
    let start = "1 of 1 defence makes models last longer than with control: gauss_in ×1.";
    assert!(helps.starts_with(start), "{helps}");
    let useless = text(&Sweep { gauss_in: 0.0, ..Sweep::wide() }, "defences");
    assert!(
        useless.starts_with("None of 1 defence is shown to make models last longer than control"),
        "{useless}"
    );
    let dear = text(&Sweep { training: 0.1, ..Sweep::wide() }, "training");
    assert!(dear.contains("it costs more than it buys"), "{dear}");
    let cheap = text(&Sweep { training: 1e-8, per_epoch: 0.05, ..Sweep::wide() }, "training");
    assert!(cheap.contains("it buys more attack than it costs"), "{cheap}");
}

#[test]
fn the_next_epoch_costs_what_it_took() {
    let sweep = Sweep::wide();
    let epoch = findings(&sweep).questions.epoch.unwrap();
    // 34 layers on average.
    assert!((epoch.cost / (34.0 * sweep.training) - 1.0).abs() < 0.05, "{epoch:?}");
    let gain = epoch.gain.value.unwrap();
    assert!(gain > 0.0 && epoch.gain.low < gain && gain < epoch.gain.high.unwrap());
}

#[test]
fn counts_are_those_of_the_rows() {
    let rows = Sweep::default().rows();
    let found = findings(&Sweep::default());
    let all = found.groups.iter().find(|g| g.axis == "data").unwrap();
    let counts = &all.groups[0].counts;
    let changed = rows.rows.iter().filter(|row| row.changed).count() as u64;
    assert_eq!((counts.changed.events, counts.changed.n), (changed, rows.rows.len() as u64));
    // 27 models with two defences each, 1,000 samples each.
    assert_eq!((counts.benign.events, counts.benign.n), (48_600, 54_000));
    let wrong = rows.rows.iter().filter(|row| row.wrong == Some(true)).count() as f64;
    let seconds: f64 = rows.rows.iter().map(|row| row.seconds).sum();
    let rate = counts.adversarial_failures.unwrap().value.unwrap();
    assert!((rate - wrong / seconds).abs() < 1e-9 * rate);
    assert_eq!(found.configurations.len(), 270);
    let json = serde_json::to_string(&found).unwrap();
    assert_eq!(json, serde_json::to_string(&findings(&Sweep::default())).unwrap());
}
