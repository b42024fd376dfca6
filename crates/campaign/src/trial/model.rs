//! Model faults: what a model computes is changed at sites of its golden run, and only what the
//! change reaches is computed again.

use super::{Disturb, Facts, Probe, SeedScope, Trial, TrialSeed, Unfit, boundary};
use crate::clock::micros;
use crate::golden_case::{GoldenCase, SiteHit};
use crate::observation::Observation;
use crate::target::OpenTarget;
use faultlens_core::{Reason, Seed};
use faultlens_faults::{Injection, SitePlan, Sites, Strike, check};
use faultlens_record::store::FaultOn;
use faultlens_record::{Cost, Measures};
use std::time::{Duration, Instant};

/// How many trials inside a model run together: they share the streaming of weights.
pub const STACK: usize = 32;

/// The most sites of an exhaustive plan, for one case: each has a record.
const MAX_SITES: u64 = 10_000_000;

impl Disturb for Injection {
    fn facts(&self) -> Facts<'_> {
        let seed_scope = match self.plan() {
            SitePlan::Exhaustive => SeedScope::Repeat,
            _ if self.is_permanent() => SeedScope::Target,
            _ => SeedScope::TargetAndCase,
        };
        Facts {
            shows_no_image: Some(
                "faults inside a model change no image; replay shows both answers",
            ),
            injection: Some(self),
            ..Facts::new(FaultOn::Model, seed_scope)
        }
    }

    fn check(&self, target: &OpenTarget) -> Result<(), Unfit> {
        let Some(white_box) = target.white_box() else {
            return Err(Unfit::Target(format!(
                "it is {}, and faults reach into models alone; give it a campaign of its own with \
                 faults in images",
                target.kind()
            )));
        };
        match self.selection().unknown_in(white_box.target.model().graph()) {
            Some((wanted, hint)) => Err(Unfit::Selection { wanted: wanted.to_owned(), hint }),
            None => Ok(()),
        }
    }

    fn trials(&self, planned: u32, probe: &Probe<'_>) -> Result<u32, String> {
        let Some(white_box) = probe.target.white_box() else { return Ok(planned) };
        if let Some(golden) = probe.golden() {
            check(golden, &white_box.anatomy, self).map_err(|error| error.to_string())?;
        }
        if probe.has_stop_rule {
            check_stop_rule(self)?;
        }
        if self.plan() != SitePlan::Exhaustive {
            return Ok(planned);
        }
        let Some(golden) = probe.golden() else {
            return Err("the target answers no case, so that its places are unknown".to_owned());
        };
        let sites = Sites::new(golden, &white_box.anatomy, self, white_box.target.batch());
        let all = self.population(&sites);
        if all > MAX_SITES {
            return Err(format!(
                "sites: exhaustive would have {all} places for every case; select less, up to \
                 {MAX_SITES}"
            ));
        }
        Ok(all as u32)
    }

    fn run(&self, trial: &mut Trial<'_>) -> Observation {
        let mut observation = None;
        run_stack(self, trial.golden, &[trial.seed.seed], &mut |one| observation = Some(one));
        let observation = observation.unwrap_or_else(|| Observation::skipped(Reason::NoSite));
        trial.count_queries(u64::from(observation.cost.queries));
        observation
    }

    fn run_batch(
        &self,
        golden: &GoldenCase<'_>,
        _fault: &'static str,
        seeds: &[TrialSeed],
        each: &mut dyn FnMut(Observation),
    ) {
        let seeds: Vec<u64> = seeds.iter().map(|seed| seed.seed).collect();
        run_stack(self, golden, &seeds, each);
    }
}

/// Runs trials in stacks: the golden run is replayed once for all changes of a stack, which costs
/// less than one replay each because every weight is read once.
fn run_stack(
    injection: &Injection,
    golden: &GoldenCase<'_>,
    seeds: &[u64],
    each: &mut dyn FnMut(Observation),
) {
    let Ok((white_box, run)) = golden.white_box() else { return };
    let sites = Sites::new(run, &white_box.anatomy, injection, white_box.target.batch());
    for stack in seeds.chunks(STACK) {
        if injection.plan() == SitePlan::Boundary {
            boundary::search(golden, injection, &sites, stack, each);
            continue;
        }
        let start = Instant::now();
        let mut strikes = Vec::with_capacity(stack.len());
        let mut changes = Vec::with_capacity(stack.len());
        for &seed in stack {
            let strike = strike(injection, &sites, seed);
            changes.push(strike.as_ref().map_or_else(Vec::new, |strike| strike.changes.clone()));
            strikes.push(strike);
        }
        let answers = golden.answers(&changes);
        let elapsed = start.elapsed();
        golden.context.clock.add(Duration::ZERO, elapsed);
        let micros = micros(elapsed) / stack.len() as u64;
        for (strike, answer) in strikes.into_iter().zip(answers) {
            let cost = Cost { queries: 1, micros };
            let answered = Observation { cost, ..Observation::answered(answer) };
            each(match &strike {
                Some(strike) => Observation {
                    site: strike.changes.first().and_then(|change| golden.site(change)),
                    measures: strike_measures(strike),
                    ..answered
                },
                None => Observation { skipped: Some(Reason::NoSite), ..answered },
            });
        }
    }
}

/// What the trial of this seed changes; `None` where there is no site. The seed of an exhaustive
/// plan is the number of the site.
pub fn strike(injection: &Injection, sites: &Sites<'_>, seed: u64) -> Option<Strike> {
    match injection.plan() {
        SitePlan::Exhaustive => injection.at(sites, seed),
        SitePlan::Random | SitePlan::Boundary => {
            injection.draw(sites, &mut Seed::new(seed).stream())
        }
    }
}

/// Every site that the trial of this seed hits. A search hits the one that its observation has.
pub(crate) fn sites_hit(
    injection: &Injection,
    golden: &GoldenCase<'_>,
    seed: u64,
    observation: &Observation,
) -> Vec<SiteHit> {
    if injection.plan() == SitePlan::Boundary {
        let own = observation.site.iter().cloned();
        return own.map(|site| SiteHit { site, reached: true }).collect();
    }
    let Ok((white_box, run)) = golden.white_box() else { return Vec::new() };
    let sites = Sites::new(run, &white_box.anatomy, injection, white_box.target.batch());
    strike(injection, &sites, seed).map_or_else(Vec::new, |strike| golden.sites(&strike.changes))
}

/// The number of changed elements and the importance-sampling weight, where they are not 1.
fn strike_measures(strike: &Strike) -> Measures {
    Measures {
        hits: (strike.changes.len() != 1).then_some(strike.changes.len() as u64),
        weight: (strike.weight != 1.0).then_some(strike.weight),
        ..Measures::default()
    }
}

/// Refuses trials that a stop rule cannot count: it takes them for independent and equally likely.
fn check_stop_rule(injection: &Injection) -> Result<(), String> {
    let why = match injection.plan() {
        _ if injection.is_weighted() => {
            "a stop rule looks at plain counts; leave out the weights, or stop"
        }
        _ if injection.is_permanent() => {
            "a stop rule takes trials for independent, and trials of a permanent fault are not; \
             leave out stop"
        }
        SitePlan::Boundary => {
            "a search is in no rate that a stop rule could look at; leave out stop"
        }
        SitePlan::Exhaustive => "sites: exhaustive has a trial for every place; leave out stop",
        SitePlan::Random => return Ok(()),
    };
    Err(why.to_owned())
}
