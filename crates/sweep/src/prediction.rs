//! How long an undisturbed prediction takes: measured once and kept, so that the same sweep gives
//! the same numbers again.

use crate::SweepError;
use crate::file::replace;
use crate::part::Part;
use cpu_time::ThreadTime;
use faultlens_campaign::OpenCampaign;
use faultlens_campaign::OpenTarget;
use faultlens_core::Target;
use faultlens_spec::Campaign;
use serde::{Deserialize, Serialize};
use std::fs;

/// The file in a run directory that keeps what was measured.
const FILE: &str = "prediction.json";

/// How often a plain answer is timed; the fastest counts, since others were disturbed.
const ANSWERS: usize = 5;

/// What was measured, and of which campaign.
#[derive(Serialize, Deserialize)]
struct Kept {
    fingerprint: String,
    /// By target.
    seconds: Vec<f64>,
}

impl Part<'_> {
    /// By target, the work of a processor for one plain answer; of a campaign with this
    /// fingerprint.
    pub(crate) fn prediction_seconds(&self, fingerprint: &str) -> Result<Vec<f64>, SweepError> {
        let path = self.run().join(FILE);
        let kept = fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok());
        // What is damaged or of another campaign is measured anew.
        if let Some(Kept { seconds, .. }) =
            kept.filter(|kept: &Kept| kept.fingerprint == fingerprint)
        {
            return Ok(seconds);
        }
        let kept = Kept { fingerprint: fingerprint.to_owned(), seconds: self.measured()? };
        let what = "write the time of answers";
        let text = serde_json::to_vec(&kept)
            .map_err(|source| SweepError::io(what, &path)(source.into()))?;
        replace(&path, &text, what)?;
        Ok(kept.seconds)
    }

    fn measured(&self) -> Result<Vec<f64>, SweepError> {
        let campaign = Campaign::load(&self.campaign_file())?;
        let setup = OpenCampaign::open(campaign).map_err(|source| SweepError::OpenCampaign {
            campaign: self.name.clone(),
            source: Box::new(source),
        })?;
        let image = self.samples.case(0)?.image;
        Ok(setup
            .targets
            .iter()
            .map(|subject: &OpenTarget| {
                (0..ANSWERS)
                    .map(|_| {
                        let clock = ThreadTime::now();
                        // What goes wrong here is on record of every trial.
                        let _ = subject.ask(&image);
                        clock.elapsed().as_secs_f64()
                    })
                    .fold(f64::INFINITY, f64::min)
            })
            .collect())
    }
}
