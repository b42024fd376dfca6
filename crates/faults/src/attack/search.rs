//! Searches that need nothing but costs: which there are, and how an attack runs one.

use super::cma::Adaptation;
use super::evolution::Evolution;
use super::step::count;
use super::{AttackSession, Halt, Reply};
use faultlens_core::{Parameter, ParameterKind, Setting, SettingError, Settings, Stream, Unset};

/// Which search is used.
pub(super) const SEARCH: Parameter = search("differential_evolution");

/// The same for attacks that move many values a little.
pub(super) const SEARCH_CMA: Parameter = search("cma_es");

const fn search(unset: &'static str) -> Parameter {
    Parameter {
        name: "search",
        about: "how the change is searched for: with differential evolution, or with CMA-ES",
        kind: ParameterKind::Choice(&["cma_es", "differential_evolution"]),
        unset: Unset::Is(Setting::Word(std::borrow::Cow::Borrowed(unset))),
    }
}

/// How long it searches.
pub(super) const GENERATIONS: Parameter = Parameter {
    name: "iterations",
    about: "how many generations the search goes on",
    kind: ParameterKind::Whole { min: 1, max: 100_000 },
    unset: Unset::Is(Setting::Number(100.0)),
};

/// How many candidates are asked about together.
pub(super) const POPULATION: Parameter = Parameter {
    name: "population",
    about: "how many images a generation has; where it is not set, 400 for differential \
            evolution, and as many as its authors advise for CMA-ES",
    kind: ParameterKind::Whole { min: 4, max: 10_000 },
    unset: Unset::Absent,
};

/// The values that are searched: where they may be, where to begin, and how widely to look there.
pub(super) struct Space {
    /// The least and the most of each value.
    pub(super) bounds: Vec<(f64, f64)>,
    /// Where to begin, for a search that begins somewhere.
    pub(super) start: Vec<f64>,
    /// How widely to look around the start.
    pub(super) width: f64,
}

/// A search by generations: candidates out, costs in.
pub(super) trait Generations {
    /// The next candidates, all within the bounds.
    fn propose(&mut self, stream: &mut Stream) -> Vec<Vec<f64>>;

    /// What they cost, in their order.
    fn learn(&mut self, costs: &[f64]);
}

/// Makes a point of an image and the values of a candidate.
type Painter<'a> = &'a dyn Fn(&[f32], &[f64]) -> Vec<f32>;

/// A search as an attack's settings describe it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Search {
    adapts: bool,
    pub(super) generations: usize,
    population: Option<usize>,
}

impl Search {
    pub(super) fn of(settings: &Settings) -> Result<Self, SettingError> {
        let population = settings.number_if_set(POPULATION.name).map(|number| number as usize);
        let adapts = settings.word(SEARCH.name)? == "cma_es";
        Ok(Self { adapts, generations: count(settings, GENERATIONS.name)?, population })
    }

    /// Searches a space for a sample until its answer changes.
    pub(super) fn run(
        &self,
        hunt: &mut AttackSession<'_>,
        sample: usize,
        space: Space,
        image: Painter<'_>,
    ) -> Result<(), Halt> {
        let mut search: Box<dyn Generations> = if self.adapts {
            Box::new(Adaptation::new(space, self.population))
        } else {
            Box::new(Evolution::new(space, self.population))
        };
        for _ in 0..self.generations {
            let candidates = search.propose(hunt.stream(sample));
            let affords = hunt.affords(sample);
            let start = hunt.start(sample);
            let mut points: Vec<Vec<f32>> =
                candidates.iter().take(affords).map(|values| image(start, values)).collect();
            points.iter_mut().for_each(|point| hunt.confine(sample, point));
            let asked: Vec<(usize, &[f32])> =
                points.iter().map(|point| (sample, point.as_slice())).collect();
            let costs: Vec<f64> = hunt.ask(&asked)?.iter().map(cost).collect();
            if hunt.is_found(sample) || costs.len() < candidates.len() {
                break;
            }
            search.learn(&costs);
        }
        Ok(())
    }
}

/// How far an answer is from what is wanted. The margin orders answers as the belief does, but
/// does not stand still where a model is very sure.
pub(super) fn cost(reply: &Reply) -> f64 {
    let known = reply.margin.or(reply.resistance).filter(|cost| !cost.is_nan());
    known.unwrap_or(if reply.changed { 0.0 } else { f64::MAX })
}
