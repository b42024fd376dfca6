//! What records refer to (cases, clean predictions, faults, targets), and the attributes of a trial
//! that can be grouped and filtered by.

use crate::error::AnalysisError;
use crate::estimate::Scope;
use crate::family::Family;
use faultlens_core::OutcomeKind;
use faultlens_record::store::{
    CaseRecord, FaultOn, Manifest, ManifestFault, Recorded, Store, StoreError,
};
use faultlens_record::{GoldenRecord, Record, Site};
use faultlens_spec::ATTRIBUTES;
use faultlens_spec::{Campaign, FaultPoint, JudgeSpec};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Attributes of the location of a fault inside a model, known where it hits a single one.
const OF_SITES: [&str; 6] = ["bit", "kind", "layer", "operator", "position", "value"];

/// Attributes of the prediction: how many trials have them is chance.
const OF_ANSWERS: [&str; 2] = ["answer", "outcome"];

/// What records refer to.
pub(crate) struct Context {
    pub(crate) manifest: Manifest,
    cases: BTreeMap<u32, CaseRecord>,
    goldens: BTreeMap<(u32, u32), GoldenRecord>,
    /// By fault.
    locations: Vec<Locations>,
    /// By fault, whether it stays for all cases.
    permanent: Vec<bool>,
    /// By fault, whether a repeat could end differently.
    draws: Vec<bool>,
    /// The stratum that tells which cases count as one.
    cluster: Option<String>,
}

/// How many locations a trial of a fault point hits, which decides what its record means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Locations {
    /// One location, which the record names.
    One,
    /// Several locations; the record names the first, which stands for none of the others.
    Several,
    /// The trial searches an element for the bits that change the prediction, and is no trial of a
    /// single fault.
    Search,
}

impl Locations {
    fn of(fault: &ManifestFault) -> Self {
        if is_set(fault, "sites", "boundary") {
            Self::Search
        } else if fault.settings.contains_key("mode") && !is_set(fault, "mode", "one") {
            Self::Several
        } else {
            Self::One
        }
    }
}

fn is_set(fault: &ManifestFault, name: &str, word: &str) -> bool {
    fault.settings.get(name).is_some_and(|setting| setting.as_str() == Some(word))
}

impl Context {
    pub(crate) fn new(store: &Store) -> Result<Self, StoreError> {
        let cases = store.cases()?.into_iter().map(|case| (case.case, case)).collect();
        let goldens = store.goldens()?.into_iter();
        let goldens = goldens.map(|golden| ((golden.target, golden.case), golden)).collect();
        let manifest = store.manifest().clone();
        let locations = manifest.faults.iter().map(Locations::of).collect();
        let mut permanent = Vec::new();
        for fault in &manifest.faults {
            permanent.push(is_set(fault, "duration", "permanent"));
        }
        let draws = vec![true; manifest.faults.len()];
        Ok(Self { manifest, cases, goldens, locations, permanent, draws, cluster: None })
    }

    fn locations(&self, fault: u32) -> Locations {
        self.locations.get(fault as usize).copied().unwrap_or(Locations::One)
    }

    /// The target of that number, with its name.
    pub(crate) fn target_name(&self, target: u32) -> &str {
        self.manifest.targets.get(target as usize).map_or("", |target| &target.name)
    }

    /// How often a target's clean predictions are right, and how many of them have a known truth.
    pub(crate) fn clean_accuracy(&self, target: u32) -> (u64, u64) {
        let mut right = 0;
        let mut n = 0;
        for golden in self.goldens().filter(|golden| golden.target == target) {
            if let Some(correct) = golden.correct {
                right += u64::from(correct);
                n += 1;
            }
        }
        (right, n)
    }

    /// Whether a fault's trials are searches: "some bit changes it" is no outcome of a single
    /// fault, and belongs to no rate of such outcomes.
    pub(crate) fn is_search(&self, fault: u32) -> bool {
        self.locations(fault) == Locations::Search
    }

    /// Whether every case meets the same faults of a fault point.
    pub(crate) fn is_permanent(&self, fault: u32) -> bool {
        self.permanent.get(fault as usize).copied().unwrap_or(false)
    }

    /// What a fault disturbs.
    pub(crate) fn family(&self, fault: u32) -> Option<Family> {
        self.manifest.faults.get(fault as usize).map(|fault| fault.on.into())
    }

