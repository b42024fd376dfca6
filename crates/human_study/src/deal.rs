//! Deals the next pictures: nobody sees two versions of one picture, and every picture is seen by as
//! many people as the protocol asks for.

use crate::ledger::Ledger;
use crate::stimulus::StimulusKind;
use crate::study::Study;
use faultlens_core::{Seed, Stream};
use std::cmp::Reverse;

/// The next batch of the study for somebody; empty where nothing is left for them. `taken` is, by
/// picture, how many answers there are or are on their way.
pub(crate) fn batch(who: usize, ledger: &Ledger, taken: &[u32], study: &Study) -> Vec<usize> {
    let mut stream = stream(who, ledger, study);
    let mut met = ledger.met(who, study);
    let mut open: Vec<usize> =
        study.wanted().filter(|&at: &usize| taken[at] < study.protocol.answers).collect();
    stream.shuffle(&mut open);
    // Pictures that somebody has begun with are finished first: five answers to one tell more
    // than one answer to five. Of those that miss the same number chance decides.
    open.sort_by_key(|&at| Reverse(taken[at]));
    let mut dealt: Vec<usize> = open
        .into_iter()
        .filter(|at: &usize| met.insert(study.stimuli[*at].image.as_str()))
        .take(study.protocol.fresh())
        .collect();
    if dealt.is_empty() {
        return dealt;
    }
    dealt.extend(easy(study.protocol.checks, who, ledger, study, &mut stream));
    stream.shuffle(&mut dealt);
    dealt
}

/// The next test for somebody.
pub(crate) fn test(who: usize, ledger: &Ledger, study: &Study) -> Vec<usize> {
    let mut stream = stream(who, ledger, study);
    let mut dealt = easy(study.protocol.qualification, who, ledger, study, &mut stream);
    stream.shuffle(&mut dealt);
    dealt
}

/// Random numbers of somebody's next batch.
fn stream(who: usize, ledger: &Ledger, study: &Study) -> Stream {
    let batches = ledger.participants[who].batches.len();
    Seed::new(study.protocol.seed).child("deal").at(who as u64).at(batches as u64).stream()
}

/// Pictures for attention checks: those that this person has seen least often, half of them of each
/// choice as far as possible.
fn easy(
    count: usize,
    who: usize,
    ledger: &Ledger,
    study: &Study,
    stream: &mut Stream,
) -> Vec<usize> {
    let mut pool: Vec<usize> = (0..study.stimuli.len())
        .filter(|&at: &usize| study.stimuli[at].kind == StimulusKind::Easy)
        .collect();
    stream.shuffle(&mut pool);
    let mut seen = vec![0_u32; study.stimuli.len()];
    ledger.participants[who].given().for_each(|at| seen[at] += 1);
    pool.sort_by_key(|&at| seen[at]);
    let mut sides = study.protocol.choices.iter().map(|choice| {
        pool.iter()
            .copied()
            .filter(|at: &usize| study.stimuli[*at].truth == *choice)
            .collect::<Vec<_>>()
            .into_iter()
    });
    let (Some(mut left), Some(mut right)) = (sides.next(), sides.next()) else {
        return Vec::new();
    };
    if stream.chance(0.5) {
        std::mem::swap(&mut left, &mut right);
    }
    let mut dealt = Vec::new();
    while dealt.len() < count {
        let one = left.next().or_else(|| right.next());
        let Some(one) = one else { break };
        dealt.push(one);
        std::mem::swap(&mut left, &mut right);
    }
    dealt
}
