//! Conclusions and cautions in sentences. They are part of the findings, since `sweep.json` keeps both.

use crate::format::{capitalised, count, counted, number, p_value, percent, rate};

use super::clock::Attacked;
use super::cost::{Cost, Costs, Standing};
use super::covariates::LAYERS;
use super::durations::Durations;
use super::effects::Effect;
use super::findings::{Conclusion, Findings};
use super::measured::Measured;
use super::questions::NextUnit;
use super::{ALPHA, Options};

/// Names in a list; more are counted.
const NAMED: usize = 6;
/// A mean error of predicted chances beyond which they should not be quoted.
const OFF: f64 = 0.05;
/// Fewer clusters than this make errors that are too small.
const CLUSTERS: u64 = 30;
/// Fewer events than this for each covariate make estimates that wander.
const EVENTS: u64 = 10;

/// The conclusions, whatever they are.
pub(super) fn conclusions(of: &Findings) -> Vec<Conclusion> {
    let mut texts = vec![("broken", broken(of))];
    texts.extend(covariates(&of.seconds).map(|text| ("covariates", text)));
    texts.extend(depth(of).map(|text| ("depth", text)));
    texts.extend(defences(of).map(|text| ("defences", text)));
    texts.extend(unchanged(of).map(|text| ("unchanged", text)));
    for (name, unit) in [("epoch", &of.questions.epoch), ("layer", &of.questions.layer)] {
        texts.extend(unit.as_ref().map(|unit| ("training", training(name, unit))));
    }
    texts.extend(masking(of).into_iter().map(|text| ("masking", text)));
    texts.into_iter().map(|(about, text)| Conclusion { about, text }).collect()
}

fn broken(of: &Findings) -> String {
    let all = of.standings;
    let known = all.known();
    if known == 0 {
        return "Nothing is said about costs: no configuration has both a training time and \
                durations."
            .to_owned();
    }
    let mut ratios: Vec<f64> = of
        .configurations
        .iter()
        .filter_map(|c| c.costs.as_ref()?.model.as_ref().or(c.costs.as_ref()?.own.as_ref()))
        .filter_map(|cost| cost.ratio.value)
        .collect();
    ratios.sort_by(f64::total_cmp);
    let middle = ratios.get(ratios.len() / 2).map_or(String::new(), |ratio| {
        format!(" In the middle training takes {} times as long as an attack.", number(*ratio, 3))
    });
    format!(
        "{} of {} ({}%) {} broken: an attack costs less than the training of a sample, also at the \
         lower end of the 95% interval; {} not, {} inconclusive.{middle}{}",
        count(all.broken),
        counted(known, "configuration"),
        percent(all.broken as f64 / known as f64),
        if all.broken == 1 { "is" } else { "are" },
        be(all.not_broken),
        be(all.inconclusive),
        own(of)
    )
}

fn be(number: u64) -> String {
    format!("{} {}", count(number), if number == 1 { "is" } else { "are" })
}

/// The same without a distribution.
fn own(of: &Findings) -> String {
    let standings = |pick: fn(&Costs) -> Option<&Cost>| {
        of.configurations.iter().map(move |c| Some(pick(c.costs.as_ref()?)?.standing))
    };
    let by_own: Vec<Option<Standing>> = standings(|costs| costs.own.as_ref()).collect();
    let by_model: Vec<Option<Standing>> = standings(|costs| costs.model.as_ref()).collect();
    if by_own.iter().all(Option::is_none) || by_model.iter().all(Option::is_none) {
        return String::new();
    }
    let is =
        |standing: Standing| by_own.iter().filter(|one| **one == Some(standing)).count() as u64;
    let opposed = by_own.iter().zip(&by_model).filter(|pair| {
        matches!(
            pair,
            (Some(Standing::Broken), Some(Standing::NotBroken))
                | (Some(Standing::NotBroken), Some(Standing::Broken))
        )
    });
    format!(
        " By their own samples alone, without a model, {} broken, {} not and {} inconclusive; {} \
         of the verdicts oppose each other.",
        be(is(Standing::Broken)),
        be(is(Standing::NotBroken)),
        be(is(Standing::Inconclusive)),
        match opposed.count() {
            0 => "none".to_owned(),
            some => count(some as u64),
        }
    )
}

/// A factor with its interval: `×1.2 [1.1, 1.3]`.
fn factor(ratio: [f64; 3]) -> String {
    let [value, low, high] = ratio.map(|one| number(one, 3));
    format!("×{value} [{low}, {high}]")
}

fn name(effect: &Effect) -> &str {
    &effect.covariate.name
}

/// The level alone, where it is clear of what.
fn level(effect: &Effect) -> &str {
    let name = name(effect);
    name.split_once(": ").map_or(name, |(_, level)| level)
}

fn listed(effects: &[&Effect], name: fn(&Effect) -> &str) -> String {
    let mut names: Vec<String> = effects
        .iter()
        .take(NAMED)
        .map(|effect: &&Effect| format!("{} {}", name(effect), factor(effect.ratio)))
        .collect();
    if effects.len() > NAMED {
        names.push(format!("{} more", effects.len() - NAMED));
    }
    names.join(", ")
}

