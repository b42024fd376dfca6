//! What a run does after its last trial: it writes down what it has cost, and keeps pictures of a few
//! trials.

use super::recorder::Recorder;
use super::{account, examples, gallery, services};
use crate::event::{Ending, Event, OpenTrials};
use crate::open::OpenCampaign;
use crate::run_error::RunError;
use faultlens_record::{ServiceAccount, Spending};
use std::path::Path;
use std::time::Duration;

/// Writes down what the run has cost, and warns where a service has changed meanwhile.
pub(super) fn account(
    open: &OpenCampaign,
    dir: &Path,
    wall: Duration,
    threads: usize,
    ending: Ending,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), RunError> {
    let controls = if ending.is_finished() {
        services::control(open)
    } else {
        vec![(0, 0); open.targets.len()]
    };
    let before = Spending::read(dir).unwrap_or_default();
    let spent = account::close(before, open, dir, wall, threads, controls)?;
    for service in spent.services.iter().filter(|service| service.drifted > 0) {
        let ServiceAccount { target, control, drifted, .. } = service;
        let text = format!(
            "target {target}: {drifted} of {control} cases that were asked again are answered \
             otherwise now; the service has changed, and rates mix both"
        );
        recorder.emit(&Event::Warning(&text))?;
    }
    Ok(())
}

/// Keeps examples and pictures of a run that came to its end now, and reports how it ended and what
/// it left open.
pub(super) fn finish(
    open: &OpenCampaign,
    ending: Ending,
    is_new: bool,
    left_open: &[OpenTrials],
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), RunError> {
    services::end_calls(open);
    if is_new && ending.is_finished() {
        let examples = examples::keep(open, recorder.store(), recorder.candidates())?;
        let pictures = gallery::keep(open, recorder.store())?;
        recorder.finish(&examples, &pictures, ending == Ending::StoppedEarly)?;
    }
    if ending == Ending::Incomplete {
        for trials in left_open {
            recorder.emit(&Event::LeftOpen(trials))?;
        }
    }
    recorder.emit(&Event::Finished(ending))
}
