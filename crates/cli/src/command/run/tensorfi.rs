//! `--tensorfi`: a file of TensorFI and what the command line adds to it, as a campaign.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};
use faultlens::campaign::OpenCampaign;
use faultlens::campaign::OpenTarget;
use faultlens::spec::Campaign;
use faultlens::spec::{Asked, Judged, TensorFi};
use faultlens::vision::OutputKind;

use crate::args::TensorFiArgs;
use crate::console::Console;
use crate::describe::written;

/// The maximum size of a TensorFI file; a larger one is something else.
const MAX_BYTES: u64 = 1 << 20;

/// What a campaign is made from.
pub(crate) struct Source<'a> {
    /// The TensorFI file.
    pub(crate) conf: &'a Path,
    pub(crate) model: &'a str,
    pub(crate) data: &'a str,
    pub(crate) besides: &'a TensorFiArgs,
    /// The path of the campaign: relative paths start from its folder.
    pub(crate) path: &'a Path,
}

/// The text of the campaign; what a user of TensorFI must know is noted.
pub(crate) fn translate(source: &Source<'_>, console: &mut Console) -> anyhow::Result<String> {
    let file = TensorFi::parse(&text(source.conf)?, source.conf)?;
    let mut asked = Asked {
        model: source.model,
        written: &written(source.besides.input.as_deref(), None)?,
        data: source.data,
        sample: source.besides.sample,
        trials: source.besides.trials,
        judged: Judged::Unlabelled,
    };
    let setup = OpenCampaign::open(Campaign::parse(&asked.any_campaign(), source.path)?)?;
    let inside = setup.targets.first().and_then(OpenTarget::white_box);
    let inside = inside.context("the campaign has no model")?;
    asked.judged = judged(&setup);
    let campaign = file.campaign(&asked, inside.target.model().graph())?;
    for note in &campaign.notes {
        console.note(format_args!("note: {note}"))?;
    }
    Ok(campaign.text)
}

/// Whether some of the first cases have a label that is one of the model's classes.
fn judged(setup: &OpenCampaign) -> Judged {
    /// Cases that are looked at.
    const FIRST: usize = 16;
    let Some(subject) = setup.targets.first() else { return Judged::Unlabelled };
    let Some(inside) = subject.white_box() else { return Judged::Unlabelled };
    match inside.target.description().output.kind {
        OutputKind::Values => return Judged::Values,
        OutputKind::Detections => return Judged::By("same_detections"),
        OutputKind::Segments => return Judged::By("same_segments"),
        OutputKind::Picture => return Judged::By("same_picture"),
        OutputKind::Text => return Judged::By("same_text"),
        OutputKind::Logits | OutputKind::Probabilities => {}
    }
    let cases = setup.cases.sample.iter().take(FIRST);
    let labels = cases.filter_map(|&index| setup.cases.set.case(index).ok()?.label);
    if labels.into_iter().any(|label: usize| subject.truths.get(label).copied().flatten().is_some())
    {
        Judged::Labelled
    } else {
        Judged::Unlabelled
    }
}

fn text(path: &Path) -> anyhow::Result<String> {
    let wrong = || format!("cannot read the TensorFI file {}", path.display());
    let about = fs::metadata(path).with_context(wrong)?;
    ensure!(about.is_file(), "this is not a file: {}", path.display());
    ensure!(
        about.len() <= MAX_BYTES,
        "this is too large for a TensorFI file, which has at most 1 MB: {}",
        path.display()
    );
    fs::read_to_string(path).with_context(wrong)
}