fn convincing(effect: &&Effect) -> bool {
    effect.adjusted_p < ALPHA
}

fn covariates(of: &Durations) -> Option<String> {
    let chosen = of.chosen.as_ref().filter(|chosen| !chosen.effects.is_empty())?;
    let mut moving: Vec<&Effect> = chosen.effects.iter().filter(convincing).collect();
    moving.sort_by(|a, b| b.estimate.abs().total_cmp(&a.estimate.abs()));
    let (longer, shorter): (Vec<&Effect>, Vec<&Effect>) =
        moving.into_iter().partition(|effect| effect.estimate > 0.0);
    Some(format!(
        "Of {} that may move survival, adjusted for all looks (Holm): {}; {}.",
        counted(chosen.effects.len() as u64, "covariate"),
        moved(&longer, "prolong"),
        moved(&shorter, "shorten")
    ))
}

fn moved(effects: &[&Effect], verb: &str) -> String {
    if effects.is_empty() {
        format!("nothing {verb}s it")
    } else {
        format!("{} {verb} it", listed(effects, name))
    }
}

fn depth(of: &Findings) -> Option<String> {
    let depth = of.questions.depth.as_ref()?;
    // Two looks at one question.
    let sure = |effect: &Effect| 2.0 * effect.p < ALPHA;
    let verdict = match (sure(&depth.without), sure(&depth.with)) {
        (_, true) if depth.with.estimate > 0.0 => "Depth helps beyond the time of an answer",
        (_, true) => "At the same time of an answer, depth harms",
        (true, false) if depth.without.estimate > 0.0 => {
            "Depth helps only as far as it makes answers slower"
        }
        (true, false) => "Depth harms, and not beyond what the time of an answer explains",
        (false, false) => "Depth does not show an effect",
    };
    let factor_and_p =
        |effect: &Effect| format!("{} (p {})", factor(effect.ratio), p_value(effect.p));
    Some(format!(
        "{verdict}: {} more layers (a standard deviation) change survival {}; at the same time of a \
         plain answer {}, while a standard deviation more of that time does {}.{}",
        number(depth.without.covariate.step, 3),
        factor_and_p(&depth.without),
        factor_and_p(&depth.with),
        factor_and_p(&depth.prediction),
        in_queries(&of.queries)
    ))
}

/// What layers do where slowness cannot count.
fn in_queries(of: &Durations) -> String {
    let effects = of.chosen.iter().flat_map(|chosen| &chosen.effects);
    effects
        .filter(|effect| effect.covariate.name == LAYERS)
        .map(|effect| {
            format!(
                " Counted in queries instead of seconds, layers do {} (p {}).",
                factor(effect.ratio),
                p_value(effect.p)
            )
        })
        .collect()
}

fn defences(of: &Findings) -> Option<String> {
    let all = &of.questions.defences;
    let base = of.seconds.bases.get("defence").filter(|_| !all.is_empty())?;
    let better: Vec<&Effect> =
        all.iter().filter(convincing).filter(|effect| effect.estimate > 0.0).collect();
    let worse: Vec<&Effect> =
        all.iter().filter(convincing).filter(|effect| effect.estimate < 0.0).collect();
    let lasting = match better.as_slice() {
        [] => format!(
            "None of {} is shown to make models last longer than {base}",
            counted(all.len() as u64, "defence")
        ),
        some => format!(
            "{} of {} {} models last longer than with {base}: {}",
            some.len(),
            counted(all.len() as u64, "defence"),
            if some.len() == 1 { "makes" } else { "make" },
            listed(some, level)
        ),
    };
    let failing = match worse.as_slice() {
        [] => String::new(),
        some => format!("; less long with {}", listed(some, level)),
    };
    Some(format!("{lasting}{failing} (over all strengths; adjusted by Holm)."))
}

/// What nothing broke has no factor, and is no less a result.
fn unchanged(of: &Findings) -> Option<String> {
    let tried = of.seconds.unchanged.iter().filter(|one| ["attack", "defence"].contains(&one.axis));
    let names: Vec<String> = tried.map(|one| format!("{} {}", one.axis, one.level)).collect();
    let apart = if of.configurations.iter().any(|one| one.one_shot) {
        ", attacks without durations apart"
    } else {
        ""
    };
    (of.seconds.events > 0 && !names.is_empty()).then(|| {
        let (names, more) = names.split_at(names.len().min(NAMED));
        let more = if more.is_empty() { String::new() } else { format!(", {} more", more.len()) };
        format!("With {}{more} no answer changed at all{apart}.", names.join(", "))
    })
}

