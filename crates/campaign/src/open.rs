//! A campaign with everything opened: what running, replaying and pinning have in common.

use crate::cases::Cases;
use crate::check;
use crate::clock::Clock;
use crate::context::TrialContext;
use crate::golden_case::GoldenCase;
use crate::object_pool::ObjectPool;
use crate::open_error::OpenCampaignError;
use crate::plan::{Plan, TrialKey};
use crate::preserve;
use crate::target::OpenTarget;
use crate::trial::{PROBED_CASES, SeedScope, TrialSeed, disturb};
use faultlens_core::{Case, Comparison, Reason, Target as _, TargetError, Truth};
use faultlens_judge::Judge;
use faultlens_record::TrialId;
use faultlens_record::store::FaultOn;
use faultlens_spec::{Campaign, FaultPoint};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A campaign with everything opened.
pub struct OpenCampaign {
    /// The plan as configured.
    pub campaign: Campaign,
    /// The targets, in the campaign's order.
    pub targets: Vec<OpenTarget>,
    /// What is shown.
    pub cases: Cases,
    /// All trials by number.
    pub plan: Plan,
    /// The text of the files with tolerances, by the campaign's names for them.
    pub tolerances: BTreeMap<String, String>,
    /// What all trials share, the judge among them.
    pub context: TrialContext,
    /// By fault, what the identities of its trials are made from.
    specs: Vec<String>,
}

impl OpenCampaign {
    /// Opens targets and cases, and checks that the faults fit them.
    pub fn open(campaign: Campaign) -> Result<Self, OpenCampaignError> {
        let cases = Cases::open(&campaign.cases, campaign.seed)?;
        let mut targets = Vec::with_capacity(campaign.targets.len());
        for spec in &campaign.targets {
            targets.push(OpenTarget::open(spec, &campaign.base, &cases.set.classes)?);
        }
        let judge = campaign.judge.build();
        Self::assemble(campaign, targets, cases, judge)
    }

    /// Puts together what is open already, and checks that the faults fit the targets, which are in
    /// the campaign's order.
    pub(crate) fn assemble(
        campaign: Campaign,
        targets: Vec<OpenTarget>,
        cases: Cases,
        judge: Arc<Judge>,
    ) -> Result<Self, OpenCampaignError> {
        for (spec, target) in campaign.targets.iter().zip(&targets) {
            check::faults(&campaign.faults, &spec.name, target)?;
            check::defences(spec, target)?;
        }
        check::attributes(&campaign, &cases)?;
        let mut trials = Vec::with_capacity(targets.len());
        for (spec, target) in campaign.targets.iter().zip(&targets) {
            trials.push(check::trials(&campaign, &cases, &spec.name, target)?);
        }
        let plan = Plan::new(cases.sample.len(), &trials);
        let tolerances = preserve::tolerances(&campaign, &image_faults(&campaign.faults))?;
        preserve::check_classes(&campaign, &known_classes(&cases, &targets))?;
        let object_pool = match &campaign.objects {
            Some(objects) => ObjectPool::open(objects)?,
            None => ObjectPool::default(),
        };
        let mut specs = Vec::with_capacity(campaign.faults.len());
        for fault in &campaign.faults {
            // With other objects they are other trials.
            specs.push(match object_pool.digest() {
                Some(objects) if disturb(fault).facts().needs_objects => {
                    format!("{} objects={objects}", fault.spec())
                }
                _ => fault.spec(),
            });
        }
        let context = TrialContext {
            classes: cases.set.classes.clone(),
            fairness: campaign.fairness.clone(),
            measures_visual_change: campaign.tells_every_change
                || !campaign.preserve.is_empty()
                || judge.needs_visual_change(),
            needs_stable_golden: campaign
                .faults
                .iter()
                .any(|fault| disturb(fault).facts().needs_stable_golden),
            judge,
            object_pool,
            clock: Clock::default(),
        };
        Ok(Self { campaign, targets, cases, plan, tolerances, context, specs })
    }

