//! Found failures, pinned: trials that every later run replays first.

use crate::cases::{case_key, pixels_digest};
use crate::open::OpenCampaign;
use crate::run_error::RunError;
use crate::trial::{TrialSeed, disturb, run_one};
use faultlens_core::{Case, Outcome, OutcomeKind};
use faultlens_record::Record;
use faultlens_record::store::PinRecord;
use faultlens_spec::FaultPoint;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Pins beyond this are taken for a mistake.
const MAX_BYTES: u64 = 16 << 20;

/// One pinned trial, as its file holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// What it is called in reports.
    pub name: String,
    /// The target's name in the campaign.
    pub target: String,
    /// The case's name.
    pub case: String,
    /// Where the case stood in its data set; where the name is looked for first.
    pub index: usize,
    /// The digest of its pixels, in hexadecimal.
    pub pixels: String,
    /// The fault.
    pub fault: String,
    /// Its settings, all of them.
    pub settings: BTreeMap<String, serde_json::Value>,
    /// What the random numbers start from, in hexadecimal.
    pub stream: String,
    /// Which trial of its case and fault it is, where the fault changes scenes: it does something
    /// else in each of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u32>,
    /// Its outcome when it was pinned.
    pub was: String,
    /// The digest of the objects that it puts into scenes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<String>,
}

/// Reads a file of pins.
pub fn read(path: &Path) -> Result<Vec<Pin>, RunError> {
    read_pins(path).map_err(|why| {
        RunError::Pin(format!("cannot read pinned trials: {why}: {}", path.display()))
    })
}

fn read_pins(path: &Path) -> Result<Vec<Pin>, String> {
    let about = fs::metadata(path).map_err(|error| error.to_string())?;
    if about.len() > MAX_BYTES {
        return Err(format!("the file has more than {} MB", MAX_BYTES >> 20));
    }
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    serde_saphyr::from_str(&text).map_err(|error| error.without_snippet().to_string())
}

/// Adds a pin to a file, and makes the file where there is none; `false` where the trial is
/// pinned there already.
pub fn add(path: &Path, pin: &Pin) -> Result<bool, RunError> {
    let mut pins = if path.exists() { read(path)? } else { Vec::new() };
    for other in &pins {
        // The name and the outcome of the same trial may differ.
        let renamed = Pin { name: pin.name.clone(), was: pin.was.clone(), ..other.clone() };
        if renamed == *pin {
            return Ok(false);
        }
    }
    pins.push(pin.clone());
    match write_pins(path, &pins) {
        Ok(()) => Ok(true),
        Err(why) => {
            Err(RunError::Pin(format!("cannot write pinned trials: {why}: {}", path.display())))
        }
    }
}

/// Replaces the file as a whole: one that is cut short would lose every pin in it.
fn write_pins(path: &Path, pins: &[Pin]) -> Result<(), String> {
    let text = serde_saphyr::to_string(&pins).map_err(|error| error.to_string())?;
    faultlens_files::write(path, text.as_bytes()).map_err(|error| error.to_string())
}

impl Pin {
    /// Pins a trial of a run.
    pub fn new(
        open: &OpenCampaign,
        record: &Record,
        case: &Case,
        name: Option<&str>,
    ) -> Option<Self> {
        let key = open.plan.key(record.number)?;
        let fault = open.fault(key);
        let target = &open.campaign.targets[key.target as usize];
        Some(Self {
            name: match name {
                Some(name) => name.to_owned(),
                None => {
                    format!("{} {}: {} on {}", target.name, record.number, fault.label, case.name)
                }
            },
            target: target.name.clone(),
            case: case.name.clone(),
            index: open.cases.sample[key.case as usize],
            pixels: pixels(case),
            fault: fault.name.to_owned(),
            settings: fault.settings_json(),
            stream: format!("{:016x}", open.stream_seed(key, &case_key(case))),
            repeat: disturb(fault).facts().depends_on_repeat.then_some(key.repeat),
            was: record.outcome.kind().name().to_owned(),
            objects: open.objects_of(fault).map(str::to_owned),
        })
    }

