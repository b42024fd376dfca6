//! Whether an attack can be tried on a target, said before the first trial.

use super::victim::fine;
use crate::subject::OpenTarget;
use faultlens_core::{Image, Plugin, did_you_mean};
use faultlens_faults::attack::Needs;
use faultlens_faults::{ATTACKS, Attack};
use faultlens_spec::{AttackSpec, Towards};

/// An error, in words, where the attack cannot work on the target.
pub(crate) fn suits(assault: &AttackSpec, subject: &OpenTarget) -> Result<(), String> {
    let needs = assault.attack.needs();
    let (kind, _) = subject.answers_with();
    let ranks = matches!(kind, "logits" | "probabilities" | "labels" | "tensors");
    let less = if ranks { Needs::Scores } else { Needs::Decisions };
    if needs == Needs::Gradients {
        let why = match subject.inside() {
            None => Some("it is a service"),
            Some(inside) => inside.target.no_gradients_because(),
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
    match &assault.towards {
        Some(_) if !ranks => Err(format!("towards names a class, and it answers with {kind}")),
        Some(Towards::Class(name)) => known(name, subject),
        _ => Ok(()),
    }
}

/// An error, in words, where the model has no gradients for this image.
pub(crate) fn gradients_work(
    assault: &AttackSpec,
    subject: &OpenTarget,
    image: &Image,
) -> Result<(), String> {
    let Some(inside) = fine(subject).filter(|_| assault.attack.needs() == Needs::Gradients) else {
        return Ok(());
    };
    let point = inside.target.point(image).map_err(|error| error.to_string())?;
    let mut first = |_: usize, logits: &[f32]| {
        let mut weights = vec![0.0; logits.len()];
        weights.iter_mut().take(1).for_each(|weight| *weight = 1.0);
        weights
    };
    match inside.target.gradients(&[&point], &mut first) {
        Ok(_) => Ok(()),
        Err(error) => {
            Err(format!("its gradients cannot be told: {error}; {}", without(Needs::Scores)))
        }
    }
}

/// Which attacks need no more than this.
fn without(most: Needs) -> String {
    let modest = |plugin: &&Plugin<dyn Attack>| {
        (plugin.build)(&plugin.default_settings()).is_ok_and(|attack| attack.needs() <= most)
    };
    let names: Vec<&str> = ATTACKS.iter().filter(modest).map(|plugin| plugin.name).collect();
    format!("attacks that need less: {}", names.join(", "))
}

fn known(name: &str, subject: &OpenTarget) -> Result<(), String> {
    let Some(inside) = subject.inside() else { return Ok(()) };
    let labels = &inside.target.description().labels;
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
