//! One pass over the records.

use super::advice::advice;
use super::attacks::Attacks;
use super::attribute::Context;
use super::benefit::Benefits;
use super::check::{Check, overall, pinned};
use super::classes::classes;
use super::critical::Critical;
use super::curve::curves;
use super::detection::Detected;
use super::error::AnalysisError;
use super::fairness::Fair;
use super::findings::findings;
use super::gallery::galleries;
use super::group::Groups;
use super::places::Places;
use super::preserve::Preservations;
use super::repeats::Repeats;
use super::robustness::Errors;
use super::sample::Stake;
use super::scenes::Scenes;
use super::side_by_side::Sides;
use super::tally::{Counts, Of, Precision};
use super::text::{drifted, method, misled, provenance, unfair, warnings};
use super::thresholds::Thresholds;
use super::traits::traits;
use super::{Checked, Example, Grouping, Progress, SUMMARY_VERSION, Summary, TargetSummary, words};
use faultlens_core::{OutcomeKind, Seed};
use faultlens_record::Record;
use faultlens_record::Spending;
use faultlens_record::store::{ManifestTarget, Recorded, Store, StoreError};
use faultlens_spec::Campaign;
use faultlens_stats::StatsError;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What a run says, from its directory alone; grouped by the named attributes, or where none is
/// named by those that tell something about this campaign.
pub fn summarise(dir: &Path, by: &[String]) -> Result<Summary, AnalysisError> {
    let store = Store::read(dir)?;
    let mut context = Context::new(&store)?;
    let campaign = context.campaign(&store)?;
    let precision = Precision::of(&campaign);
    let repeats =
        if precision.sequential { Repeats::of(&store, &context)? } else { Repeats::default() };
    let mut pass = Pass::new(&context, &campaign, repeats, by)?;
    store.for_each::<AnalysisError>(|record| Ok(pass.add(&context, &record)?))?;
    pass.summary(&store, &context, &campaign)
}

/// All that is counted on the way.
struct Pass {
    precision: Precision,
    repeats: Repeats,
    overall: Counts,
    targets: BTreeMap<u32, Counts>,
    /// By target and fault.
    cells: BTreeMap<(u32, u32), Counts>,
    groups: Vec<Groups>,
    /// Whether groups were chosen here, so that those which tell nothing may be left out.
    chosen: bool,
    checks: Vec<Check>,
    places: Places,
    critical: Critical,
    thresholds: Thresholds,
    errors: Errors,
    sides: Sides,
    fair: Fair,
    benefits: Benefits,
    attacks: Attacks,
    scenes: Scenes,
    detected: Detected,
    preservations: Preservations,
    /// Names of what plug-ins recorded besides.
    extra: BTreeSet<String>,
    micros: u64,
    recorded: u64,
}

impl Pass {
    fn new(
        context: &Context,
        campaign: &Campaign,
        repeats: Repeats,
        by: &[String],
    ) -> Result<Self, AnalysisError> {
        let names: Vec<&str> = match by {
            [] => usual(context),
            some => some.iter().map(String::as_str).collect(),
        };
        let requirements = campaign.requirements.iter().cloned();
        Ok(Self {
            precision: Precision::of(campaign),
            overall: Counts::default(),
            targets: BTreeMap::new(),
            cells: BTreeMap::new(),
            groups: names.into_iter().map(|name| Groups::new(context, name)).collect(),
            chosen: by.is_empty(),
            checks: requirements.map(|one| Check::new(one, context, &repeats)).collect(),
            repeats,
            places: Places::default(),
            critical: Critical::default(),
            thresholds: Thresholds::of(campaign),
            errors: Errors::default(),
            sides: Sides::default(),
            fair: Fair::of(campaign, context),
            benefits: Benefits::of(context),
            attacks: Attacks::default(),
            scenes: Scenes::default(),
            detected: Detected::default(),
            preservations: Preservations::of(campaign, context)?,
            extra: BTreeSet::new(),
            micros: 0,
            recorded: 0,
        })
    }