    /// Runs the trial again. One that cannot be run counts as skipped, with the reason.
    pub fn replay(&self, open: &OpenCampaign) -> PinRecord {
        let (outcome, reason) = match self.outcome(open) {
            Ok((outcome, reason)) => (outcome, reason),
            Err(why) => (OutcomeKind::Skipped.name().to_owned(), Some(why)),
        };
        let what = format!("{} on {}, asked of {}", self.fault, self.case, self.target);
        PinRecord { name: self.name.clone(), what, outcome, reason }
    }

    /// The outcome and, where it is skipped, the reason; an error says why it cannot be replayed.
    fn outcome(&self, open: &OpenCampaign) -> Result<(String, Option<String>), String> {
        let targets = &open.campaign.targets;
        let Some(target) = targets.iter().position(|spec| spec.name == self.target) else {
            return Err(format!("the campaign has no target {}", self.target));
        };
        let fault = FaultPoint::new(&self.fault, &self.settings)?;
        let seed = u64::from_str_radix(&self.stream, 16)
            .map_err(|_| format!("{:?} is no hexadecimal number", self.stream))?;
        let seed = TrialSeed { seed, repeat: self.repeat_of(&fault)? };
        disturb(&fault).check(&open.targets[target]).map_err(|unfit| unfit.to_string())?;
        let case = self.find(open)?;
        if pixels(&case) != self.pixels {
            return Err(format!("the image of case {} is another one", self.case));
        }
        self.same_objects(open.objects_of(&fault))?;
        let golden = open.golden_case(target as u32, case).map_err(|error| error.to_string())?;
        let outcome = golden.judge(&run_one(&fault, &golden, seed));
        let reason = match &outcome {
            Outcome::Skipped(reason) => Some(reason.to_string()),
            _ => None,
        };
        Ok((outcome.kind().name().to_owned(), reason))
    }

    /// Which trial of its case and fault to run; refuses a pin that does not say which scene it is.
    fn repeat_of(&self, fault: &FaultPoint) -> Result<u32, String> {
        match self.repeat {
            Some(repeat) => Ok(repeat),
            None if disturb(fault).facts().depends_on_repeat => Err(format!(
                "it has no repeat, and {} changes another scene in each trial; pin it again with \
                 faultlens promote",
                self.fault
            )),
            None => Ok(0),
        }
    }

    /// Refuses objects that are not those that the trial was pinned with: it would show another
    /// scene.
    fn same_objects(&self, now: Option<&str>) -> Result<(), String> {
        match (self.objects.as_deref(), now) {
            (then, now) if then == now => Ok(()),
            (Some(then), None) => Err(format!(
                "it puts an object into the scene, and the campaign has none; name the objects that \
                 it was pinned with under objects: (their digest is {then})"
            )),
            (then, Some(now)) => Err(format!(
                "the campaign's objects (digest {now}) are not those that it was pinned with \
                 ({}); name those under objects:, or pin a trial of a run with these",
                then.unwrap_or("none")
            )),
            (None, None) => Ok(()),
        }
    }

    /// The case of that name: where it stood, or wherever it stands now.
    fn find(&self, open: &OpenCampaign) -> Result<Case, String> {
        let set = &open.cases.set;
        let first = set.case(self.index);
        if let Ok(case) = &first
            && case.name == self.case
        {
            return Ok(case.clone());
        }
        for index in 0..set.len() {
            if let Ok(case) = set.case(index)
                && case.name == self.case
            {
                return Ok(case);
            }
        }
        Err(match first {
            Err(error) => {
                format!("the data set has no case {} that can be read: {error}", self.case)
            }
            Ok(_) => format!("the data set has no case {}", self.case),
        })
    }
}

fn pixels(case: &Case) -> String {
    format!("{:016x}", pixels_digest(&case.image))
}
