//! Conclusions and cautions in sentences. They are part of the findings, since `sweep.json` keeps both.

use crate::format::{capitalised, count, counted, number, p_value, percent, rate};

use super::clock::Attacked;
use super::covariates::LAYERS;
use super::durations::Durations;
use super::effects::Effect;
use super::findings::{Conclusion, Findings, OfConfiguration};
use super::measured::Measured;
use super::observed::IMAGES;
use super::questions::{Depth, NextUnit};
use super::{ALPHA, Options};

/// Names in a list; more are counted.
const NAMED: usize = 6;
/// A mean error of predicted chances beyond which they should not be quoted.
const OFF: f64 = 0.05;
/// Fewer trained models than this make errors that are rough.
const CLUSTERS: u64 = 10;
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
    format!(
        "{} of {} ({}%) {} broken: an attack costs less than the training of a sample, also at the \
         lower end of the 95% interval for new images; {} not, {} inconclusive.{}{}{}",
        count(all.broken),
        counted(known, "configuration"),
        percent(all.broken as f64 / known as f64),
        if all.broken == 1 { "is" } else { "are" },
        be(all.not_broken),
        be(all.inconclusive),
        clean(of),
        middle(of),
        basis(of)
    )
}

fn be(number: u64) -> String {
    format!("{} {}", count(number), if number == 1 { "is" } else { "are" })
}

/// How good the models are without an attack.
fn clean(of: &Findings) -> String {
    let Some(clean) = of.clean else { return String::new() };
    format!(
        " Without an attack {}% of the answers are right in the middle configuration ({}% to {}%).",
        percent(clean.median),
        percent(clean.lowest),
        percent(clean.highest)
    )
}

/// The ratio in the middle, for new images.
fn middle(of: &Findings) -> String {
    let Some(trash) = of.trash else { return String::new() };
    let interval = trash.interval.map_or_else(
        || ", from too few images to say anything about new ones".to_owned(),
        |[low, high]| {
            format!(
                " [{}, {}] for new images (bootstrap over {}, {} resamples)",
                number(low, 3),
                number(high, 3),
                counted(trash.images, "image"),
                count(trash.resamples)
            )
        },
    );
    format!(
        " In the middle training takes {} times as long as an attack{interval}.",
        number(trash.value, 3)
    )
}

/// What the verdicts rest on.
fn basis(of: &Findings) -> String {
    let all = of.standings;
    let mut out = " Verdicts rest on each configuration's own samples".to_owned();
    if all.pooled > 0 {
        out.push_str(&format!(
            "; in {} of them, where those left it open, on the survival model of all",
            count(all.pooled)
        ));
    }
    out.push('.');
    let Some(agreement) = of.seconds.chosen.as_ref().and_then(|one| one.agreement.as_ref()) else {
        return out;
    };
    out.push_str(&format!(
        " That model expects {} times the seconds observed in the middle of {}, and {} times in \
         the worst ({})",
        number(agreement.median, 3),
        counted(agreement.configurations, "configuration"),
        number(agreement.worst_ratio, 3),
        of.configurations.get(agreement.worst as usize).map_or(String::new(), named)
    ));
    out.push_str(if agreement.calibrated { "." } else { ": too far off to decide anything." });
    out
}

