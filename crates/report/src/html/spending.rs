//! What a run took, and what defences are worth.

use super::fairness::difference;
use super::rates::{Cell, whole};
use crate::escape::plain;
use faultlens_analysis::words as format;
use faultlens_analysis::{Benefit, BenefitRow};
use faultlens_campaign::run::{ServiceAccount, Spending};

/// Where time and money went.
pub(super) struct SpendingView {
    /// In sentences.
    pub(super) time: Vec<String>,
    pub(super) services: Vec<ServiceView>,
}

/// The calls to one service.
pub(super) struct ServiceView {
    pub(super) target: String,
    pub(super) counts: Vec<(&'static str, Cell)>,
    pub(super) money: String,
    pub(super) versions: String,
    pub(super) control: String,
}

/// The view; `None` where nothing is on record.
pub(super) fn spending(spending: Option<&Spending>) -> Option<SpendingView> {
    let spent = spending?;
    let harness = (spent.threads - spent.faults - spent.target).max(0.0);
    let part = |seconds: f64| {
        let share = if spent.threads > 0.0 { seconds / spent.threads } else { 0.0 };
        format!("{} ({}%)", format::duration(seconds), format::percent(share))
    };
    let time = vec![
        format!("Wall time {}", format::duration(spent.wall)),
        format!(
            "Time of all threads: disturbing images {}, asking targets {}, all else {}",
            part(spent.faults),
            part(spent.target),
            part(harness)
        ),
    ];
    Some(SpendingView { time, services: spent.services.iter().map(service).collect() })
}

fn service(one: &ServiceAccount) -> ServiceView {
    let account = &one.account;
    let versions: Vec<String> = one.versions.iter().map(|version| plain(version)).collect();
    ServiceView {
        target: plain(&one.target),
        counts: account.counts().into_iter().map(|(name, count)| (name, whole(count))).collect(),
        money: format::number(account.campaign.money, 4),
        versions: if versions.is_empty() { format::NONE.into() } else { versions.join(", ") },
        control: match one.control {
            0 => "not asked again".to_owned(),
            asked => format!("{} of {asked} changed", one.drifted),
        },
    }
}

/// What defences of one target are worth.
pub(super) struct BenefitView {
    pub(super) defended: String,
    pub(super) about: String,
    pub(super) rows: Vec<(String, Cell, Cell)>,
}

/// The view of one defended target.
pub(super) fn benefit(one: &Benefit) -> BenefitView {
    let row =
        |row: &BenefitRow| (plain(&row.fault), difference(&row.changed), difference(&row.wrong));
    let clean = match one.clean.value {
        Some(_) => format!(
            "; undisturbed, {} percentage points fewer wrong answers",
            difference(&one.clean).text
        ),
        None => String::new(),
    };
    BenefitView {
        defended: plain(&one.defended),
        about: format!("{} beside {}{clean}", plain(&one.defences), plain(&one.plain)),
        rows: one.all.iter().chain(&one.rows).map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_split_without_a_rest() {
        let spent =
            Spending { wall: 10.0, threads: 20.0, faults: 5.0, target: 13.0, services: vec![] };
        let view = spending(Some(&spent)).unwrap();
        assert!(
            view.time[1].contains("(25.0%)") && view.time[1].contains("(65.0%)"),
            "{:?}",
            view.time
        );
        assert!(view.time[1].contains("(10.0%)"), "{:?}", view.time);
    }
}