fn training(name: &str, unit: &NextUnit) -> String {
    let Measured { value, low, high, .. } = unit.gain;
    let unbounded = |value: Option<f64>| value.map_or("∞".to_owned(), |value| number(value, 3));
    let worth = match (low > unit.cost, high.is_some_and(|high| high < unit.cost)) {
        (true, _) => "it buys more attack than it costs",
        (_, true) => "it costs more than it buys",
        _ => "whether it pays is open",
    };
    format!(
        "One more {name} changes survival {}, that is {} s [{}, {}] for the configuration in the \
         middle, and costs {} s of training for each sample: {worth}.",
        factor(unit.ratio),
        unbounded(value),
        number(low, 3),
        unbounded(high),
        number(unit.cost, 3)
    )
}

fn masking(of: &Findings) -> Vec<String> {
    if of.masking.is_empty() {
        let text = "No model was found whose gradients mislead: attacks without them \
                    changed no more answers, by changes of the same size, than chance allows.";
        return (of.masking_looks > 0).then(|| text.to_owned()).into_iter().collect();
    }
    let mut out: Vec<String> = of.masking.iter().take(NAMED).map(|masked: &super::Masked| {
        format!(
            "The gradients of {} mislead: by changes of at most {} (norm {}) attacks without them \
             changed {} of the answers, attacks with them {} (p {}).",
            masked.model,
            number(masked.epsilon, 3),
            masked.norm,
            rate(&masked.asking),
            rate(&masked.following),
            p_value(masked.p)
        )
    }).collect();
    if of.masking.len() > NAMED {
        out.push(format!("The gradients of {} more models mislead.", of.masking.len() - NAMED));
    }
    out
}

/// What to mind before trusting the numbers.
pub(super) fn cautions(of: &Findings, attacked: &Attacked<'_>, options: &Options) -> Vec<String> {
    let mut out = Vec::new();
    if attacked.one_shots > 0 {
        out.push(format!(
            "{} no duration: a single shot at fixed strength says whether an answer changed but \
             not when, and hop_skip_jump without within begins with a change at any distance. \
             Accuracies and failure rates know them, models of durations and costs do not.",
            have(attacked.one_shots, "configuration")
        ));
    }
    if of.about.lost > 0 {
        out.push(format!(
            "{} no row: the model crashed or ran out of time before anything was measured.",
            have(of.about.lost, "trial")
        ));
    }
    for durations in [&of.seconds, &of.queries] {
        let unit = durations.clock.unit();
        if let Some(why) = &durations.missing {
            out.push(format!("No survival models in {unit}: {why}."));
        }
    }
    out.extend(of.seconds.unchanged.iter().map(|one| format!("{}.", capitalised(&one.note()))));
    out.extend(of.questions.missing.iter().map(|note| format!("{}.", capitalised(note))));
    out.extend(errors(&of.seconds));
    out.extend(beyond(of));
    if options.mixed_machines && of.about.machines.len() > 1 {
        out.push(
            "Times of several machines stand in one fit; each has a covariate, but costs compare \
             training and attack times that may be of different machines."
                .to_owned(),
        );
    }
    out
}

fn have(number: u64, noun: &str) -> String {
    format!("{} {}", counted(number, noun), if number == 1 { "has" } else { "have" })
}

fn be_of(number: u64, noun: &str) -> String {
    format!("{} {}", counted(number, noun), if number == 1 { "is" } else { "are" })
}

/// What is wrong with the errors and chances of the chosen model.
fn errors(of: &Durations) -> Vec<String> {
    let Some(chosen) = &of.chosen else { return Vec::new() };
    let mut out = Vec::new();
    if chosen.clustered_by != "model" {
        out.push(format!(
            "There are too few trained models to say how much they differ by chance: standard \
             errors take each {} as independent and are too small.",
            chosen.clustered_by
        ));
    } else if chosen.clusters < CLUSTERS {
        out.push(format!(
            "Standard errors rest on {}; with fewer than {CLUSTERS} they are somewhat too small.",
            counted(chosen.clusters, "trained model")
        ));
    }
    if of.events < EVENTS * of.covariates.len() as u64 {
        out.push(format!(
            "{} for {} are few; estimates wander.",
            counted(of.events, "changed answer"),
            counted(of.covariates.len() as u64, "covariate")
        ));
    }
    let model = of.models.iter().find(|model| model.chosen);
    if let Some(ici) = model.and_then(|m| m.test_ici.or(m.ici)).filter(|ici| *ici > OFF) {
        out.push(format!(
            "The chances that {} predicts are off by {ici:.2} on average; expected seconds may be \
             too.",
            chosen.model
        ));
    }
    out
}

/// How many costs rest on what nobody has seen.
fn beyond(of: &Findings) -> Option<String> {
    let models = || of.configurations.iter().filter_map(|c| c.costs.as_ref()?.model.as_ref());
    let beyond = models().filter(|cost| cost.beyond).count() as u64;
    (beyond > 0).then(|| {
        format!(
            "{} of {} expected to last longer than anybody waited: the cost rests on the tail of \
             the distribution.",
            count(beyond),
            be_of(models().count() as u64, "configuration")
        )
    })
}
