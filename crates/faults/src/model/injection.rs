//! A fault and where it lands, together: what a campaign injects.

use super::ModelFault;
use super::anatomy::Anatomy;
use super::placement::{Placement, SitePlan, pick};
use super::selection::{Part, Selection};
use super::sites::{SiteValue, Sites, elements, is_data};
use faultlens_core::{DType, Dose, Plugin, SettingError, Settings, Stream};
use faultlens_engine::{Change, Edit, Golden, ValueId};
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// A fault with all that says where and how often it lands.
pub struct Injection {
    pub(super) placement: Placement,
    pub(super) fault: Box<dyn ModelFault>,
}

/// What one trial does to a golden run.
#[derive(Debug, Clone, PartialEq)]
pub struct Strike {
    /// The changes, in the order of execution; none where every rate spared its operator.
    pub changes: Vec<Change>,
    /// How much the trial counts: 1, but where some places are hit more often than they should.
    pub weight: f64,
}

/// An element whose bits are searched.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The value.
    pub value: ValueId,
    /// Which of its elements.
    pub element: usize,
    /// The bits that may be flipped, rising.
    pub bits: Vec<u32>,
}

/// Why a fault has nowhere to land.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SiteError {
    /// Nothing is selected.
    #[error("nothing in the model is selected; name other operators, values or layers")]
    Empty,
    /// All that is selected only steers the run.
    #[error(
        "what is selected only feeds shapes, indices and limits, which faults leave out; choose \
         other values, or set control_values: include"
    )]
    Control,
    /// No layer has such a number.
    #[error("no layer has a number in {layers}; the model's go from 0 to {last}")]
    Layer {
        /// What is asked for.
        layers: String,
        /// The last layer's number.
        last: u32,
    },
    /// There are no weights.
    #[error("the model has no weights; choose in: outputs or in: inputs")]
    NoWeights,
    /// No selected element has such a bit.
    #[error("{what}: what is selected is {types}")]
    Beyond {
        /// What is asked for.
        what: String,
        /// What there is.
        types: String,
    },
    /// The places cannot be listed.
    #[error("sites: {plan} cannot be used here: the fault {why}")]
    Unlisted {
        /// The plan.
        plan: &'static str,
        /// The reason.
        why: &'static str,
    },
}

impl Injection {
    /// A registry's fault from complete settings.
    pub fn build(
        plugin: &Plugin<dyn ModelFault>,
        settings: &Settings,
    ) -> Result<Self, SettingError> {
        let placement = Placement::set_in(settings)?;
        let fault = (plugin.build)(settings)?;
        if fault.is_weighted() && !placement.draws_one_element() {
            let what = "bit_weights need trials of one drawn element: leave out mode, amount, share, \
                        pattern and sites";
            return Err(SettingError(what.to_owned()));
        }
        let unlisted = match placement.plan {
            SitePlan::Exhaustive if fault.listed(DType::F32).is_none() => {
                SiteError::Unlisted { plan: "exhaustive", why: "draws its numbers" }
            }
            SitePlan::Boundary if !fault.flips_one_bit() => {
                SiteError::Unlisted { plan: "boundary", why: "flips no single bit" }
            }
            _ => return Ok(Self { placement, fault }),
        };
        Err(SettingError(unlisted.to_string()))
    }

    /// Which values it may land in.
    pub fn selection(&self) -> &Selection {
        &self.placement.selection
    }

    /// How the places of its trials come about.
    pub fn plan(&self) -> SitePlan {
        self.placement.plan
    }

    /// Whether trials of one number are the same fault for every case.
    pub fn is_permanent(&self) -> bool {
        self.placement.permanent
    }

    /// Whether trials count differently.
    pub fn is_weighted(&self) -> bool {
        self.placement.is_weighted() || self.fault.is_weighted()
    }

    /// How much of the fault the model meets, on every axis that has a meaning here; the first is
    /// what a curve is drawn over, unless another one is swept.
    pub fn doses(&self) -> impl Iterator<Item = Dose> {
        self.placement.doses().chain(self.fault.dose())
    }

    /// How many places an exhaustive plan has.
    pub fn population(&self, sites: &Sites<'_>) -> u64 {
        let mut places = 0;
        for value in &sites.values {
            let edits = self.fault.listed(value.dtype).map_or(0, |edits| edits.len());
            places += value.elements as u64 * edits as u64;
        }
        places
    }

    /// The place of that number in an exhaustive plan.
    pub fn at(&self, sites: &Sites<'_>, mut index: u64) -> Option<Strike> {
        for value in &sites.values {
            let edits = self.fault.listed(value.dtype)?;
            let places = value.elements as u64 * edits.len() as u64;
            if index < places {
                let element = (index / edits.len() as u64) as usize;
                let edit = *edits.get((index % edits.len() as u64) as usize)?;
                let changes = vec![Change { value: value.id, element, edit }];
                return Some(Strike { changes, weight: 1.0 });
            }
            index -= places;
        }
        None
    }

