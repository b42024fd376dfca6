//! Answers that can be looked at, side by side: what each fault makes of a few cases.

use super::error::RunError;
use crate::inject::Stage;
use crate::setup::Setup;
use crate::store::{PictureOf, PictureRecord, Store};
use faultlens_core::Image;
use faultlens_data::encode_png;

/// Cases that are shown of each target.
const CASES: usize = 5;
/// Fault points that are shown, from the first; more would not fit beside each other.
const FAULTS: usize = 16;

/// Draws the answers of targets whose answers are pictures, boxes or areas: the first trial of
/// each fault on the first cases, repeated. Where an answer cannot be drawn, nothing is kept.
pub(super) fn keep(setup: &Setup, store: &Store) -> Result<Vec<PictureRecord>, RunError> {
    let mut pictures = Vec::new();
    if setup.campaign.examples == 0 {
        return Ok(pictures);
    }
    for target in 0..setup.targets.len() as u32 {
        for case in 0..setup.cases.sample.len().min(CASES) as u32 {
            let Ok(shown) = setup.cases.set.case(setup.cases.sample[case as usize]) else {
                continue;
            };
            let Ok(stage) = Stage::open(setup, target, shown) else { continue };
            for (of, image) in drawn(setup, &stage, target, case) {
                let Some(png) = encode_png(&image) else { continue };
                let path = store.put_artifact(&png)?;
                pictures.push(PictureRecord { target, case, of, path });
            }
        }
    }
    Ok(pictures)
}

/// What there is to see of one target and case; nothing where the answer cannot be drawn.
fn drawn(setup: &Setup, stage: &Stage<'_>, target: u32, case: u32) -> Vec<(PictureOf, Image)> {
    let image = &stage.case.image;
    let Some(golden) = stage.answer.drawn(image) else { return Vec::new() };
    let mut all = vec![(PictureOf::Case, image.clone()), (PictureOf::Golden, golden)];
    for (fault, point) in setup.campaign.faults.iter().enumerate().take(FAULTS) {
        let spot = crate::plan::Spot { target, case, fault: fault as u32, repeat: 0 };
        let Some(observed) = stage.once(point, setup.turn(spot, &stage.key)) else {
            continue;
        };
        let Ok(answer) = &observed.answer else { continue };
        let seen = observed.image.as_ref().unwrap_or(image);
        if let Some(picture) = answer.as_ref().unwrap_or(&stage.answer).drawn(seen) {
            all.push((PictureOf::Fault(fault as u32), picture));
        }
    }
    all
}