    /// What the campaign's faults disturb; searches are in no rate.
    pub(crate) fn families(&self) -> BTreeSet<Family> {
        let faults = (0..).zip(&self.manifest.faults);
        faults.filter(|(at, _)| !self.is_search(*at)).map(|(_, fault)| fault.on.into()).collect()
    }

    /// Whether a repeat of a fault's trial could end differently.
    pub(crate) fn draws(&self, fault: u32) -> bool {
        self.draws.get(fault as usize).copied().unwrap_or(true)
    }

    /// A number for the image of a case, or for the group of images that count as one with it.
    pub(crate) fn image(&self, case: u32) -> u64 {
        self.case(case).map_or(u64::from(case), |case| case.cluster(self.cluster.as_deref()))
    }

    /// How many images, or groups of images that count as one, have clean predictions; all cases
    /// where none is on record yet.
    pub(crate) fn images(&self) -> u64 {
        let shown: BTreeSet<u64> = self.goldens().map(|golden| self.image(golden.case)).collect();
        if shown.is_empty() { self.manifest.cases } else { shown.len() as u64 }
    }

    /// Whether any of the campaign's faults are permanent.
    pub(crate) fn has_permanent(&self) -> bool {
        self.permanent.contains(&true)
    }

    /// Whether some faults' trials measure more than outcomes: how far predictions moved, how
    /// natural scenes look.
    pub(crate) fn has_means(&self) -> bool {
        let mut faults = self.manifest.faults.iter();
        faults.any(|fault| matches!(fault.on, FaultOn::Image | FaultOn::Scene))
    }

    /// Whether any of the campaign's faults are searched for.
    pub(crate) fn has_searches(&self) -> bool {
        self.locations.contains(&Locations::Search)
    }

    /// Whether any of the campaign's faults hit several locations at once.
    pub(crate) fn has_several_locations(&self) -> bool {
        self.locations.contains(&Locations::Several)
    }