    /// Refuses a judge who cannot judge a target's answers. Asked on the first case that the target
    /// answers.
    pub fn check_judge(&self) -> Result<(), OpenCampaignError> {
        for (spec, target) in self.campaign.targets.iter().zip(&self.targets) {
            let mut cases = self.cases.sample.iter().take(PROBED_CASES);
            let answered = cases.find_map(|&index| {
                let case = self.cases.set.case(index).ok()?;
                // A service is not asked before its answers can be filed.
                let answer = match target.specimen() {
                    Some(answer) => answer,
                    None => target.ask(&case.image).ok()?,
                };
                Some((case, answer))
            });
            let Some((case, answer)) = answered else { continue };
            let comparison = Comparison {
                case: &case,
                truth: Truth::default(),
                golden: &answer,
                observed: &answer,
                fault: None,
            };
            if self.context.judge.skips_case(&comparison) == Some(Reason::UnsupportedAnswer) {
                let (kind, fitting) = target.answers_with();
                return Err(OpenCampaignError::Judge { target: spec.name.clone(), kind, fitting });
            }
        }
        Ok(())
    }

    /// Asks a target about an undisturbed case.
    pub fn golden_case(&self, target: u32, case: Case) -> Result<GoldenCase<'_>, TargetError> {
        GoldenCase::open(&self.context, &self.targets[target as usize], case)
    }

    /// The identity of a trial; `case` is the key of its case.
    pub fn identity(&self, key: TrialKey, case: &str) -> TrialId {
        self.id(&self.targets[key.target as usize].key, key, case)
    }

    /// What a trial's random numbers start from: its identity, without the parts that must not
    /// matter to them.
    pub fn stream_seed(&self, key: TrialKey, case: &str) -> u64 {
        let target = &self.targets[key.target as usize].key;
        match disturb(self.fault(key)).facts().seed_scope {
            SeedScope::Case => self.id("", key, case).seed(),
            SeedScope::TargetAndCase => self.id(target, key, case).seed(),
            SeedScope::Target => self.id(target, key, "").seed(),
            SeedScope::Repeat => u64::from(key.repeat),
        }
    }

    /// The seed and the repeat of a trial.
    pub(crate) fn trial_seed(&self, key: TrialKey, case: &str) -> TrialSeed {
        TrialSeed { seed: self.stream_seed(key, case), repeat: key.repeat }
    }

    fn id(&self, target: &str, key: TrialKey, case: &str) -> TrialId {
        TrialId::of(&[
            target.as_bytes(),
            case.as_bytes(),
            self.specs[key.fault as usize].as_bytes(),
            &self.campaign.seed.to_le_bytes(),
            &key.repeat.to_le_bytes(),
        ])
    }

    /// The fault of a trial.
    pub fn fault(&self, key: TrialKey) -> &FaultPoint {
        &self.campaign.faults[key.fault as usize]
    }

    /// The digest of the object pool, where the fault takes objects from it.
    pub(crate) fn objects_of(&self, fault: &FaultPoint) -> Option<&str> {
        self.context.object_pool.digest().filter(|_| disturb(fault).facts().needs_objects)
    }
}

/// The names of the faults that change images in a way that people may tolerate.
fn image_faults(faults: &[FaultPoint]) -> Vec<&'static str> {
    let on_image = faults.iter().filter(|fault| disturb(fault).facts().disturbs == FaultOn::Image);
    on_image.map(|fault| fault.name).collect()
}

/// The names of all classes of the data set and of the models.
fn known_classes(cases: &Cases, targets: &[OpenTarget]) -> BTreeSet<String> {
    let mut known: BTreeSet<String> = cases.set.classes.iter().cloned().collect();
    for white_box in targets.iter().filter_map(OpenTarget::white_box) {
        let labels = &white_box.target.description().labels;
        known.extend((0..labels.len()).map(|class| labels.name(class)));
    }
    known
}