/// A configuration, for people.
fn named(of: &OfConfiguration) -> String {
    format!(
        "{} on {} with {} under {}",
        of.architecture, of.data, of.defence_label, of.attack_label
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
    effect.withheld.is_none() && effect.adjusted_p < ALPHA
}

fn covariates(of: &Durations) -> Option<String> {
    let chosen = of.chosen.as_ref().filter(|chosen| !chosen.effects.is_empty())?;
    let mut moving: Vec<&Effect> = chosen.effects.iter().filter(convincing).collect();
    moving.sort_by(|a, b| b.estimate.abs().total_cmp(&a.estimate.abs()));
    let (longer, shorter): (Vec<&Effect>, Vec<&Effect>) =
        moving.into_iter().partition(|effect| effect.estimate > 0.0);
    let withheld: Vec<&Effect> =
        chosen.effects.iter().filter(|effect| effect.withheld.is_some()).collect();
    let stated = chosen.effects.len() - withheld.len();
    if stated == 0 {
        return Some(format!("Nothing is stated about any covariate{}.", unstated(&withheld)));
    }
    let silent = if withheld.is_empty() {
        String::new()
    } else {
        format!(" Nothing is stated about {} more{}.", withheld.len(), unstated(&withheld))
    };
    Some(format!(
        "Of {} that may move survival, adjusted for all looks (Holm): {}; {}.{silent}",
        counted(stated as u64, "covariate"),
        moved(&longer, "prolong"),
        moved(&shorter, "shorten")
    ))
}

/// Why nothing is stated, of each: `: layers (it has 3 different values…), …`.
fn unstated(effects: &[&Effect]) -> String {
    let mut names: Vec<String> = effects
        .iter()
        .take(NAMED)
        .map(|effect| format!("{} ({})", name(effect), effect.withheld.as_deref().unwrap_or("")))
        .collect();
    if effects.len() > NAMED {
        names.push(format!("{} more", effects.len() - NAMED));
    }
    format!(": {}", names.join(", "))
}

fn moved(effects: &[&Effect], verb: &str) -> String {
    if effects.is_empty() {
        format!("nothing {verb}s it")
    } else {
        format!("{} {verb} it", listed(effects, name))
    }
}

fn depth(of: &Findings) -> Option<String> {
    let Depth { without, with, prediction } = of.questions.depth.as_ref()?;
    if let Some(why) = &without.withheld {
        return Some(format!("Nothing is stated about depth: {why}."));
    }
    let more = format!("{} more layers (a standard deviation)", number(without.covariate.step, 3));
    let queries = in_queries(&of.queries);
    // Two looks at one question.
    let sure = |effect: &Effect| 2.0 * effect.p < ALPHA;
    let (Some(with), Some(prediction)) = (with, prediction) else {
        return Some(format!(
            "{}: {more} change survival {}. Nothing is stated about depth at the same time of a \
             plain answer: that time follows from the layers.{queries}",
            alone(without, sure(without)),
            factor_and_p(without)
        ));
    };
    if let Some(why) = &with.withheld {
        return Some(format!(
            "{}: {more} change survival {}. Nothing is stated about depth at the same time of a \
             plain answer: {why}.{queries}",
            alone(without, sure(without)),
            factor_and_p(without)
        ));
    }
    let verdict = match (sure(without), sure(with)) {
        (_, true) if with.estimate > 0.0 => "Depth helps beyond the time of an answer",
        (_, true) => "At the same time of an answer, depth harms",
        (true, false) if without.estimate > 0.0 => {
            "Depth helps only as far as it makes answers slower"
        }
        (true, false) => "Depth harms, and not beyond what the time of an answer explains",
        (false, false) => "Depth does not show an effect",
    };
    Some(format!(
        "{verdict}: {more} change survival {}; at the same time of a plain answer {}, while a \
         standard deviation more of that time does {}.{queries}",
        factor_and_p(without),
        factor_and_p(with),
        factor_and_p(prediction)
    ))
}

/// What depth does, the time of an answer included.
fn alone(effect: &Effect, sure: bool) -> &'static str {
    match (sure, effect.estimate > 0.0) {
        (true, true) => "Depth helps",
        (true, false) => "Depth harms",
        (false, _) => "Depth does not show an effect",
    }
}

fn factor_and_p(effect: &Effect) -> String {
    format!("{} (p {})", factor(effect.ratio), p_value(effect.p))
}

/// What layers do where slowness cannot count.
fn in_queries(of: &Durations) -> String {
    let effects = of.chosen.iter().flat_map(|chosen| &chosen.effects);
    effects
        .filter(|effect| effect.covariate.name == LAYERS && effect.withheld.is_none())
        .map(|effect| {
            format!(
                " Counted in queries, they multiply the chance that the next query changes the \
                 answer by {} (p {}).",
                factor(effect.ratio).trim_start_matches('×'),
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
    let mut out: Vec<String> = low_accuracy(of).into_iter().collect();
    if of.standings.few_images > 0 {
        out.push(format!(
            "{} fewer than {IMAGES} images; nothing is said about new images, and no verdict is \
             given.",
            have(of.standings.few_images, "configuration")
        ));
    }
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

/// A model that is wrong without an attack is not robust because attacks change little.
fn low_accuracy(of: &Findings) -> Option<String> {
    let clean = of.clean.filter(|clean| clean.low > 0)?;
    Some(format!(
        "Low clean accuracy: {} of {} less than half of the undisturbed samples right, the lowest \
         {}%. A verdict about a model that is mostly wrong without an attack says little.",
        count(clean.low),
        get(clean.configurations),
        percent(clean.lowest)
    ))
}

fn get(configurations: u64) -> String {
    let verb = if configurations == 1 { "gets" } else { "get" };
    format!("{} {verb}", counted(configurations, "configuration"))
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
    if chosen.trained < 2 {
        out.push(
            "There is a single trained model: nothing is said about how models differ by chance."
                .to_owned(),
        );
    } else if chosen.trained < CLUSTERS {
        out.push(format!(
            "Standard errors rest on {}; the fewer there are, the rougher they are.",
            counted(chosen.trained, "trained model")
        ));
    }
    if of.events < EVENTS * of.covariates.len() as u64 {
        out.push(format!(
            "{} for {} are few; estimates wander.",
            counted(of.events, "changed answer"),
            counted(of.covariates.len() as u64, "covariate")
        ));
    }
    if chosen.agreement.as_ref().is_some_and(|agreement| !agreement.calibrated) {
        out.push(format!(
            "{} does not agree with the seconds observed; read its factors as rough descriptions.",
            capitalised(&chosen.model)
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
