//! Which column is what.

use anyhow::{Context, anyhow, bail, ensure};
use faultlens::did_you_mean;
use faultlens::report::plain;

use super::formula::Formula;
use super::refuse::TELLING;
use super::table::Reading;
use crate::args::SurviveArgs;

/// Names that are listed where one is not known.
const LISTED: usize = 20;
/// What users write for no covariates at all.
const NONE: &str = "none";

/// The columns by what they are for.
#[derive(Debug)]
pub(super) struct Roles {
    pub(super) duration: usize,
    pub(super) event: Option<usize>,
    pub(super) weights: Option<usize>,
    pub(super) entry: Option<usize>,
    pub(super) strata: Option<usize>,
    pub(super) cluster: Option<usize>,
    pub(super) covariates: Vec<usize>,
    /// How the covariates enter the model.
    pub(super) formula: Formula,
    /// Whether the user named the covariates, so that none is left out silently.
    pub(super) named: bool,
    /// Columns without a name, which are left out.
    pub(super) unnamed: usize,
    readings: Vec<Reading>,
}

impl Roles {
    /// Finds the columns that the user named; `covariates` says whether the model takes any.
    pub(super) fn new(
        args: &SurviveArgs,
        names: &[String],
        covariates: bool,
    ) -> anyhow::Result<Self> {
        let header = Header(names);
        let one = |name: &Option<String>| name.as_ref().map(|n| header.find(n)).transpose();
        let written = args.formula.as_deref().map(Formula::parse).transpose()?.unwrap_or_default();
        let twice = [(&written.strata, &args.strata), (&written.cluster, &args.cluster)];
        ensure!(
            twice.iter().all(|(first, second)| first.is_none() || second.is_none()),
            "strata and clusters are either in --formula or in their own options"
        );
        let mut roles = Self {
            duration: header.find(&args.duration)?,
            event: one(&args.event)?,
            weights: one(&args.weights)?,
            entry: one(&args.entry)?,
            strata: one(if args.strata.is_some() { &args.strata } else { &written.strata })?,
            cluster: one(if args.cluster.is_some() { &args.cluster } else { &written.cluster })?,
            covariates: Vec::new(),
            formula: Formula::default(),
            named: !args.covariates.is_empty() || args.formula.is_some(),
            unnamed: 0,
            readings: vec![Reading::Skip; names.len()],
        };
        roles.refuse_twice(names)?;
        if covariates && args.formula.is_some() {
            roles.follow(written, &header)?;
        } else if covariates {
            roles.choose(args, &header)?;
            let chosen = roles.covariates.iter().map(|&at| &names[at]);
            roles.formula = Formula::of_columns(chosen);
        }
        let levels = [args.levels.as_slice(), &roles.formula.factors()].concat();
        roles.read_as(&levels, &header)?;
        Ok(roles)
    }

    /// Takes the columns that a formula names.
    fn follow(&mut self, formula: Formula, header: &Header<'_>) -> anyhow::Result<()> {
        for name in formula.columns() {
            let at = header.find(name)?;
            if let Some((_, role)) = self.taken().iter().find(|(other, _)| *other == at) {
                bail!("{} is the --{role}, so it cannot be a covariate", plain(name));
            }
            self.covariates.push(at);
        }
        self.formula = formula;
        Ok(())
    }

