//! A fault and where it lands, together: what a campaign injects.

use super::placement::{Placement, SitePlan, pick};
use super::selection::Selection;
use super::{ModelFault, Sites};
use faultlens_core::{Dose, Plugin, SettingError, Settings, Stream};
use faultlens_engine::{Change, Edit, ValueId};

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
        let listable = fault.listed(faultlens_core::DType::F32).is_some();
        let wrong = |plan, why| Err(SettingError(SiteError::Unlisted { plan, why }.to_string()));
        if fault.is_weighted() && !placement.draws_one_element() {
            let what = "bit_weights need trials of one drawn element: leave out mode, amount, share, \
                        pattern and sites";
            return Err(SettingError(what.to_owned()));
        }
        match placement.plan {
            SitePlan::Exhaustive if !listable => wrong("exhaustive", "draws its numbers"),
            SitePlan::Boundary if !fault.flips_one_bit() => {
                wrong("boundary", "flips no single bit")
            }
            _ => Ok(Self { placement, fault }),
        }
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
        let ways = |dtype| self.fault.listed(dtype).map_or(0, |edits| edits.len() as u64);
        sites.values.iter().map(|value| value.elements as u64 * ways(value.dtype)).sum()
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
        let (mut changes, mut weight) = (Vec::new(), 1.0);
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
        let bit = |edit: Edit| match edit {
            Edit::Flip(mask) => Some(mask.trailing_zeros()),
            _ => None,
        };
        let bits = self.fault.listed(site.dtype)?.into_iter().filter_map(bit).collect();
        Some(Candidate { value: site.id, element, bits })
    }
}