    fn add(&mut self, context: &Context, record: &Record) -> Result<(), StatsError> {
        self.micros = self.micros.saturating_add(record.cost.micros);
        self.recorded += 1;
        let mut keep = |name: &str| {
            if !self.extra.contains(name) {
                self.extra.insert(name.to_owned());
            }
        };
        record.extra.keys().for_each(|name| keep(name));
        record.measures.for_each_field(|name, _| keep(name));
        if context.is_search(record.fault) {
            return self.critical.add(record);
        }
        let stake = Stake::of(context, record)?;
        if self.repeats.in_all(record) {
            self.overall.add(&record.outcome, stake)?;
            self.places.add(context, record, stake)?;
        }
        if self.repeats.in_target(record) {
            self.targets.entry(record.target).or_default().add(&record.outcome, stake)?;
        }
        let cell = (record.target, record.fault);
        self.cells.entry(cell).or_default().add(&record.outcome, stake)?;
        self.thresholds.add(record, stake)?;
        self.errors.add(context, record);
        self.sides.add(context, record)?;
        self.fair.add(context, record);
        self.benefits.add(context, record);
        self.attacks.add(context, record);
        let together = [self.repeats.in_target(record), self.repeats.in_all(record)];
        self.scenes.add(context, record, together)?;
        self.detected.add(context, record);
        self.preservations.add(context, record);
        for groups in &mut self.groups {
            if self.repeats.in_group(&groups.attribute, record) {
                groups.add(context, record, stake)?;
            }
        }
        for check in &mut self.checks {
            check.add(context, record, stake)?;
        }
        Ok(())
    }

    fn summary(
        self,
        store: &Store,
        context: &Context,
        campaign: &Campaign,
    ) -> Result<Summary, AnalysisError> {
        let (precision, manifest) = (self.precision, &context.manifest);
        let weighted = self.overall.judged().is_uneven();
        let progress = store.progress()?;
        let requirements = self.checked(context, &progress)?;
        let whole = context.is_whole(&progress);
        let preserved = self.preservations.checked(context, &precision, whole)?;
        let pinned: Vec<_> = store.pins()?.into_iter().map(pinned).collect();
        let targets = targets(context, &self.targets, &precision)?;
        let spending = Spending::read(store.dir());
        let mut summary = Summary {
            version: SUMMARY_VERSION,
            name: manifest.name.clone(),
            findings: Vec::new(),
            progress: self.progress(context, &progress),
            method: method(context, campaign, &precision, weighted),
            confidence: precision.intervals.level.confidence(),
            interval: precision.to_string(),
            overall: self.overall.tally(&precision, Of::Whole)?,
            weighted,
            traits: traits(context, &targets, &self.targets, &precision)?,
            targets,
            curves: curves(context, &self.cells, &precision)?,
            heat_maps: self.places.heat_maps(context, &precision)?,
            rankings: self.places.rankings(context, &precision)?,
            critical: self.critical.found(context, &precision)?,
            thresholds: self.thresholds.beyond(context, &precision)?,
            robustness: self.errors.robustness(
                context,
                campaign.reference.as_deref(),
                &precision,
            )?,
            side_by_side: self.sides.table(context, &precision)?,
            k_curves: self.sides.k_curves(context, &precision)?,
            moved: self.sides.moved(context, &precision),
            fairness: self.fair.told(context, &precision)?,
            benefits: self.benefits.told(context, &precision)?,
            attacks: self.attacks.told(context, &precision)?,
            detection: self.detected.told(context, &precision)?,
            masked: self.attacks.masked(context)?,
            scenes: self.scenes.told(context, &precision, spending.as_ref())?,
            scene_totals: self.scenes.totals(context, &precision, spending.as_ref())?,
            placed: self.scenes.placed(context, &precision)?,
            spending,
            advice: Vec::new(),
            classes: None,
            groupings: self.groupings(context)?,
            examples: examples(store, context)?,
            galleries: galleries(store, context)?,
            verdict: overall(&requirements, &preserved, &pinned),
            requirements,
            preserved,
            pinned,
            warnings: warnings(context, &progress),
            provenance: provenance(context, store.hands()),
        };
        summary.classes = classes(&summary);
        summary.examples.retain(|example| example.outcome != OutcomeKind::Unchanged.name());
        summary.warnings.extend(drifted(summary.spending.as_ref()));
        summary.warnings.extend(unfair(campaign, &summary.fairness));
        summary.warnings.extend(summary.masked.iter().map(misled));
        summary.warnings.extend(summary.scene_totals.iter().filter_map(words::unsteady));
        summary.advice = advice(&summary);
        summary.findings = findings(&summary, context);
        Ok(summary)
    }

