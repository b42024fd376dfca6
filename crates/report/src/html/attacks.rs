//! How attacks fared.

use super::rates::{Cell, number, whole};
use crate::escape::plain;
use faultlens_campaign::analysis::Attacked;
use faultlens_campaign::analysis::words as format;

/// One attack on one target.
pub(super) struct AttackView {
    pub(super) target: String,
    pub(super) attack: String,
    pub(super) needs: String,
    pub(super) changed: Cell,
    pub(super) interval: String,
    pub(super) rejected: Cell,
    pub(super) queries: Cell,
    pub(super) distance: Cell,
    pub(super) seconds: Cell,
}

/// The view of one attack.
pub(super) fn attack(one: &Attacked) -> AttackView {
    let middle = |value: Option<f64>| {
        number(value.map_or_else(|| format::NONE.into(), |value| format::number(value, 3)), value)
    };
    let rate = &one.changed;
    let share = format!("{} of {}", format::count(rate.events), format::count(rate.n));
    AttackView {
        target: plain(&one.target),
        attack: plain(&one.attack),
        needs: plain(&one.needs),
        changed: number(share, rate.value),
        interval: format::rate(rate),
        rejected: whole(one.rejected),
        queries: middle(one.queries),
        distance: middle(one.distance),
        seconds: {
            let text = |seconds: f64| format!("{} ms", format::number(1e3 * seconds, 3));
            number(one.cpu_seconds.map_or_else(|| format::NONE.into(), text), one.cpu_seconds)
        },
    }
}
