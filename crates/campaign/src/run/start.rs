//! What a run does before its first trial: it reports what the user should know, and replays pinned
//! trials.

use super::recorder::Recorder;
use crate::event::Event;
use crate::open::OpenCampaign;
use crate::pin::Pin;
use crate::plan::Shard;
use crate::run_error::RunError;
use crate::trial::disturb;
use faultlens_spec::Campaign;
use std::path::Path;

/// Reports that the run starts, with its warnings and cost estimates; then replays the pins.
pub(super) fn start(
    open: &OpenCampaign,
    dir: &Path,
    shard: Option<Shard>,
    pins: &[Pin],
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), RunError> {
    let planned = open.plan.units(shard).map(|unit| unit.len()).sum();
    let recorded = recorder.recorded();
    recorder.emit(&Event::Started { run: dir, planned, recorded })?;
    for warning in &open.campaign.warnings {
        recorder.emit(&Event::Warning(warning))?;
    }
    warn_of_guesses(open, recorder)?;
    warn_of_unused_objects(open, recorder)?;
    for cost_estimate in open.cost_estimate(dir) {
        recorder.emit(&Event::Note(&cost_estimate.to_string()))?;
    }
    replay_pins(open, pins, recorder)
}

/// Warns how images are fed where the campaign file does not say: a wrong guess measures another
/// system.
fn warn_of_guesses(open: &OpenCampaign, recorder: &mut Recorder<'_, '_>) -> Result<(), RunError> {
    for (spec, target) in open.campaign.targets.iter().zip(&open.targets) {
        let Some(white_box) = target.white_box() else { continue };
        let guesses: Vec<&str> = white_box.target.description().guesses().collect();
        if guesses.is_empty() {
            continue;
        }
        let name = &spec.name;
        let text = format!(
            "target {name}: how images are fed or answers read was guessed; check what follows, and \
             write it into the campaign file"
        );
        recorder.emit(&Event::Warning(&text))?;
        for guess in guesses {
            recorder.emit(&Event::Note(&format!("target {name}: {guess}")))?;
        }
    }
    Ok(())
}

/// Warns that no fault uses the campaign's objects: one was likely forgotten. Pinned trials may
/// need them, too.
fn warn_of_unused_objects(
    open: &OpenCampaign,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), RunError> {
    let Campaign { objects, faults, pinned, .. } = &open.campaign;
    let used = faults.iter().any(|fault| disturb(fault).facts().needs_objects);
    if objects.is_none() || used || !pinned.is_empty() {
        return Ok(());
    }
    let text = "objects: no fault of this campaign puts them into scenes (insert_object does)";
    recorder.emit(&Event::Warning(text))
}

/// Replays pinned trials before any other.
fn replay_pins(
    open: &OpenCampaign,
    pins: &[Pin],
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), RunError> {
    let mut pinned = Vec::new();
    for pin in pins {
        let record = pin.replay(open);
        recorder.emit(&Event::Pinned(&record))?;
        pinned.push(record);
    }
    Ok(recorder.put_pins(&pinned)?)
}
