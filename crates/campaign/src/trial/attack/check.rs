//! Whether an attack can work on a target, checked before the first trial.

use super::target::float_model;
use crate::target::OpenTarget;
use faultlens_core::{Image, did_you_mean};
use faultlens_faults::ATTACKS;
use faultlens_faults::attack::Needs;
use faultlens_spec::{AttackSpec, Towards};

/// An error, in words, where the attack cannot work on the target.
pub(super) fn suits(spec: &AttackSpec, target: &OpenTarget) -> Result<(), String> {
    let needs = spec.attack.needs();
    let (kind, _) = target.answers_with();
    let ranks = matches!(kind, "logits" | "probabilities" | "labels" | "tensors");
    let less = if ranks { Needs::Scores } else { Needs::Decisions };
    if needs == Needs::Gradients {
        let why = match target.white_box() {
            None => Some(format!("it is {}", target.kind())),
            Some(white_box) => white_box.target.no_gradients_because().map(str::to_owned),
        };
        if let Some(why) = why {
            return Err(format!("{why}, so that it has no gradients; {}", without(less)));
        }
    }
    if needs == Needs::Scores && !ranks {
        return Err(format!(
            "it answers with {kind} and does not say how sure it is of a class; {}",
            without(Needs::Decisions)
        ));
    }
    match &spec.towards {
        Some(_) if !ranks => Err(format!("towards names a class, and it answers with {kind}")),
        Some(Towards::Class(name)) => known(name, target),
        _ => Ok(()),
    }
}

/// An error, in words, where the model has no gradients for this image.
pub(super) fn gradients_work(
    spec: &AttackSpec,
    target: &OpenTarget,
    image: &Image,
) -> Result<(), String> {
    if spec.attack.needs() != Needs::Gradients {
        return Ok(());
    }
    let Some(white_box) = float_model(target) else { return Ok(()) };
    let point = white_box.target.point(image).map_err(|error| error.to_string())?;
    match white_box.target.gradients(&[&point], &mut first_logit) {
        Ok(_) => Ok(()),
        Err(error) => {
            Err(format!("its gradients cannot be told: {error}; {}", without(Needs::Scores)))
        }
    }
}

/// The derivative of the first logit alone, which is enough to see whether there are gradients.
fn first_logit(_sample: usize, logits: &[f32]) -> Vec<f32> {
    let mut weights = vec![0.0; logits.len()];
    if let Some(first) = weights.first_mut() {
        *first = 1.0;
    }
    weights
}

/// Which attacks need no more than this.
fn without(most: Needs) -> String {
    let mut names = Vec::new();
    for plugin in ATTACKS {
        let attack = (plugin.build)(&plugin.default_settings());
        if attack.is_ok_and(|attack| attack.needs() <= most) {
            names.push(plugin.name);
        }
    }
    format!("attacks that need less: {}", names.join(", "))
}

/// An error, in words, where the model has names and this is none of them.
fn known(name: &str, target: &OpenTarget) -> Result<(), String> {
    let Some(white_box) = target.white_box() else { return Ok(()) };
    let labels = &white_box.target.description().labels;
    let names: Vec<String> = (0..labels.len()).map(|class| labels.name(class)).collect();
    if names.is_empty() || names.iter().any(|own| own.eq_ignore_ascii_case(name)) {
        return Ok(());
    }
    let hint = match did_you_mean(name, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean {near:?}?"),
        None => "second, least_likely and random always work".to_owned(),
    };
    Err(format!("it has no class {name:?}; {hint}"))
}