    /// The single location that a trial hit.
    pub(crate) fn single_site<'a>(&self, record: &'a Record) -> Option<&'a Site> {
        let single = self.locations(record.fault) != Locations::Several;
        record.site.as_ref().filter(|_| single)
    }

    /// Which trials have an attribute in common: all that could be drawn of some cases, targets
    /// and faults, or only those that were drawn at some location.
    pub(crate) fn scope(&self, attribute: &str) -> Scope {
        let drawn = OF_SITES.contains(&attribute) || OF_ANSWERS.contains(&attribute);
        if drawn || !self.names().contains(attribute) { Scope::Part } else { Scope::Whole }
    }

    /// The names of the traits that tell targets apart.
    pub(crate) fn traits(&self) -> BTreeSet<&str> {
        let targets = self.manifest.targets.iter();
        targets.flat_map(|target| target.traits.keys()).map(String::as_str).collect()
    }

    /// Names of settings of the campaign's faults.
    pub(crate) fn settings(&self) -> BTreeSet<&str> {
        let faults = self.manifest.faults.iter();
        faults.flat_map(|fault| fault.settings.keys()).map(String::as_str).collect()
    }

    /// How many values a setting has among the campaign's faults.
    pub(crate) fn choices(&self, setting: &str) -> usize {
        let faults = self.manifest.faults.iter();
        let values =
            faults.filter_map(|fault| fault.settings.get(setting)).filter_map(setting_text);
        values.collect::<BTreeSet<_>>().len()
    }

    /// The run's campaign, as it was run.
    pub(crate) fn campaign(&mut self, store: &Store) -> Result<Campaign, AnalysisError> {
        let text = store.campaign_yaml()?;
        if text.is_empty() {
            // A program put the campaign together: there is no file, and what it set is in the
            // manifest. No oracle is asked again, so that any stands for the program's own.
            let judge = JudgeSpec::named("same_top").map_err(AnalysisError::Oracle)?;
            return Ok(Campaign::empty(&self.manifest.name, judge));
        }
        let base = Path::new(&self.manifest.base).join("campaign.yaml");
        let campaign = Campaign::parse(&text, &base)?;
        // Earlier versions called some points otherwise.
        for (then, now) in self.manifest.faults.iter_mut().zip(&campaign.faults) {
            if then.spec == now.spec() {
                then.label.clone_from(&now.label);
            }
        }
        self.draws = campaign.faults.iter().map(FaultPoint::draws).collect();
        self.cluster.clone_from(&campaign.cluster);
        Ok(campaign)
    }

    /// Whether the run is the whole campaign: nothing is left to do, here or in other shards.
    pub(crate) fn is_whole(&self, progress: &Recorded) -> bool {
        progress.complete && self.manifest.shard.is_none()
    }

    /// Whether what is on record can decide, as far as it goes: other shards are not here, and a stop
    /// rule that still looks may stop elsewhere.
    pub(crate) fn can_decide(&self, progress: &Recorded) -> bool {
        self.manifest.shard.is_none() && (progress.complete || self.manifest.stop.is_none())
    }

    pub(crate) fn golden(&self, target: u32, case: u32) -> Option<&GoldenRecord> {
        self.goldens.get(&(target, case))
    }

    pub(crate) fn case(&self, number: u32) -> Option<&CaseRecord> {
        self.cases.get(&number)
    }

    pub(crate) fn cases(&self) -> impl Iterator<Item = &CaseRecord> {
        self.cases.values()
    }

    pub(crate) fn goldens(&self) -> impl Iterator<Item = &GoldenRecord> {
        self.goldens.values()
    }

    /// The true class of a trial's case: where the data set has a number for it, also the name
    /// that the target has for that.
    pub(crate) fn truth(&self, record: &Record) -> Option<String> {
        let label = self.case(record.case)?.label.as_ref()?;
        let classes = &self.manifest.targets.get(record.target as usize)?.classes;
        let name = label.parse::<usize>().ok().and_then(|number| classes.get(number));
        Some(match name {
            Some(name) if name != label => format!("{label}, {name}"),
            _ => label.clone(),
        })
    }

    /// Names of the groups that cases belong to, such as `light`.
    pub(crate) fn strata(&self) -> BTreeSet<&str> {
        self.cases().flat_map(|case| case.strata.keys()).map(String::as_str).collect()
    }

    /// The names of the campaign's faults in its order, each once.
    pub(crate) fn fault_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for fault in &self.manifest.faults {
            if !names.contains(&fault.name.as_str()) {
                names.push(&fault.name);
            }
        }
        names
    }

    /// What the doses of the campaign's faults are measured on.
    pub(crate) fn axes(&self) -> BTreeSet<&str> {
        self.manifest.faults.iter().filter_map(|fault| fault.axis.as_deref()).collect()
    }

    /// A trial's attribute; `None` where it has none of that name.
    pub(crate) fn attribute<'a>(&'a self, record: &'a Record, name: &str) -> Option<Cow<'a, str>> {
        let fault = self.manifest.faults.get(record.fault as usize);
        let site = self.single_site(record);
        let place = site.map(|site| &*site.place);
        let number = |n: u64| Cow::Owned(n.to_string());
        match name {
            "answer" => record.answer.as_deref().map(Cow::Borrowed),
            "bit" if record.measures.hits.is_some() => None,
            "bit" => site?.bit.map(|bit| number(u64::from(bit))),
            "case" => self.case(record.case).map(|case| case.name.as_str().into()),
            "fault" => fault.map(|fault| fault.name.as_str().into()),
            "golden" => self
                .goldens
                .get(&(record.target, record.case))?
                .answer
                .as_deref()
                .map(Cow::Borrowed),
            "kind" => place.map(|place| place.kind.as_str().into()),
            "label" => self.case(record.case)?.label.as_deref().map(Cow::Borrowed),
            "layer" => place.map(|place| number(u64::from(place.layer))),
            "operator" => place.map(|place| place.operator.as_str().into()),
            "outcome" => Some(record.outcome.kind().name().into()),
            "point" => fault.map(|fault| fault.label.as_str().into()),
            "position" => place.map(|place| number(u64::from(place.position))),
            "target" => {
                let target = self.manifest.targets.get(record.target as usize);
                target.map(|target| target.name.as_str().into())
            }
            "value" => place.map(|place| place.value.as_str().into()),
            other => self.other(record, other),
        }
    }

    /// A dose, a stratum, a trait, a measure, what a plug-in recorded besides, or a setting.
    fn other<'a>(&'a self, record: &'a Record, name: &str) -> Option<Cow<'a, str>> {
        let fault = self.manifest.faults.get(record.fault as usize)?;
        let target = self.manifest.targets.get(record.target as usize)?;
        if fault.axis.as_deref() == Some(name) {
            return fault.amount.map(|amount| Cow::Owned(amount.to_string()));
        }
        let stratum = self.case(record.case).and_then(|case| case.strata.get(name));
        if let Some(text) = stratum.or_else(|| target.traits.get(name)) {
            return Some(text.as_str().into());
        }
        record.field(name).or_else(|| fault.settings.get(name).and_then(setting_text))
    }

    /// Every name that some trial can have, but for what plug-ins recorded besides.
    pub(crate) fn names(&self) -> BTreeSet<&str> {
        let fixed = ATTRIBUTES.iter().map(|(name, _)| *name);
        let of_targets = self.traits().into_iter().chain(self.settings());
        fixed.chain(self.strata()).chain(self.axes()).chain(of_targets).collect()
    }

    /// Whether all trials of a case, or of a case and target, have the same of it.
    pub(crate) fn groups_cases(&self, name: &str) -> bool {
        let is_fixed = ATTRIBUTES.iter().any(|(fixed, _)| *fixed == name);
        match name {
            "case" | "golden" | "label" => true,
            other => !is_fixed && self.strata().contains(other) && !self.axes().contains(other),
        }
    }

    /// Whether some trial of the run can have an attribute of that name; `extra` is what plug-ins
    /// recorded besides, and `whole` says that every case and trial is on record.
    pub(crate) fn can_have(&self, name: &str, extra: &BTreeSet<String>, whole: bool) -> bool {
        let known = extra.contains(name) || self.names().contains(name);
        match name {
            site if OF_SITES.contains(&site) => {
                self.manifest.faults.iter().any(|fault| fault.on == FaultOn::Model)
            }
            "label" => !whole || self.cases().any(|case| case.label.is_some()),
            _ => known || !whole,
        }
    }

    /// Everything that an attribute can be in this run; `None` where only the trials know that.
    pub(crate) fn values(&self, name: &str, whole: bool) -> Option<BTreeSet<Cow<'_, str>>> {
        let faults = &self.manifest.faults;
        let text = |text: &String| Cow::Owned(text.clone());
        Some(match name {
            "target" => self.manifest.targets.iter().map(|target| text(&target.name)).collect(),
            "fault" => faults.iter().flat_map(|f| [text(&f.name), text(&f.label)]).collect(),
            "point" => faults.iter().map(|fault| text(&fault.label)).collect(),
            "outcome" => OutcomeKind::ALL.iter().map(|kind| kind.name().into()).collect(),
            "label" if whole => self.cases().filter_map(|c| c.label.as_ref()).map(text).collect(),
            "case" if whole => self.cases().map(|case| text(&case.name)).collect(),
            other if ATTRIBUTES.iter().any(|(fixed, _)| *fixed == other) => return None,
            other => return self.other_values(other, whole),
        })
    }

    /// Everything that a dose, a stratum, a trait or a setting can be.
    fn other_values(&self, name: &str, whole: bool) -> Option<BTreeSet<Cow<'_, str>>> {
        let is_stratum = self.strata().contains(name);
        let is_known = self.axes().contains(name)
            || self.traits().contains(name)
            || self.settings().contains(name);
        // What the campaign file says is known from the start, a stratum when every case is.
        if is_stratum && !whole || !is_stratum && !is_known {
            return None;
        }
        let doses = self.manifest.faults.iter().filter(|f| f.axis.as_deref() == Some(name));
        let doses = doses.filter_map(|fault| fault.amount).map(|dose| dose.to_string().into());
        let strata = self.cases().filter_map(|case| case.strata.get(name));
        let traits = self.manifest.targets.iter().filter_map(|target| target.traits.get(name));
        let texts = strata.chain(traits).map(|text| Cow::Borrowed(text.as_str()));
        let faults = self.manifest.faults.iter();
        let settings = faults.filter_map(|fault| fault.settings.get(name)).filter_map(setting_text);
        Some(doses.chain(texts).chain(settings).collect())
    }
}

/// A setting as text; `None` for lists and mappings.
pub(crate) fn setting_text(setting: &serde_json::Value) -> Option<Cow<'_, str>> {
    use serde_json::Value;
    match setting {
        Value::String(text) => Some(text.as_str().into()),
        // As doses are written: 5, not 5.0.
        Value::Number(number) => number.as_f64().map(|number| number.to_string().into()),
        Value::Bool(yes) => Some(yes.to_string().into()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
