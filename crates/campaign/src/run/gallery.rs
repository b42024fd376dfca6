//! Pictures of answers side by side: what each fault makes of its most telling case.

use super::examples;
use crate::annotate::annotate_golden;
use crate::golden_case::GoldenCase;
use crate::open::OpenCampaign;
use crate::run_error::RunError;
use crate::trial::run_one;
use faultlens_core::Image;
use faultlens_data::encode_png;
use faultlens_record::GoldenRecord;
use faultlens_record::store::{PictureOf, PictureRecord, ShownRecord, Store};

/// Cases that are tried before an answer counts as one that cannot be drawn.
const TRIED: usize = 5;

/// Draws the answers of targets whose answers are pictures, boxes or areas: of each fault the trial
/// that tells most, repeated. Where an answer cannot be drawn, nothing is kept.
pub(super) fn keep(
    open: &OpenCampaign,
    store: &Store,
) -> Result<(Vec<PictureRecord>, Vec<ShownRecord>), RunError> {
    if open.campaign.examples == 0 {
        return Ok((Vec::new(), Vec::new()));
    }
    let goldens = store.goldens()?;
    let targets =
        (0..open.targets.len() as u32).filter(|target| can_be_drawn(open, *target, &goldens));
    let shown = store.showcase(&targets.collect())?;
    let mut pictures = Vec::new();
    for trials in shown.chunk_by(|a, b| (a.target, a.case) == (b.target, b.case)) {
        let target = trials[0].target;
        let case = trials[0].case;
        let Some(golden) = golden_case(open, target, case) else { continue };
        for (of, image) in drawn(open, &golden, trials) {
            let Some(png) = encode_png(&image) else { continue };
            let path = store.put_artifact(&png)?;
            pictures.push(PictureRecord { target, case, of, path });
        }
    }
    Ok((pictures, shown))
}

fn golden_case(open: &OpenCampaign, target: u32, case: u32) -> Option<GoldenCase<'_>> {
    let case = open.cases.set.case(*open.cases.sample.get(case as usize)?).ok()?;
    open.golden_case(target, case).ok()
}

/// Tries the first cases on which the target has answered: a shard need not have the campaign's
/// first ones.
fn can_be_drawn(open: &OpenCampaign, target: u32, goldens: &[GoldenRecord]) -> bool {
    let own = goldens.iter().filter(|one| one.target == target && one.error.is_none());
    let answered = own.take(TRIED).find_map(|one| golden_case(open, target, one.case));
    answered.is_some_and(|golden| golden.answer.drawn(&golden.case.image).is_some())
}

/// The pictures of one target and case.
fn drawn(
    open: &OpenCampaign,
    golden: &GoldenCase<'_>,
    trials: &[ShownRecord],
) -> Vec<(PictureOf, Image)> {
    let image = &golden.case.image;
    let Some(annotated) = annotate_golden(image, &golden.answer) else { return Vec::new() };
    let mut all = vec![(PictureOf::Case, image.clone()), (PictureOf::Golden, annotated)];
    for ShownRecord { fault, number, .. } in trials {
        let Some(key) = open.plan.key(*number) else { continue };
        let seed = open.trial_seed(key, &golden.key);
        let observation = run_one(open.fault(key), golden, seed);
        // Of a trial that was not asked there is nothing to see.
        let Ok(answer) = observation.answer.as_ref() else { continue };
        if observation.skipped.is_some() {
            continue;
        }
        if let Some([before, after]) = examples::drawn(golden, &observation) {
            all.push((PictureOf::Before(*fault), before));
            all.push((PictureOf::Fault(*fault), after));
            continue;
        }
        let seen = observation.image().unwrap_or(image);
        let picture = answer.as_ref().unwrap_or(&golden.answer).drawn(seen);
        all.extend(picture.map(|picture| (PictureOf::Fault(*fault), picture)));
    }
    all
}
