//! Campaigns that a program puts together, with targets, faults and oracles of its own.

use crate::cases::Cases;
use crate::event::Ending;
use crate::open::OpenCampaign;
use crate::open_error::OpenCampaignError;
use crate::run::{RunOptions, run_open};
use crate::run_error::RunError;
use crate::target::OpenTarget;
use faultlens_core::{Dose, ImageFault, Oracle, Setting, Settings, Target};
use faultlens_data::DataSet;
use faultlens_judge::Judge;
use faultlens_spec::{Campaign, Disturbance, FaultPoint, JudgeSpec, Source, TargetSpec};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Puts a campaign together without a file.
///
/// What is not set is as in a campaign file that does not mention it. Records follow from the names
/// of targets and faults and from the seed: give another name to what answers or changes otherwise.
///
/// # Example
/// A target and a fault of one's own:
///
/// ```
/// use faultlens_campaign::CampaignBuilder;
/// use faultlens_campaign::run::Ending;
/// use faultlens_core::{Case, Image, ImageFault, Response, Stream, Target, TargetError};
/// use faultlens_data::DataSet;
/// use faultlens_record::store::Store;
///
/// /// Measures the mean brightness.
/// struct Brightness;
///
/// impl Target for Brightness {
///     fn ask(&self, image: &Image) -> Result<Response, TargetError> {
///         let sum: f32 = image.rgb().iter().map(|&byte| f32::from(byte)).sum();
///         Ok(Response::Values(vec![sum / image.rgb().len() as f32]))
///     }
/// }
///
/// /// Turns every pixel into its negative.
/// struct Negative;
///
/// impl ImageFault for Negative {
///     fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
///         image.map_pixels(|pixel| pixel.map(|channel| 255 - channel))
///     }
///
///     fn draws(&self) -> bool {
///         false
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let cases = vec![
///     Case::new("black", Image::from_rgb(2, 2, vec![0; 12])?),
///     Case::new("grey", Image::from_rgb(2, 2, vec![100; 12])?),
/// ];
/// let dir = tempfile::tempdir()?;
/// let run = dir.path().join("run");
/// let ending = CampaignBuilder::new("negatives")
///     .target("brightness", Brightness)
///     .fault("negative", Negative)
///     .cases(DataSet::new(Vec::new(), cases))
///     .oracle("same_values")
///     .run(&run)?;
/// assert_eq!(ending, Ending::Complete);
/// assert_eq!(Store::read(&run)?.progress()?.recorded, 2);
/// # Ok(())
/// # }
/// ```
pub struct CampaignBuilder {
    name: String,
    seed: Option<u64>,
    trials: u32,
    targets: Vec<(String, Box<dyn Target>)>,
    faults: Vec<FaultPoint>,
    cases: DataSet,
    judge: Result<JudgeSpec, String>,
}

impl OpenCampaign {
    /// Starts a campaign that a program puts together; see [`CampaignBuilder`].
    pub fn builder(name: &str) -> CampaignBuilder {
        CampaignBuilder::new(name)
    }
}

impl CampaignBuilder {
    /// A campaign without targets, faults and cases, judged by `same_top`.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            seed: None,
            trials: 1,
            targets: Vec::new(),
            faults: Vec::new(),
            cases: DataSet::new(Vec::new(), Vec::new()),
            judge: JudgeSpec::named("same_top"),
        }
    }

    /// Adds a target.
    #[must_use]
    pub fn target(mut self, name: &str, target: impl Target + 'static) -> Self {
        self.targets.push((name.to_owned(), Box::new(target)));
        self
    }

    /// Adds a fault in images. One that draws random numbers has as many trials of each case as
    /// [`trials`](Self::trials) said before, others have one.
    #[must_use]
    pub fn fault(self, name: &'static str, fault: impl ImageFault + 'static) -> Self {
        self.image_fault(name, name.to_owned(), Settings::default(), fault)
    }

    /// Adds a fault in images that comes in several strengths: one call for each of them, all with
    /// the same name. Reports tell them apart by their [dose](ImageFault::dose), as in
    /// `fog severity=3`, and draw the failure rate along it.
    #[must_use]
    pub fn fault_with_dose(self, name: &'static str, fault: impl ImageFault + 'static) -> Self {
        let Dose { axis, amount } = fault.dose();
        let mut settings = Settings::default();
        settings.set(axis, Setting::Number(amount));
        self.image_fault(name, format!("{name} {axis}={amount}"), settings, fault)
    }

    fn image_fault(
        self,
        name: &'static str,
        label: String,
        settings: Settings,
        fault: impl ImageFault + 'static,
    ) -> Self {
        let point = FaultPoint {
            name,
            label,
            settings,
            trials: if fault.draws() { self.trials } else { 1 },
            dose: Some(fault.dose()),
            disturbance: Disturbance::Image(Box::new(fault)),
        };
        self.fault_point(point)
    }

    /// Adds a fault of any kind with all its settings, such as [`FaultPoint::new`] builds from the
    /// registries.
    #[must_use]
    pub fn fault_point(mut self, fault: FaultPoint) -> Self {
        self.faults.push(fault);
        self
    }

    /// Sets the number of trials of each case, for faults that are added from now on.
    #[must_use]
    pub fn trials(mut self, trials: u32) -> Self {
        self.trials = trials;
        self
    }

    /// Sets the cases, all of which are shown.
    #[must_use]
    pub fn cases(mut self, cases: DataSet) -> Self {
        self.cases = cases;
        self
    }

    /// Sets the oracle to one of the registry, with its default settings.
    #[must_use]
    pub fn oracle(mut self, name: &str) -> Self {
        self.judge = JudgeSpec::named(name);
        self
    }

    /// Sets the oracle to one of the program's own.
    #[must_use]
    pub fn own_oracle(mut self, name: &'static str, oracle: impl Oracle + 'static) -> Self {
        self.judge = Ok(JudgeSpec::own(name, Judge::new(Box::new(oracle), Vec::new())));
        self
    }

    /// Sets what all random numbers come from.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Opens the campaign: checks that faults, targets and oracle fit each other.
    pub fn open(self) -> Result<OpenCampaign, OpenCampaignError> {
        let mut campaign =
            Campaign::empty(&self.name, self.judge.map_err(OpenCampaignError::Oracle)?);
        campaign.seed = self.seed.unwrap_or(campaign.seed);
        campaign.faults = self.faults;
        let sample = (0..self.cases.len()).collect();
        let cases = Cases { set: self.cases, sample };
        let first = cases.readable().next();
        let mut targets = Vec::with_capacity(self.targets.len());
        for (name, target) in self.targets {
            let answer = first.as_ref().and_then(|case| target.ask(&case.image).ok());
            targets.push(OpenTarget::own(&name, target, answer.as_ref(), &cases.set.classes));
            campaign.targets.push(TargetSpec {
                source: Source::Own { key: name.clone() },
                name,
                defences: Vec::new(),
                traits: BTreeMap::new(),
            });
        }
        let judge = campaign.judge.build();
        OpenCampaign::assemble(campaign, targets, cases, judge)
    }

    /// Runs the campaign to its end, or what an earlier run has left of it; `dir` is the run
    /// directory.
    pub fn run(self, dir: &Path) -> Result<Ending, RunError> {
        let options = RunOptions { output: Some(dir.to_path_buf()), ..RunOptions::default() };
        run_open(&self.open()?, &options, &mut [], &AtomicBool::new(false))
    }
}