    /// What a trial does; the same numbers drawn do the same. `None` where there is no site.
    pub fn draw(&self, sites: &Sites<'_>, stream: &mut Stream) -> Option<Strike> {
        if sites.groups.is_empty() {
            return None;
        }
        let mut changes = Vec::new();
        let mut weight = 1.0;
        for group in &sites.groups {
            if group.rate < 1.0 && !stream.chance(group.rate) {
                continue;
            }
            let (unit, counts) = pick(&group.units, stream)?;
            weight *= counts;
            let (value, element) = sites.draw(unit, stream)?;
            for element in self.placement.spread(sites, value, element, stream) {
                let edit = self.fault.edit(&sites.element(value), stream);
                weight *= self.fault.weight(edit, sites.values[value].dtype);
                changes.push(Change { value: sites.values[value].id, element, edit });
            }
        }
        Some(Strike { changes, weight })
    }

    /// An element whose bits are to be searched; `None` where there is no site.
    pub fn candidate(&self, sites: &Sites<'_>, stream: &mut Stream) -> Option<Candidate> {
        let group = sites.groups.first()?;
        let (unit, _) = pick(&group.units, stream)?;
        let (value, element) = sites.draw(unit, stream)?;
        let site = &sites.values[value];
        let mut bits = Vec::new();
        for edit in self.fault.listed(site.dtype)? {
            if let Edit::Flip(mask) = edit {
                bits.push(mask.trailing_zeros());
            }
        }
        Some(Candidate { value: site.id, element, bits })
    }
}

impl<'g> Sites<'g> {
    /// The sites of a golden run on a batch of `images` copies of one image. Only the first one's
    /// answer is read, so that faults in what is computed land in its share of each value.
    pub fn new(
        golden: &'g Golden<'g>,
        anatomy: &Anatomy,
        injection: &Injection,
        images: usize,
    ) -> Self {
        let graph = golden.model().graph();
        let selection = &injection.placement.selection;
        let stored = selection.part == Part::Weights;
        let mut values = Vec::new();
        for (operator, id) in selection.values(graph, anatomy) {
            let Some(dtype) = golden.dtype(id) else { continue };
            let Some(elements) = elements(golden, id, if stored { 1 } else { images }) else {
                continue;
            };
            if selection.leaves_out(graph, anatomy, operator, id) {
                continue;
            }
            if injection.fault.fits(dtype) && is_data(graph, id, dtype) {
                let layer = anatomy.layer(operator);
                let range = OnceCell::new();
                values.push(SiteValue { id, operator, layer, dtype, elements, range });
            }
        }
        let mut sites = Self { golden, values, stored, groups: Vec::new() };
        sites.groups = injection.placement.groups(&sites, graph);
        sites
    }
}

/// Checks that a fault has somewhere to land in a golden run.
pub fn check(
    golden: &Golden<'_>,
    anatomy: &Anatomy,
    injection: &Injection,
) -> Result<(), SiteError> {
    let graph = golden.model().graph();
    let part = injection.placement.selection.part;
    let selected = injection.placement.selection.values(graph, anatomy);
    if let Some(layers) = injection.placement.selection.layer_beyond(anatomy) {
        return Err(SiteError::Layer { layers, last: anatomy.last() });
    }
    if part == Part::Weights && graph.initializers().next().is_none() {
        return Err(SiteError::NoWeights);
    }
    let mut dtypes: BTreeSet<DType> = BTreeSet::new();
    let mut left_out = 0;
    for (operator, id) in selected {
        if let Some(dtype) = golden.dtype(id)
            && elements(golden, id, 1).is_some()
            && is_data(graph, id, dtype)
        {
            if injection.placement.selection.leaves_out(graph, anatomy, operator, id) {
                left_out += 1;
            } else {
                dtypes.insert(dtype);
            }
        }
    }
    if dtypes.is_empty() && left_out > 0 {
        return Err(SiteError::Control);
    }
    if dtypes.is_empty() {
        return Err(SiteError::Empty);
    }
    match injection.fault.misfit() {
        Some(what) if !dtypes.iter().any(|&dtype| injection.fault.fits(dtype)) => {
            let list = dtypes
                .iter()
                .map(|dtype| format!("{} (bits 0 to {})", dtype.name(), dtype.bit_width() - 1));
            Err(SiteError::Beyond { what, types: list.collect::<Vec<_>>().join(", ") })
        }
        _ => Ok(()),
    }
}
