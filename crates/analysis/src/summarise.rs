//! From the records of a run to its summary, in one pass.

use crate::attacks::Attacks;
use crate::benefit::Benefits;
use crate::check::{Check, Checked, pinned};
use crate::classes::Classes;
use crate::context::Context;
use crate::critical::Critical;
use crate::curve::curves;
use crate::detection::Detected;
use crate::error::AnalysisError;
use crate::estimate::{Precision, Scope};
use crate::example::examples;
use crate::fairness::Fair;
use crate::family::Family;
use crate::family_result::families;
use crate::gallery::galleries;
use crate::group::{Grouping, Groups, Only};
use crate::image_results::ImageFaultResults;
use crate::locations::LocationCounts;
use crate::method::{Method, Provenance};
use crate::missing::OnRecord;
use crate::preserve::Preservations;
use crate::repeats::Repeats;
use crate::robustness::Errors;
use crate::sample::TrialDraw;
use crate::scenes::Scenes;
use crate::side_by_side::Sides;
use crate::summary::{
    AttackResults, Checks, ModelFaultResults, Progress, SUMMARY_VERSION, SceneResults, Summary,
};
use crate::tally::Counts;
use crate::target::targets;
use crate::thresholds::Thresholds;
use crate::traits::traits;
use crate::warning::{self, Warning};
use faultlens_core::{OutcomeKind, Seed};
use faultlens_record::Record;
use faultlens_record::Spending;
use faultlens_record::store::{Recorded, Store};
use faultlens_spec::Campaign;
use faultlens_stats::StatsError;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What a run found, from its directory alone; grouped by the named attributes, or where none is
/// named by those in which this campaign's trials differ.
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

