//! How attacks fared.

use super::rates::{Cell, number, whole};
use crate::escape::plain;
use crate::svg::{At, Axis, Caption, STYLES, Scale, Shape, Trace, Xy, xy};
use faultlens_analysis::words as format;
use faultlens_analysis::{Attacked, Standing};

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

/// Lines whose intervals are drawn as bands; more of them would hide each other.
const MOST_BANDS: usize = 2;

/// How long the answers of one target stand, by attack.
pub(super) struct StandingView {
    pub(super) target: String,
    pub(super) chart: String,
    /// Name and line style of what is drawn.
    pub(super) legend: Vec<(String, usize)>,
}

/// The views of all targets that were attacked for longer than a single shot.
pub(super) fn standings(attacks: &[Attacked]) -> Vec<StandingView> {
    let by_target = attacks.chunk_by(|a, b| a.target == b.target);
    by_target.enumerate().filter_map(|(at, own)| standing(at, own)).collect()
}

/// Of each attack the settings that changed the most answers, as many as line styles tell apart.
fn most_telling(attacks: &[Attacked]) -> Vec<&Attacked> {
    let name = |one: &Attacked| one.attack.split(' ').next().unwrap_or_default().to_owned();
    let mut drawn: Vec<&Attacked> = Vec::new();
    for one in attacks.iter().filter(|one| !one.standing.is_empty()) {
        match drawn.iter_mut().find(|other| name(other) == name(one)) {
            Some(other) if other.changed.events >= one.changed.events => {}
            Some(other) => *other = one,
            None => drawn.push(one),
        }
    }
    drawn.truncate(STYLES);
    drawn
}

fn standing(at: usize, attacks: &[Attacked]) -> Option<StandingView> {
    let drawn = most_telling(attacks);
    let banded = drawn.len() <= MOST_BANDS;
    let point = |one: &Standing| At {
        x: one.queries.max(1.0).log10(),
        y: one.share,
        interval: banded.then_some((one.low, one.high)),
    };
    let start = At { x: 0.0, y: 1.0, interval: None };
    let points = |own: &&Attacked| -> Vec<At> {
        std::iter::once(start).chain(own.standing.iter().map(point)).collect()
    };
    let points: Vec<Vec<At>> = drawn.iter().map(points).collect();
    let traces: Vec<Trace<'_>> = (drawn.iter().zip(&points).enumerate())
        .map(|(style, (own, points))| Trace {
            name: &own.attack,
            shape: Shape::Steps,
            points,
            style,
        })
        .collect();
    let target = attacks.first()?.target.clone();
    let most = points.iter().flatten().map(|at| at.x).fold(1.0, f64::max);
    let title = format!("Answers of {target} that stand after so many questions");
    let caption = Caption { id: &format!("standing-{at}"), title: &title, about: &title };
    let x = Axis { name: "questions", scale: Scale::Powers, most };
    let y = Axis { name: "answers that stand", scale: Scale::Shares, most: 1.0 };
    let chart = xy(&caption, &Xy { traces: &traces, x, y, diagonal: false, limit: None });
    let legend = drawn.iter().enumerate().map(|(style, own)| (plain(&own.attack), style));
    (!drawn.is_empty()).then(|| StandingView {
        target: plain(&target),
        chart,
        legend: legend.collect(),
    })
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
