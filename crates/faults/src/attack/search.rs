//! Searches that need nothing but costs: which there are, and how an attack runs one.

use super::cma::Adaptation;
use super::evolution::Evolution;
use super::generations::{Generations, Space};
use super::step::count;
use super::{AttackSession, Halt, Reply};
use faultlens_core::{Parameter, ParameterKind, Setting, SettingError, Settings, Unset};

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
    about: "number of generations",
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
        session: &mut AttackSession<'_>,
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
            let candidates = search.propose(session.stream(sample));
            let affords = session.affords(sample);
            let start = session.start(sample);
            let mut points: Vec<Vec<f32>> =
                candidates.iter().take(affords).map(|values| image(start, values)).collect();
            points.iter_mut().for_each(|point| session.confine(sample, point));
            let asked: Vec<(usize, &[f32])> =
                points.iter().map(|point| (sample, point.as_slice())).collect();
            let costs: Vec<f64> = session.ask(&asked)?.iter().map(cost).collect();
            if session.is_found(sample) || costs.len() < candidates.len() {
                break;
            }
            search.learn(&costs);
        }
        Ok(())
    }
}

/// How far an answer is from what is wanted. The margin orders answers as the confidence does, but
/// does not stand still where a model is very sure.
pub(super) fn cost(reply: &Reply) -> f64 {
    let known = reply.margin.or(reply.resistance).filter(|cost| !cost.is_nan());
    known.unwrap_or(if reply.changed { 0.0 } else { f64::MAX })
}