/// Everything that is counted on the way.
struct Pass {
    precision: Precision,
    repeats: Repeats,
    overall: Counts,
    families: BTreeMap<Family, Counts>,
    targets: BTreeMap<u32, Counts>,
    target_families: BTreeMap<(u32, Family), Counts>,
    /// By target and fault.
    cells: BTreeMap<(u32, u32), Counts>,
    groups: Vec<Groups>,
    /// Whether the attributes were chosen here, so that groupings with a single group are left out.
    chosen: bool,
    checks: Vec<Check>,
    locations: LocationCounts,
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
    /// Names of measures and of fields that plug-ins recorded.
    extra: BTreeSet<String>,
    on_record: OnRecord,
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
        let names: Vec<&str> = if by.is_empty() {
            default_attributes(context)
        } else {
            by.iter().map(String::as_str).collect()
        };
        let mut checks = Vec::new();
        for requirement in &campaign.requirements {
            checks.push(Check::new(requirement.clone(), context, &repeats));
        }
        Ok(Self {
            precision: Precision::of(campaign),
            repeats,
            overall: Counts::default(),
            families: BTreeMap::new(),
            targets: BTreeMap::new(),
            target_families: BTreeMap::new(),
            cells: BTreeMap::new(),
            groups: names.into_iter().flat_map(|name| groups(context, name)).collect(),
            chosen: by.is_empty(),
            checks,
            locations: LocationCounts::default(),
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
            on_record: OnRecord::default(),
            micros: 0,
            recorded: 0,
        })
    }

    fn add(&mut self, context: &Context, record: &Record) -> Result<(), StatsError> {
        self.micros = self.micros.saturating_add(record.cost.micros);
        self.recorded += 1;
        self.on_record.count(record);
        self.add_field_names(record);
        if context.is_search(record.fault) {
            return self.critical.add(record);
        }
        let weight = TrialDraw::of(context, record);
        let in_target = self.repeats.in_target(record);
        let in_all = self.repeats.in_all(record);
        if in_all {
            self.overall.add(&record.outcome, weight)?;
            if let Some(family) = context.family(record.fault) {
                self.families.entry(family).or_default().add(&record.outcome, weight)?;
            }
            self.locations.add(context, record, weight)?;
        }
        if in_target {
            self.targets.entry(record.target).or_default().add(&record.outcome, weight)?;
            if let Some(family) = context.family(record.fault) {
                let counts = self.target_families.entry((record.target, family)).or_default();
                counts.add(&record.outcome, weight)?;
            }
        }
        let cell = (record.target, record.fault);
        self.cells.entry(cell).or_default().add(&record.outcome, weight)?;
        self.thresholds.add(record, weight)?;
        self.errors.add(context, record, weight)?;
        self.sides.add(context, record, weight)?;
        self.fair.add(context, record);
        self.benefits.add(context, record);
        self.attacks.add(context, record, weight);
        self.scenes.add(context, record, weight, [in_target, in_all])?;
        self.detected.add(context, record);
        self.preservations.add(context, record);
        for groups in &mut self.groups {
            if self.repeats.in_group(&groups.attribute, record) {
                groups.add(context, record, weight)?;
            }
        }
        for check in &mut self.checks {
            check.add(context, record, weight)?;
        }
        Ok(())
    }

    /// Remembers which measures and fields records have: trials can be grouped by them.
    fn add_field_names(&mut self, record: &Record) {
        // Almost every record repeats known names: look before allocating.
        for name in record.extra.keys() {
            if !self.extra.contains(name) {
                self.extra.insert(name.clone());
            }
        }
        record.measures.for_each_field(|name, _| {
            if !self.extra.contains(name) {
                self.extra.insert(name.to_owned());
            }
        });
    }

    fn summary(
        self,
        store: &Store,
        context: &Context,
        campaign: &Campaign,
    ) -> Result<Summary, AnalysisError> {
        let precision = self.precision;
        let recorded = store.progress()?;
        let spending = Spending::read(store.dir());
        let images = self.images(context, campaign.reference.as_deref())?;
        let checks = self.checks(store, context, &images, &recorded)?;
        let scenes = self.scenes(context, spending.as_ref())?;
        let attacks = AttackResults {
            results: self.attacks.results(context, &precision)?,
            masked: self.attacks.masked(context)?,
        };
        let mut warnings = warning::of_run(context, &recorded);
        warnings.extend(warning::of_services(spending.as_ref()));
        warnings.extend(warning::of_fairness(campaign, &images.fairness));
        warnings.extend(attacks.masked.iter().cloned().map(Warning::MaskedGradients));
        warnings.extend(warning::of_scenes(&scenes.totals));
        let targets = targets(context, &self.targets, &self.target_families, &precision)?;
        let traits = traits(context, &targets, &self.targets, &precision)?;
        let model = ModelFaultResults {
            heat_maps: self.locations.heat_maps(context, &precision)?,
            rankings: self.locations.rankings(context, &precision)?,
            critical: self.critical.found(context, &precision)?,
        };
        let progress = Progress {
            planned: context.manifest.planned,
            recorded: self.recorded,
            complete: recorded.complete,
            stopped_early: recorded.stopped_early,
            seconds: self.micros as f64 / 1e6,
        };
        let weighted = self.overall.judged().is_uneven();
        let overall = self.overall.tally(&precision, Scope::Whole)?;
        let families = families(context, &self.families, &self.cells, &precision)?;
        let curves = curves(context, &self.cells, &precision)?;
        let thresholds = self.thresholds.rates(context, &precision)?;
        let groupings = self.groupings(context)?;
        let mut examples = examples(store, context)?;
        // Classes may show clean images of unchanged trials, too.
        let classes = Classes::of(&groupings, &examples);
        examples.retain(|example| example.outcome != OutcomeKind::Unchanged.name());
        Ok(Summary {
            version: SUMMARY_VERSION,
            name: context.manifest.name.clone(),
            progress,
            method: Method::of(context, campaign),
            provenance: Provenance::of(context, store.sessions()),
            intervals: precision.intervals,
            weighted,
            overall,
            families,
            targets,
            groupings,
            curves,
            classes,
            traits,
            thresholds,
            model,
            images,
            attacks,
            scenes,
            checks,
            spending,
            examples,
            galleries: galleries(store, context)?,
            warnings,
        })
    }

    fn images(
        &self,
        context: &Context,
        reference: Option<&str>,
    ) -> Result<ImageFaultResults, StatsError> {
        let precision = &self.precision;
        Ok(ImageFaultResults {
            robustness: self.errors.robustness(context, reference, precision)?,
            side_by_side: self.sides.table(context, precision)?,
            k_curves: self.sides.k_curves(context, precision)?,
            measures: self.sides.moved(context, precision)?,
            fairness: self.fair.fairness(context, precision)?,
            benefits: self.benefits.benefits(context, precision)?,
            detection: self.detected.quality(context, precision)?,
        })
    }

    fn scenes(
        &self,
        context: &Context,
        spending: Option<&Spending>,
    ) -> Result<SceneResults, StatsError> {
        let precision = &self.precision;
        Ok(SceneResults {
            by_fault: self.scenes.by_fault(context, precision, spending)?,
            totals: self.scenes.totals(context, precision, spending)?,
            placements: self.scenes.placement_effects(context, precision)?,
        })
    }

    fn checks(
        &self,
        store: &Store,
        context: &Context,
        images: &ImageFaultResults,
        recorded: &Recorded,
    ) -> Result<Checks, AnalysisError> {
        let whole = context.is_whole(recorded);
        let decides = context.can_decide(recorded);
        let mut requirements: Vec<Checked> = Vec::new();
        for check in &self.checks {
            check.is_of_this_run(context, &self.extra, whole)?;
            let open = check.open(context, recorded, &self.on_record);
            requirements.push(check.checked(&self.precision, images, decides, open)?);
        }
        let progress = decides.then_some(recorded);
        let preserved =
            self.preservations.checked(context, &self.precision, progress, &self.on_record)?;
        let pinned = store.pins()?.into_iter().map(pinned).collect();
        Ok(Checks::new(requirements, preserved, pinned))
    }

    fn groupings(self, context: &Context) -> Result<Vec<Grouping>, AnalysisError> {
        let mut names = context.names();
        names.extend(self.extra.iter().map(String::as_str));
        for groups in &self.groups {
            if !names.contains(groups.attribute.as_str()) {
                return Err(AnalysisError::attribute(&groups.attribute, &names));
            }
        }
        // Groups of about one case each show no more than the cases do.
        let most = (context.manifest.cases / 2).max(2) as usize;
        let strata = context.strata();
        let seed = Seed::new(context.manifest.seed).child("permutations");
        let mut groupings = Vec::new();
        for groups in self.groups {
            let name = groups.attribute.as_str();
            let of_cases = name == "label" || strata.contains(name);
            if self.chosen && (groups.len() < 2 || of_cases && groups.len() > most) {
                continue;
            }
            // An attribute that the user names may be none of some family's faults.
            if groups.len() == 0 && groups.is_of_part() {
                continue;
            }
            let target = groups.target();
            let mut grouping = groups.grouping(context, &self.precision, seed)?;
            if grouping.attribute == "layer" {
                self.locations.describe(&mut grouping, target, &self.precision)?;
            }
            groupings.push(grouping);
        }
        Ok(groupings)
    }
}

/// The groups by an attribute. Layers and operators of different networks have nothing in common,
/// nor have faults of different families, so that each has its own.
fn groups(context: &Context, attribute: &str) -> Vec<Groups> {
    let of_networks = ["layer", "operator", "position", "value"].contains(&attribute);
    let count = context.manifest.targets.len() as u32;
    let mut targets = vec![None];
    if of_networks && count > 1 {
        targets = (0..count).map(Some).collect();
    }
    let found = context.families();
    let mut families = vec![None];
    if found.len() > 1 {
        families = found.into_iter().map(Some).collect();
    }
    let mut groups = Vec::new();
    for family in families {
        for &target in &targets {
            groups.push(Groups::new(context, attribute, Only { target, family }));
        }
    }
    groups
}

/// The attributes that trials are grouped by where the user names none.
fn default_attributes(context: &Context) -> Vec<&str> {
    let mut names = vec!["point", "target"];
    for setting in ["mode", "in", "pattern", "duration"] {
        if context.choices(setting) > 1 {
            names.push(setting);
        }
    }
    names.extend(["kind", "operator", "layer", "bit", "label"]);
    names.extend(context.strata());
    names
}
