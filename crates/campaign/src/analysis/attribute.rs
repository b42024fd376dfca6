//! What a trial can be grouped by: everything that is recorded of it, of its case and its fault.

use super::error::AnalysisError;
use crate::config::Campaign;
use crate::record::{GoldenRecord, Record};
use crate::store::{CaseRecord, FaultOn, Manifest, Recorded, Store, StoreError};
use faultlens_core::OutcomeKind;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What is always there to group by, with its meaning.
pub const ATTRIBUTES: &[(&str, &str)] = &[
    ("answer", "the answer under the fault"),
    ("bit", "the bit that a model fault changed, where it was a single one"),
    ("case", "the case's name"),
    ("fault", "the fault's name"),
    ("golden", "the undisturbed answer"),
    ("kind", "the kind of operator that a model fault hit"),
    ("label", "the case's true class"),
    ("layer", "the hit operator's place in the order of execution"),
    ("operator", "the operator that a model fault hit"),
    ("outcome", "what became of the trial"),
    ("point", "the fault with its settings"),
    ("target", "the target's name"),
    ("value", "the value inside the model that was hit"),
];

/// What only a fault inside a model has.
const OF_SITES: [&str; 5] = ["bit", "kind", "layer", "operator", "value"];

/// What records refer to.
pub(super) struct Context {
    pub(super) manifest: Manifest,
    cases: BTreeMap<u32, CaseRecord>,
    goldens: BTreeMap<(u32, u32), GoldenRecord>,
}

impl Context {
    pub(super) fn new(store: &Store) -> Result<Self, StoreError> {
        let cases = store.cases()?.into_iter().map(|case| (case.case, case)).collect();
        let goldens = store.goldens()?.into_iter();
        let goldens = goldens.map(|golden| ((golden.target, golden.case), golden)).collect();
        Ok(Self { manifest: store.manifest().clone(), cases, goldens })
    }

    /// The run's campaign, as it was run.
    pub(super) fn campaign(&self, store: &Store) -> Result<Campaign, AnalysisError> {
        let base = Path::new(&self.manifest.base).join("campaign.yaml");
        Ok(Campaign::parse(&store.campaign_yaml()?, &base)?)
    }

    /// Whether the run is the whole campaign: nothing is left to do, here or in other shards.
    pub(super) fn is_whole(&self, progress: &Recorded) -> bool {
        progress.complete && self.manifest.shard.is_none()
    }

    pub(super) fn case(&self, number: u32) -> Option<&CaseRecord> {
        self.cases.get(&number)
    }

    pub(super) fn cases(&self) -> impl Iterator<Item = &CaseRecord> {
        self.cases.values()
    }

    pub(super) fn goldens(&self) -> impl Iterator<Item = &GoldenRecord> {
        self.goldens.values()
    }

    /// The true class of a trial's case: where the data set has a number for it, also the name
    /// that the target has for that.
    pub(super) fn truth(&self, record: &Record) -> Option<String> {
        let label = self.case(record.case)?.label.as_ref()?;
        let classes = &self.manifest.targets.get(record.target as usize)?.classes;
        let name = label.parse::<usize>().ok().and_then(|number| classes.get(number));
        Some(match name {
            Some(name) if name != label => format!("{label}, {name}"),
            _ => label.clone(),
        })
    }

    /// Names of the groups that cases belong to, such as `light`.
    pub(super) fn strata(&self) -> BTreeSet<&str> {
        self.cases().flat_map(|case| case.strata.keys()).map(String::as_str).collect()
    }

    /// What the doses of the campaign's faults are measured on.
    pub(super) fn axes(&self) -> BTreeSet<&str> {
        self.manifest.faults.iter().filter_map(|fault| fault.axis.as_deref()).collect()
    }

    /// A trial's attribute; `None` where it has none of that name.
    pub(super) fn attribute<'a>(&'a self, record: &'a Record, name: &str) -> Option<Cow<'a, str>> {
        let fault = self.manifest.faults.get(record.fault as usize);
        let place = record.site.as_ref().map(|site| &*site.place);
        let number = |n: u64| Cow::Owned(n.to_string());
        match name {
            "answer" => record.answer.as_deref().map(Cow::Borrowed),
            "bit" => record.site.as_ref()?.bit.map(|bit| number(u64::from(bit))),
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
            "target" => {
                let target = self.manifest.targets.get(record.target as usize);
                target.map(|target| target.name.as_str().into())
            }
            "value" => place.map(|place| place.value.as_str().into()),
            other => self.other(record, other),
        }
    }

    /// A dose, a stratum, or what a plug-in recorded besides.
    fn other<'a>(&'a self, record: &'a Record, name: &str) -> Option<Cow<'a, str>> {
        let fault = self.manifest.faults.get(record.fault as usize)?;
        if fault.axis.as_deref() == Some(name) {
            return fault.amount.map(|amount| Cow::Owned(amount.to_string()));
        }
        let stratum = self.case(record.case).and_then(|case| case.strata.get(name));
        stratum.or_else(|| record.extra.get(name)).map(|text| text.as_str().into())
    }

    /// Every name that some trial can have, but for what plug-ins recorded besides.
    pub(super) fn names(&self) -> BTreeSet<&str> {
        let fixed = ATTRIBUTES.iter().map(|(name, _)| *name);
        fixed.chain(self.strata()).chain(self.axes()).collect()
    }

    /// Whether all trials of a case, or of a case and target, have the same of it.
    pub(super) fn is_of_cases(&self, name: &str) -> bool {
        let is_fixed = ATTRIBUTES.iter().any(|(fixed, _)| *fixed == name);
        match name {
            "case" | "golden" | "label" => true,
            other => !is_fixed && self.strata().contains(other) && !self.axes().contains(other),
        }
    }

    /// Whether some trial of the run can have an attribute of that name; `extra` is what plug-ins
    /// recorded besides, and `whole` says that every case and trial is on record.
    pub(super) fn can_have(&self, name: &str, extra: &BTreeSet<String>, whole: bool) -> bool {
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
    pub(super) fn values(&self, name: &str, whole: bool) -> Option<BTreeSet<Cow<'_, str>>> {
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

    /// Everything that a dose or a stratum can be.
    fn other_values(&self, name: &str, whole: bool) -> Option<BTreeSet<Cow<'_, str>>> {
        let (is_stratum, is_axis) = (self.strata().contains(name), self.axes().contains(name));
        // A dose alone is known from the start, a stratum when every case is.
        if is_stratum && !whole || !is_stratum && !is_axis {
            return None;
        }
        let doses = self.manifest.faults.iter().filter(|f| f.axis.as_deref() == Some(name));
        let doses = doses.filter_map(|fault| fault.amount).map(|dose| dose.to_string().into());
        let strata = self.cases().filter_map(|case| case.strata.get(name));
        Some(doses.chain(strata.map(|text| text.as_str().into())).collect())
    }
}
