//! What the model reads.

use faultlens_core::{Text, argmax};

use super::super::{OutputDescription, VisionError};
use super::{Names, Output};

const WANTED: &str = "a score per image, step and class is needed, or the class itself per image \
                      and step; steps_axis says where the steps are";

pub(super) fn read(
    description: &OutputDescription,
    output: Output<'_>,
    names: Names<'_>,
) -> Result<Text, VisionError> {
    let refuse = || output.refuse(WANTED);
    if let Some(([_], range)) = output.axes::<1>() {
        let chosen = output.classes(range).ok_or_else(refuse)?;
        let chosen = chosen.iter().map(|&class| usize::try_from(class).unwrap_or(usize::MAX));
        let classes = letters(chosen, description.blank);
        let known = classes.iter().max().map_or(0, |max| max.saturating_add(1));
        return Ok(Text { classes, names: names(known.min(1 << 16)).into(), finite: true });
    }
    let &[a, b, c] = output.tensor.shape() else { return Err(refuse()) };
    // Steps, classes and images, each with its length and how far apart its neighbours stand.
    let (steps, classes, images) = match description.steps_axis.unwrap_or(1) {
        0 => ((a, b * c), (c, 1), (b, c)),
        1 => ((b, c), (c, 1), (a, b * c)),
        _ => ((c, 1), (b, c), (a, b * c)),
    };
    if output.index >= images.0 || classes.0 == 0 {
        return Err(refuse());
    }
    let scores = output.numbers(0..output.tensor.len()).ok_or_else(refuse)?;
    // Strides instead of a transposed copy: the steps may be any of the axes.
    let start = output.index * images.1;
    let step =
        |step: usize| (0..classes.0).map(move |class| start + step * steps.1 + class * classes.1);
    let finite = (0..steps.0).flat_map(step).all(|at| scores[at].is_finite());
    let best = (0..steps.0).filter_map(|at| argmax(step(at).map(|at| scores[at])));
    let found = letters(best, description.blank);
    Ok(Text { classes: found, names: names(classes.0).into(), finite })
}

/// The letters of a sequence of steps: with a blank, equal neighbours are one letter and blanks
/// are none, as CTC has it (Graves et al., 2006).
fn letters(steps: impl Iterator<Item = usize>, blank: Option<usize>) -> Vec<usize> {
    let Some(blank) = blank else { return steps.collect() };
    let mut before = None;
    let new = steps.filter(|&class| before.replace(class) != Some(class));
    new.collect::<Vec<_>>().into_iter().filter(|&class| class != blank).collect()
}
