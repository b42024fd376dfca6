//! Answers that can be looked at, side by side: what faults make of the cases that tell most.

use super::error::RunError;
use super::examples;
use crate::annotate::undisturbed;
use crate::inject::GoldenCase;
use crate::setup::OpenCampaign;
use faultlens_core::Image;
use faultlens_data::encode_png;
use faultlens_record::GoldenRecord;
use faultlens_record::store::{PictureOf, PictureRecord, ShownRecord, Store};

/// Cases that are tried before an answer counts as one that cannot be drawn.
const TRIED: usize = 5;

/// Draws the answers of targets whose answers are pictures, boxes or areas: of each fault the trial
/// that tells most, repeated. Where an answer cannot be drawn, nothing is kept.
pub(super) fn keep(
    setup: &OpenCampaign,
    store: &Store,
) -> Result<(Vec<PictureRecord>, Vec<ShownRecord>), RunError> {
    if setup.campaign.examples == 0 {
        return Ok((Vec::new(), Vec::new()));
    }
    let goldens = store.goldens()?;
    let targets =
        (0..setup.targets.len() as u32).filter(|target| can_be_drawn(setup, *target, &goldens));
    let shown = store.showcase(&targets.collect())?;
    let mut pictures = Vec::new();
    for trials in shown.chunk_by(|a, b| (a.target, a.case) == (b.target, b.case)) {
        let (target, case) = (trials[0].target, trials[0].case);
        let Some(stage) = stage(setup, target, case) else { continue };
        for (of, image) in drawn(&stage, trials) {
            let Some(png) = encode_png(&image) else { continue };
            let path = store.put_artifact(&png)?;
            pictures.push(PictureRecord { target, case, of, path });
        }
    }
    Ok((pictures, shown))
}

fn stage(setup: &OpenCampaign, target: u32, case: u32) -> Option<GoldenCase<'_>> {
    let shown = setup.cases.set.case(*setup.cases.sample.get(case as usize)?).ok()?;
    GoldenCase::open(setup, target, shown).ok()
}

/// Tries the first cases on which the target has answered: a shard need not have the campaign's
/// first ones.
fn can_be_drawn(setup: &OpenCampaign, target: u32, goldens: &[GoldenRecord]) -> bool {
    let own = goldens.iter().filter(|one| one.target == target && one.error.is_none());
    let answered = own.take(TRIED).find_map(|one| stage(setup, target, one.case));
    answered.is_some_and(|stage| stage.answer.drawn(&stage.case.image).is_some())
}

/// What there is to see of one target and case.
fn drawn(stage: &GoldenCase<'_>, trials: &[ShownRecord]) -> Vec<(PictureOf, Image)> {
    let image = &stage.case.image;
    let Some(golden) = undisturbed(image, &stage.answer) else { return Vec::new() };
    let mut all = vec![(PictureOf::Case, image.clone()), (PictureOf::Golden, golden)];
    for ShownRecord { fault, number, .. } in trials {
        let Some(spot) = stage.setup.plan.spot(*number) else { continue };
        let turn = stage.setup.turn(spot, &stage.key);
        let Some(observed) = stage.once(stage.setup.fault(spot), turn) else { continue };
        // Of a trial that nobody asked about there is nothing to see.
        let Ok(answer) = observed.answer.as_ref() else { continue };
        if observed.void.is_some() {
            continue;
        }
        if let Some([before, after]) = examples::drawn(stage, &observed) {
            all.push((PictureOf::Before(*fault), before));
            all.push((PictureOf::Fault(*fault), after));
            continue;
        }
        let seen = observed.image.as_ref().unwrap_or(image);
        let picture = answer.as_ref().unwrap_or(&stage.answer).drawn(seen);
        all.extend(picture.map(|picture| (PictureOf::Fault(*fault), picture)));
    }
    all
}