    fn progress(&self, context: &Context, progress: &Recorded) -> Progress {
        Progress {
            planned: context.manifest.planned,
            recorded: self.recorded,
            complete: progress.complete,
            stopped_early: progress.stopped_early,
            seconds: self.micros as f64 / 1e6,
        }
    }

    fn checked(
        &self,
        context: &Context,
        progress: &Recorded,
    ) -> Result<Vec<Checked>, AnalysisError> {
        let whole = context.is_whole(progress);
        let checked = |check: &Check| {
            check.is_of_this_run(context, &self.extra, whole)?;
            Ok(check.checked(&self.precision, whole)?)
        };
        self.checks.iter().map(checked).collect()
    }

    fn groupings(self, context: &Context) -> Result<Vec<Grouping>, AnalysisError> {
        let mut names = context.names();
        names.extend(self.extra.iter().map(String::as_str));
        let unknown = |groups: &&Groups| !names.contains(groups.attribute.as_str());
        if let Some(unknown) = self.groups.iter().find(unknown) {
            return Err(AnalysisError::attribute(&unknown.attribute, &names));
        }
        // Groups of about one case each say nothing that the cases do not.
        let most = (context.manifest.cases / 2).max(2) as usize;
        let strata = context.strata();
        let small = |groups: &Groups| {
            let of_cases = strata.contains(groups.attribute.as_str());
            !(of_cases || groups.attribute == "label") || groups.len() <= most
        };
        let telling = |groups: &Groups| !self.chosen || (groups.len() > 1 && small(groups));
        let seed = Seed::new(context.manifest.seed).child("permutations");
        let telling = self.groups.into_iter().filter(telling);
        let mut groupings = Vec::new();
        for groups in telling {
            let mut grouping = groups.grouping(&self.precision, seed)?;
            if grouping.attribute == "layer" {
                self.places.describe(&mut grouping, &self.precision)?;
            }
            groupings.push(grouping);
        }
        Ok(groupings)
    }
}

/// What is worth grouping by where nobody says it.
fn usual(context: &Context) -> Vec<&str> {
    let manner = ["mode", "in", "pattern", "duration"];
    let manner = manner.into_iter().filter(|setting| context.choices(setting) > 1);
    let mut names = vec!["point", "target"];
    names.extend(manner);
    names.extend(["kind", "operator", "layer", "bit", "label"]);
    names.extend(context.strata());
    names
}

fn targets(
    context: &Context,
    counts: &BTreeMap<u32, Counts>,
    precision: &Precision,
) -> Result<Vec<TargetSummary>, StatsError> {
    let summary = |(at, target): (usize, &ManifestTarget)| {
        let known = context.goldens().filter(|golden| golden.target as usize == at);
        let (right, n) = known
            .filter_map(|golden| golden.correct)
            .fold((0, 0), |(right, n), correct| (right + u64::from(correct), n + 1));
        let accuracy = (n > 0).then(|| precision.rate(right, n));
        Ok(TargetSummary {
            name: target.name.clone(),
            model: target.model.clone(),
            accuracy: accuracy.transpose()?,
            tally: counts
                .get(&(at as u32))
                .cloned()
                .unwrap_or_default()
                .tally(precision, Of::Whole)?,
        })
    };
    context.manifest.targets.iter().enumerate().map(summary).collect()
}

fn examples(store: &Store, context: &Context) -> Result<Vec<Example>, StoreError> {
    let mut examples = Vec::new();
    for kept in store.examples()? {
        let Some(record) = store.record(kept.number)? else { continue };
        let text = |name: &str| {
            context.attribute(&record, name).map(|text| text.into_owned()).unwrap_or_default()
        };
        examples.push(Example {
            number: kept.number,
            target: text("target"),
            case: text("case"),
            truth: context.truth(&record),
            fault: text("point"),
            site: record.site.as_ref().map(ToString::to_string),
            outcome: record.outcome.kind().name().to_owned(),
            visual_change: record.measures.visual_change,
            changes: record.object_changes(),
            golden: kept.golden,
            observed: kept.observed,
            before: kept.before,
            after: kept.after,
        });
    }
    Ok(examples)
}
