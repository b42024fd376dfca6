//! One picture's golden run, disturbed bit by bit.

use faultlens::engine::vision::{Labels, OutputDescription};
use faultlens::engine::{Change, Golden, Graph, ValueId};
use faultlens::{Ranking, Tensor};
use serde::Serialize;

use crate::command::score::{Place, Score, places};

/// Where a fault lands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Site {
    pub(super) value: ValueId,
    pub(super) element: usize,
    pub(super) bit: u32,
}

/// What became of a fault, seen from the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Outcome {
    /// The same answer.
    Masked,
    /// Another answer, and nothing shows that it is wrong.
    Deviated,
    /// An output that is no finite number gives the fault away.
    Detected,
}

/// One trial, told in full.
#[derive(Serialize)]
pub(super) struct Story {
    pub(super) operator: String,
    pub(super) value: String,
    pub(super) element: usize,
    pub(super) bit: u32,
    pub(super) before: Score,
    pub(super) after: Score,
    pub(super) outcome: Outcome,
    pub(super) golden: Vec<Place>,
    pub(super) observed: Vec<Place>,
}

/// The golden run of one picture, and how to read its answer.
pub(super) struct Bench<'a> {
    golden: Golden<'a>,
    output: OutputDescription,
    labels: &'a Labels,
    answer: Ranking,
}

impl<'a> Bench<'a> {
    pub(super) fn new(
        golden: Golden<'a>,
        output: OutputDescription,
        labels: &'a Labels,
    ) -> anyhow::Result<Self> {
        let answer = output.ranking(&golden.outputs()[0], 0, labels)?;
        Ok(Self { golden, output, labels, answer })
    }

    pub(super) fn graph(&self) -> &Graph {
        self.golden.model().graph()
    }

    /// How many elements a value has.
    pub(super) fn elements(&self, value: ValueId) -> usize {
        self.golden.shape(value).map_or(0, |shape| shape.iter().product())
    }

    /// Injects the fault and says what became of it.
    pub(super) fn outcome(&self, site: Site) -> anyhow::Result<Outcome> {
        let replay = self.golden.replay(&[self.flip(site)?])?;
        self.judge(&replay.outputs()[0])
    }

    /// Injects the fault and tells everything about it.
    pub(super) fn story(&self, site: Site) -> anyhow::Result<Story> {
        let change = self.flip(site)?;
        let replay = self.golden.replay(&[change])?;
        let observed = self.output.ranking(&replay.outputs()[0], 0, self.labels)?;
        let graph = self.graph();
        let number = |bits: u64| Score(f32::from_bits(bits as u32));
        let reader = graph.consumers(site.value).first().copied();
        let operator = graph.producer(site.value).or(reader);
        Ok(Story {
            operator: operator.map(|id| graph.operator(id).name.clone()).unwrap_or_default(),
            value: graph.value_name(site.value).to_owned(),
            element: site.element,
            bit: site.bit,
            before: number(self.golden.bits(site.value, site.element).unwrap_or_default()),
            after: number(change.bits),
            outcome: self.judge(&replay.outputs()[0])?,
            golden: places(&self.answer),
            observed: places(&observed),
        })
    }

    fn flip(&self, site: Site) -> anyhow::Result<Change> {
        Ok(Change::flip(&self.golden, site.value, site.element, site.bit)?)
    }

    fn judge(&self, output: &Tensor) -> anyhow::Result<Outcome> {
        let scores = self.output.scores(output, 0)?;
        if scores.iter().any(|score| !score.is_finite()) {
            return Ok(Outcome::Detected);
        }
        let observed = Ranking::from_scores(&scores, |class| self.labels.name(class));
        let top = |ranking: &Ranking| ranking.top().map(|place| place.index);
        let same = top(&observed) == top(&self.answer);
        Ok(if same { Outcome::Masked } else { Outcome::Deviated })
    }
}
