//! How often intervals and verdicts of generated sweeps hold the truth that made them: the figures
//! of docs/sweep-results.md. `cargo test --release -p faultlens-analysis --test it coverage -- --ignored`.

use std::fmt::Write;

use faultlens_analysis::sweep::{Effect, Findings, OfConfiguration, Options, Standing, analyse};

use super::generated::Sweep;

/// Γ(1 + 1/1.5): the mean of a Weibull time of scale 1.
const GAMMA: f64 = 0.902_745_292_950_933_7;

/// Hits among looks.
#[derive(Default)]
struct Share {
    hits: u32,
    looks: u32,
}

impl Share {
    fn add(&mut self, hit: bool) {
        self.hits += u32::from(hit);
        self.looks += 1;
    }

    fn value(&self) -> f64 {
        f64::from(self.hits) / f64::from(self.looks.max(1))
    }
}

#[derive(Default)]
struct Tally {
    of_models: Share,
    of_attacks: Share,
    own: Share,
    model: Share,
    /// Wrong verdicts among all configurations, by own samples and pooled together.
    wrong: Share,
    pooled: Share,
    decided: Share,
}

fn holds(effects: &[Effect], name: &str, truth: f64) -> bool {
    let found = effects.iter().find(|effect| effect.covariate.name == name).unwrap();
    let step = found.covariate.step;
    found.low / step <= truth && truth <= found.high / step
}

fn effects(tally: &mut Tally, sweep: &Sweep, found: &Findings) {
    let effects = &found.seconds.chosen.as_ref().unwrap().effects;
    for (name, truth) in [
        ("epochs", sweep.per_epoch),
        ("layers", sweep.per_layer),
        ("prediction seconds", sweep.per_prediction_second),
    ] {
        tally.of_models.add(holds(effects, name, truth));
    }
    for (name, truth) in [
        ("attack: hop_skip_jump", sweep.hop_skip_jump),
        ("defence: gauss_in", sweep.gauss_in),
        ("attack strength", sweep.strength),
    ] {
        tally.of_attacks.add(holds(effects, name, truth));
    }
}

/// E\[T\] of a configuration.
fn mean(sweep: &Sweep, of: &OfConfiguration) -> f64 {
    let scaled = match of.attack_label.as_str() {
        "pgd 0.1" => 0.5,
        "pgd 1" | "hop_skip_jump 100" => 1.0,
        _ => 0.0,
    };
    let mut place = sweep.base + sweep.per_epoch * f64::from(of.epochs) + sweep.strength * scaled;
    place += if of.defence == "gauss_in" { sweep.gauss_in } else { 0.0 };
    place += if of.attack == "hop_skip_jump" { sweep.hop_skip_jump } else { 0.0 };
    GAMMA * (place + sweep.per_image * sweep.per_image / 2.0).exp()
}

fn costs(tally: &mut Tally, sweep: &Sweep, found: &Findings) {
    for one in &found.configurations {
        let truth = one.training_seconds / mean(sweep, one);
        let costs = one.costs.as_ref().unwrap();
        for (cost, share) in [(&costs.own, &mut tally.own), (&costs.model, &mut tally.model)] {
            let ratio = cost.as_ref().unwrap().ratio;
            share.add(ratio.low <= truth && ratio.high.is_none_or(|high| truth <= high));
        }
        let verdict = costs.verdict.unwrap();
        let wrong = match verdict.standing {
            Standing::Broken => truth < 1.0,
            Standing::NotBroken => truth > 1.0,
            Standing::Inconclusive => false,
        };
        tally.wrong.add(wrong);
        tally.decided.add(verdict.standing != Standing::Inconclusive);
        tally.pooled.add(verdict.basis == faultlens_analysis::sweep::Basis::Pooled);
    }
}

#[test]
#[ignore = "takes minutes"]
fn coverage_of_generated_sweeps() {
    let plain = Sweep { budget: 5.0, ..Sweep::default() };
    let grids = [
        ("equal models", plain.clone()),
        ("models differ by luck", Sweep { per_model: 0.3, ..plain.clone() }),
        ("images differ", Sweep { per_image: 0.4, ..plain.clone() }),
        ("short budget", Sweep { budget: 0.3, ..plain }),
    ];
    let mut table = String::new();
    for (name, sweep) in grids {
        let mut tally = Tally::default();
        for seed in 0..40 {
            let sweep = Sweep { seed, ..sweep.clone() };
            let found = analyse(&sweep.rows(), &Options::default()).unwrap();
            effects(&mut tally, &sweep, &found);
            if sweep.per_model == 0.0 {
                costs(&mut tally, &sweep, &found);
            }
        }
        let shares = [
            &tally.of_models,
            &tally.of_attacks,
            &tally.own,
            &tally.model,
            &tally.wrong,
            &tally.decided,
            &tally.pooled,
        ];
        let shares: Vec<String> =
            shares.iter().map(|share| format!("{:.3} of {}", share.value(), share.looks)).collect();
        writeln!(table, "{name}: {}", shares.join(" | ")).unwrap();
        std::fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/sweep_coverage.txt"), &table)
            .unwrap();
        assert!(tally.of_models.value() > 0.9 && tally.of_attacks.value() > 0.9, "{table}");
        assert!(tally.wrong.value() < 0.025, "{table}");
        assert!(tally.own.looks == 0 || tally.own.value() > 0.92, "{table}");
    }
}
