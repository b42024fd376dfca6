//! Curves without a model.

use faultlens::stats::Level;
use faultlens::stats::survival::{Curve, Lifetimes, TestResult, kaplan_meier, log_rank};

use super::rows::Rows;

/// The curve of all rows, and of each stratum.
pub(super) struct Curves {
    pub(super) all: Curve,
    /// Level, rows and curve.
    pub(super) groups: Vec<(String, Lifetimes, Curve)>,
    /// Whether the strata differ; `None` where too little happened to tell.
    pub(super) log_rank: Option<TestResult>,
}

impl Curves {
    /// By Kaplan and Meier.
    pub(super) fn new(rows: &Rows) -> anyhow::Result<Self> {
        let level = Level::default();
        let groups = rows.groups()?;
        let data: Vec<&Lifetimes> = groups.iter().map(|(_, data)| data).collect();
        let log_rank = log_rank(&data).ok();
        Ok(Self {
            all: kaplan_meier(&rows.data, level),
            groups: groups
                .into_iter()
                .map(|(name, data): (String, Lifetimes)| {
                    let curve = kaplan_meier(&data, level);
                    (name, data, curve)
                })
                .collect(),
            log_rank,
        })
    }
}
