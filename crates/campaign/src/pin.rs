//! Found failures, pinned: trials that every later run replays first.

use crate::inject::{GoldenCase, TrialSeed, case_key, pixels_digest};
use crate::run::RunError;
use crate::setup::OpenCampaign;
use faultlens_core::{Case, OutcomeKind};
use faultlens_record::Record;
use faultlens_record::store::PinRecord;
use faultlens_spec::{Disturbance, FaultPoint};
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
    /// What tells its image from another of that name, in hexadecimal.
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
    /// What became of it when it was pinned.
    pub was: String,
    /// What tells the objects that it puts into the scene from others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<String>,
}

/// Reads a file of pins.
pub fn read(path: &Path) -> Result<Vec<Pin>, RunError> {
    let wrong = |why: String| {
        RunError::Pin(format!("cannot read pinned trials: {why}: {}", path.display()))
    };
    let about = fs::metadata(path).map_err(|error| wrong(error.to_string()))?;
    if about.len() > MAX_BYTES {
        return Err(wrong(format!("the file has more than {} MB", MAX_BYTES >> 20)));
    }
    let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    serde_saphyr::from_str(&text).map_err(|error| wrong(error.without_snippet().to_string()))
}

/// Adds a pin to a file, and makes the file where there is none; `false` where the trial is
/// pinned there already.
pub fn add(path: &Path, pin: &Pin) -> Result<bool, RunError> {
    let mut pins = if path.exists() { read(path)? } else { Vec::new() };
    let same =
        |other: &Pin| Pin { name: pin.name.clone(), was: pin.was.clone(), ..other.clone() } == *pin;
    if pins.iter().any(same) {
        return Ok(false);
    }
    pins.push(pin.clone());
    let wrong = |why: String| {
        RunError::Pin(format!("cannot write pinned trials: {why}: {}", path.display()))
    };
    let text = serde_saphyr::to_string(&pins).map_err(|error| wrong(error.to_string()))?;
    // A file that is cut short would lose every pin in it.
    let beside = path.with_extension("new");
    fs::write(&beside, text).map_err(|error| wrong(error.to_string()))?;
    fs::rename(&beside, path).map_err(|error| wrong(error.to_string()))?;
    Ok(true)
}

impl Pin {
    /// Pins a trial of a run.
    pub fn new(
        setup: &OpenCampaign,
        record: &Record,
        case: &Case,
        name: Option<&str>,
    ) -> Option<Self> {
        let spot = setup.plan.spot(record.number)?;
        let key = case_key(case);
        let (fault, target) = (setup.fault(spot), &setup.campaign.targets[spot.target as usize]);
        let default =
            || format!("{} {}: {} on {}", target.name, record.number, fault.label, case.name);
        Some(Self {
            name: name.map_or_else(default, str::to_owned),
            target: target.name.clone(),
            case: case.name.clone(),
            index: setup.cases.sample[spot.case as usize],
            pixels: pixels(case),
            fault: fault.name.to_owned(),
            settings: fault.settings_json(),
            stream: format!("{:016x}", setup.stream_seed(spot, &key)),
            repeat: match fault.disturbance {
                Disturbance::Scene(_) => Some(spot.repeat),
                _ => None,
            },
            was: record.outcome.kind().name().to_owned(),
            objects: objects(setup, fault),
        })
    }

    /// What becomes of the trial now. What cannot be replayed is skipped, with the reason.
    pub fn replay(&self, setup: &OpenCampaign) -> PinRecord {
        let (outcome, reason) = match self.observed(setup) {
            Ok((outcome, reason)) => (outcome, reason),
            Err(why) => (OutcomeKind::Skipped.name().to_owned(), Some(why)),
        };
        let what = format!("{} on {}, asked of {}", self.fault, self.case, self.target);
        PinRecord { name: self.name.clone(), what, outcome, reason }
    }

    fn observed(&self, setup: &OpenCampaign) -> Result<(String, Option<String>), String> {
        let targets = &setup.campaign.targets;
        let target = targets.iter().position(|spec| spec.name == self.target);
        let target = target.ok_or_else(|| format!("the campaign has no target {}", self.target))?;
        let fault = FaultPoint::new(&self.fault, &self.settings)?;
        let seed = u64::from_str_radix(&self.stream, 16)
            .map_err(|_| format!("{:?} is no hexadecimal number", self.stream))?;
        let turn = TrialSeed { seed, repeat: self.turn(&fault)? };
        let case = self.find(setup)?;
        if pixels(&case) != self.pixels {
            return Err(format!("the image of case {} is another one", self.case));
        }
        self.same_objects(objects(setup, &fault).as_deref())?;
        let stage =
            GoldenCase::open(setup, target as u32, case).map_err(|error| error.to_string())?;
        let observed = stage.once(&fault, turn).ok_or("nothing was observed")?;
        let outcome = stage.judge(&observed);
        let reason = match &outcome {
            faultlens_core::Outcome::Skipped(reason) => Some(reason.text().to_owned()),
            _ => None,
        };
        Ok((outcome.kind().name().to_owned(), reason))
    }

    /// Which trial of its case and fault to run; refuses scenes of which nobody knows.
    fn turn(&self, fault: &FaultPoint) -> Result<u32, String> {
        match (self.repeat, &fault.disturbance) {
            (Some(repeat), _) => Ok(repeat),
            (None, Disturbance::Scene(_)) => Err(format!(
                "it has no repeat, and {} changes another scene in each trial; pin it again with \
                 faultlens promote",
                self.fault
            )),
            (None, _) => Ok(0),
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
    fn find(&self, setup: &OpenCampaign) -> Result<Case, String> {
        let set = &setup.cases.set;
        let first = set.case(self.index);
        if let Ok(case) = &first
            && case.name == self.case
        {
            return Ok(case.clone());
        }
        let named = |index: usize| set.case(index).ok().filter(|case| case.name == self.case);
        let missing = || match &first {
            Err(error) => {
                format!("the data set has no case {} that can be read: {error}", self.case)
            }
            Ok(_) => format!("the data set has no case {}", self.case),
        };
        (0..set.len()).find_map(named).ok_or_else(missing)
    }
}

/// What tells the objects that a fault puts into scenes from others.
fn objects(setup: &OpenCampaign, fault: &FaultPoint) -> Option<String> {
    setup.object_pool.digest().filter(|_| fault.disturbance.needs_objects()).map(str::to_owned)
}

fn pixels(case: &Case) -> String {
    format!("{:016x}", pixels_digest(&case.image))
}
