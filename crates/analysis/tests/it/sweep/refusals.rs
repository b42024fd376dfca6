//! What is refused, and what is left out with its reason.

use faultlens_analysis::sweep::{AND, AnalysisError, Options, Rows, analyse};

use super::generated::Sweep;

fn refusal(rows: &Rows, options: &Options) -> String {
    analyse(rows, options).unwrap_err().to_string()
}

fn small() -> Rows {
    Sweep { samples: 5, ..Sweep::default() }.rows()
}

#[test]
fn single_shots_alone_are_refused() {
    let mut rows = small();
    rows.configurations.iter_mut().for_each(|c| c.one_shot = true);
    let message = refusal(&rows, &Options::default());
    assert!(message.starts_with("no attack has durations: a single shot"), "{message}");
}

#[test]
fn some_single_shots_stay_in_the_counts() {
    let mut rows = small();
    let shots = |c: &faultlens_analysis::sweep::Configuration| c.attack.name == "hop_skip_jump";
    rows.configurations.iter_mut().for_each(|c| c.one_shot = shots(c));
    let found = analyse(&rows, &Options::default()).unwrap();
    let attacks = found.groups.iter().find(|g| g.axis == "attack").unwrap();
    assert_eq!(attacks.groups[0].level, "hop_skip_jump");
    assert_eq!(attacks.groups[0].counts.changed.n, 27 * 2 * 2 * 5);
    assert_eq!(found.seconds.rows, 27 * 2 * 3 * 5);
    assert!(found.seconds.covariates.iter().all(|c| c.name != "attack: hop_skip_jump"));
    let warns = |text: &str| found.cautions.iter().any(|caution| caution.starts_with(text));
    assert!(warns("108 configurations have no duration: a single shot"), "{:?}", found.cautions);
    let shot = found.configurations.iter().find(|c| c.one_shot).unwrap();
    assert!(shot.costs.as_ref().unwrap().own.is_none());
}

#[test]
fn trials_without_a_row_are_counted() {
    let rows = Rows { lost: 3, ..small() };
    let found = analyse(&rows, &Options::default()).unwrap();
    assert_eq!(found.about.lost, 3);
    assert!(found.cautions.iter().any(|caution| caution.starts_with("3 trials have no row")));
}

#[test]
fn machines_do_not_mix_unless_allowed() {
    let mut rows = small();
    for (i, c) in rows.configurations.iter_mut().enumerate() {
        c.machine = ["here", "there"][i / 10 % 2].to_owned();
    }
    let message = refusal(&rows, &Options::default());
    assert!(message.contains("several machines are mixed (here, there)"), "{message}");
    let allowed = Options { mixed_machines: true, ..Options::default() };
    let found = analyse(&rows, &allowed).unwrap();
    assert!(found.seconds.covariates.iter().any(|c| c.name == "machine: there"));
    // One run on which both have worked.
    rows.configurations.iter_mut().for_each(|c| c.machine = format!("here{AND}there"));
    assert_eq!(refusal(&rows, &Options::default()), message);
    assert!(message.contains("faultlens report DIR --mixed-machines"), "{message}");
    assert_eq!(analyse(&rows, &allowed).unwrap().about.machines, ["here", "there"]);
}

#[test]
fn a_clock_that_is_too_coarse_leaves_out_its_own_models_only() {
    let mut rows = small();
    rows.rows[3].seconds = 0.0;
    let found = analyse(&rows, &Options::default()).unwrap();
    let why = found.seconds.missing.unwrap();
    assert!(why.starts_with("1 row lasts 0 processor seconds"), "{why}");
    assert!(found.queries.chosen.is_some());
    assert!(found.configurations[1].costs.as_ref().unwrap().own.is_some());
}

#[test]
fn nothing_changed_and_too_little_changed_are_reported() {
    let mut rows = small();
    rows.rows.iter_mut().for_each(|row| row.changed = false);
    let found = analyse(&rows, &Options::default()).unwrap();
    assert!(found.seconds.missing.unwrap().starts_with("no attack changed an answer"));
    let of = |attack: &str, defence: &str| {
        let is = |c: &faultlens_analysis::sweep::Configuration| {
            c.attack.name == attack && c.defence.name == defence
        };
        rows.configurations.iter().position(is).unwrap() as u32
    };
    let few = [of("pgd", "control"), of("hop_skip_jump", "gauss_in")];
    for row in rows.rows.iter_mut().filter(|row| few.contains(&row.configuration)) {
        row.changed = row.sample == "0000";
    }
    let found = analyse(&rows, &Options::default()).unwrap();
    let why = found.seconds.missing.unwrap();
    assert!(why.starts_with("2 changed answers cannot tell"), "{why}");
    assert!(found.groups[0].groups[0].counts.changed.n > 0);
}

#[test]
fn a_level_without_events_is_left_out_and_reported() {
    let mut rows = small();
    let quiet: Vec<bool> =
        rows.configurations.iter().map(|c| c.defence.name == "gauss_in").collect();
    for row in rows.rows.iter_mut().filter(|row| quiet[row.configuration as usize]) {
        row.changed = false;
    }
    let found = analyse(&rows, &Options::default()).unwrap();
    let warns = |text: &str| found.cautions.iter().any(|caution| caution.starts_with(text));
    assert!(warns("No answer changed with defence gauss_in; its rows are left out"));
    let text = &found.conclusions.iter().find(|c| c.about == "unchanged").unwrap().text;
    assert_eq!(text, "With defence gauss_in no answer changed at all.");
    assert!(found.seconds.chosen.is_some(), "{:?}", found.seconds.missing);
}

#[test]
fn what_does_not_vary_or_follows_from_others_is_left_out() {
    let mut rows = small();
    for c in &mut rows.configurations {
        c.prediction_seconds = 0.001 * f64::from(c.layers);
    }
    let found = analyse(&rows, &Options::default()).unwrap();
    let why = |name: &str| {
        let left = &found.seconds.left_out;
        left.iter().find(|one| one.name == name).map(|one| one.why.clone())
    };
    assert_eq!(why("log10 learning rate").unwrap(), "it is the same in every row");
    assert_eq!(why("prediction seconds").unwrap(), "it follows from layers");
    assert!(found.questions.depth.unwrap().with.is_none());
}

#[test]
fn damaged_rows_and_wrong_options_are_refused() {
    assert_eq!(analyse(&Rows::default(), &Options::default()), Err(AnalysisError::Empty));
    let mut rows = small();
    rows.rows[7].configuration = 999;
    assert!(refusal(&rows, &Options::default()).starts_with("row 8 is of configuration 999"));
    let mut rows = small();
    rows.rows[0].seconds = f64::NAN;
    assert!(refusal(&rows, &Options::default()).starts_with("row 1 lasts NaN seconds"));
    let mut rows = small();
    rows.configurations[2].benign_accuracy = 90.0;
    let message = refusal(&rows, &Options::default());
    assert!(message.contains("configuration 3: the benign accuracy is 90"), "{message}");
    let named = Options { model: Some("weibul".to_owned()), ..Options::default() };
    assert!(refusal(&small(), &named).contains("is called weibul; there are exponential, weibull"));
    let all = Options { test: 1.0, ..Options::default() };
    assert!(refusal(&small(), &all).contains("the share of test samples is 1"));
}

#[test]
fn a_model_can_be_forced() {
    let forced = Options { model: Some("loglogistic".to_owned()), ..Options::default() };
    let chosen = analyse(&small(), &forced).unwrap().seconds.chosen.unwrap();
    assert_eq!((chosen.model.as_str(), chosen.reason.as_str()), ("loglogistic", "as asked for"));
}