    /// Decides how each column is read.
    fn read_as(&mut self, levels: &[String], header: &Header<'_>) -> anyhow::Result<()> {
        let taken = self.taken().into_iter().map(|(at, _)| at);
        for at in taken.chain(self.covariates.iter().copied()).collect::<Vec<_>>() {
            self.readings[at] = Reading::Guess;
        }
        for at in [Some(self.duration), self.weights, self.entry].into_iter().flatten() {
            self.readings[at] = Reading::Number;
        }
        for at in (0..header.0.len()).filter(|&at| TELLING.contains(&header.0[at].as_str())) {
            if self.readings[at] == Reading::Skip {
                self.readings[at] = Reading::Levels;
            }
        }
        let levels = levels.iter().map(|name| header.find(name));
        if let Some(at) = self.cluster {
            self.readings[at] = Reading::Names;
        }
        for at in levels.chain(self.strata.map(Ok)).collect::<anyhow::Result<Vec<_>>>()? {
            let name = plain(&header.0[at]);
            ensure!(self.readings[at] != Reading::Number, "{name} holds numbers, not levels");
            if self.readings[at] == Reading::Guess {
                self.readings[at] = Reading::Levels;
            }
        }
        Ok(())
    }

    /// How each column is read.
    pub(super) fn readings(&self) -> &[Reading] {
        &self.readings
    }

    /// The columns that are no covariates, with what they are.
    fn taken(&self) -> Vec<(usize, &'static str)> {
        let others = [
            (self.event, "event"),
            (self.weights, "weights"),
            (self.entry, "entry"),
            (self.strata, "strata"),
            (self.cluster, "cluster"),
        ];
        let others = others.into_iter().filter_map(|(at, what)| Some((at?, what)));
        std::iter::once((self.duration, "duration")).chain(others).collect()
    }

    fn refuse_twice(&self, names: &[String]) -> anyhow::Result<()> {
        let taken = self.taken();
        for (i, (at, second)) in taken.iter().enumerate() {
            if let Some((_, first)) = taken[..i].iter().find(|(other, _)| other == at) {
                bail!("{} cannot be both --{first} and --{second}", plain(&names[*at]));
            }
        }
        Ok(())
    }

    fn choose(&mut self, args: &SurviveArgs, header: &Header<'_>) -> anyhow::Result<()> {
        let taken = self.taken();
        let role = |at: usize| taken.iter().find(|(other, _)| *other == at).map(|(_, what)| *what);
        for name in &args.drop {
            ensure!(header.has(name), header.unknown(name));
        }
        let dropped = |at: usize| args.drop.contains(&header.0[at]);
        if args.covariates == [NONE] && !header.has(NONE) {
            return Ok(());
        }
        for name in &args.covariates {
            let at = header.find(name)?;
            if let Some(role) = role(at) {
                bail!("{} is the --{role}, so it cannot be a covariate", plain(name));
            }
            if !dropped(at) && !self.covariates.contains(&at) {
                self.covariates.push(at);
            }
        }
        if self.named {
            return Ok(());
        }
        for at in (0..header.0.len()).filter(|&at| role(at).is_none() && !dropped(at)) {
            if header.0[at].is_empty() {
                self.unnamed += 1;
                continue;
            }
            let name = &header.0[at];
            let found = header.find(name);
            self.covariates.push(found.with_context(|| {
                format!("every other column is a covariate (or --drop {})", plain(name))
            })?);
        }
        Ok(())
    }
}

/// The names of the columns.
struct Header<'a>(&'a [String]);

impl Header<'_> {
    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|known| known == name)
    }

    fn find(&self, name: &str) -> anyhow::Result<usize> {
        let mut all = (0..self.0.len()).filter(|&at| self.0[at] == name);
        let first = all.next().ok_or_else(|| self.unknown(name))?;
        ensure!(all.next().is_none(), "two columns are called {}; rename one", plain(name));
        Ok(first)
    }

    fn unknown(&self, name: &str) -> anyhow::Error {
        let known = self.0.iter().map(String::as_str).filter(|known| !known.is_empty());
        if let Some(close) = did_you_mean(name, known.clone()) {
            let name = plain(name);
            let close = plain(close);
            return anyhow!("no column is called {name}; did you mean {close}?");
        }
        let more = if known.clone().count() > LISTED { ", …" } else { "" };
        let known = known.take(LISTED).map(plain).collect::<Vec<_>>().join(", ");
        anyhow!("no column is called {}; there are {known}{more}", plain(name))
    }
}
