//! The campaign that looks for scenes in which a first model fails.

use crate::RetrainError;
use crate::event::EventKind;
use crate::file::replace;
use faultlens_campaign::run::{Ending, Event, RunOptions, Sink, SinkError};
use faultlens_campaign::run_campaign;
use faultlens_spec::Campaign;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// For so many objects of a scene there are trials; a model that finds more is shown fewer of each.
const MOST_OBJECTS: u32 = 12;

/// Digits of the key in the name of the run directory.
const DIGITS: usize = 12;

/// What the campaign is made of; files are in the seed's folder.
pub(crate) struct SceneCampaign<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) seed: u64,
    pub(crate) model: &'a str,
    pub(crate) originals: &'a str,
    pub(crate) objects: &'a str,
    pub(crate) per_object: u32,
    /// Of all that decides what is found.
    pub(crate) key: &'a str,
}

impl SceneCampaign<'_> {
    /// Runs what is not on record yet; gives the run directory.
    pub(crate) fn run(
        &self,
        threads: usize,
        interrupted: &AtomicBool,
        emit: &mut dyn FnMut(EventKind<'_>),
    ) -> Result<PathBuf, RetrainError> {
        let path = self.folder.join("campaign.yaml");
        replace(&path, self.text().as_bytes(), "write the campaign")?;
        let campaign = Campaign::load(&path)?;
        let run = self.folder.join(self.run_name());
        let options = RunOptions { output: Some(run.clone()), shard: None, threads: Some(threads) };
        let mut follower = Follower { emit, done: 0, planned: 0 };
        let ending = run_campaign(campaign, &options, &mut [&mut follower], interrupted);
        match ending.map_err(RetrainError::run(self.seed))? {
            Ending::Interrupted => Err(RetrainError::Stopped),
            Ending::Incomplete => Err(RetrainError::Open { seed: self.seed, run }),
            Ending::Complete | Ending::StoppedEarly => Ok(run),
        }
    }

    /// Another campaign has another directory, so that records never mix.
    fn run_name(&self) -> String {
        format!("run-{}", self.key.get(..DIGITS).unwrap_or(self.key))
    }

    /// An answer stands where all that was found without the object is found with it, one to one,
    /// and nothing else; MetaOD's own rule, average precision, puts up with some that is new.
    fn text(&self) -> String {
        let trials = self.per_object.saturating_mul(MOST_OBJECTS);
        let output = json!({"kind": "detections", "decoder": "world"});
        let target = json!({"name": "first model", "model": self.model, "output": output});
        let lines = [
            "# Written by faultlens retrain: change its options, not this file.".to_owned(),
            format!("name: {}", json!(format!("retraining, seed {}", self.seed))),
            format!("seed: {}", self.seed),
            format!("output: {}", json!(self.run_name())),
            "examples: 0".to_owned(),
            format!("cases: {}", json!({"data": self.originals})),
            format!("objects: {}", json!(self.objects)),
            // As published: every object counts, however little it scores.
            "oracle: {name: same_detections, score_band: 0}".to_owned(),
            format!("targets: [{target}]"),
            format!(
                "faults: [{}]",
                json!({
                    "fault": "insert_object",
                    "placing": "guided",
                    "per_object": self.per_object,
                    "trials": trials,
                })
            ),
        ];
        lines.join("\n") + "\n"
    }
}

struct Follower<'a> {
    emit: &'a mut dyn FnMut(EventKind<'_>),
    done: u64,
    planned: u64,
}

impl Sink for Follower<'_> {
    fn take(&mut self, event: &Event<'_>) -> Result<(), SinkError> {
        match event {
            Event::Started { planned, recorded, .. } => {
                (self.done, self.planned) = (*recorded, *planned);
            }
            Event::Recorded(records) => self.done += records.len() as u64,
            Event::Warning(text) => (self.emit)(EventKind::Warning(text)),
            _ => return Ok(()),
        }
        (self.emit)(EventKind::Tries { done: self.done, planned: self.planned });
        Ok(())
    }
}
