//! Every bit of many sites, one trial each, counted by what kind of bit it is.

use std::time::Instant;

use faultlens::Tensor;
use faultlens::engine::{Model, ValueId};
use serde::Serialize;

use super::bench::{Bench, Outcome, Site};

/// The parts of a 32-bit float, from the highest bit down.
const KINDS: [(&str, std::ops::Range<u32>); 3] =
    [("sign", 31..32), ("exponent", 23..31), ("mantissa", 0..23)];

/// Which part of a 32-bit float a bit belongs to.
pub(super) fn kind(bit: u32) -> &'static str {
    KINDS.iter().find(|(_, bits)| bits.contains(&bit)).map_or("unknown", |(name, _)| name)
}

/// What became of all trials of one kind.
#[derive(Serialize)]
pub(super) struct Count {
    pub(super) sites: &'static str,
    pub(super) bits: &'static str,
    pub(super) trials: usize,
    pub(super) masked: usize,
    pub(super) deviated: usize,
    pub(super) detected: usize,
}

/// Flips every bit of every `step`th element of the values, once each; also says how many
/// microseconds a trial took.
pub(super) fn sweep(
    bench: &Bench<'_>,
    sites: &'static str,
    values: &[ValueId],
    step: usize,
) -> anyhow::Result<(Vec<Count>, f64)> {
    let start = Instant::now();
    let mut counts = Vec::new();
    for (bits, range) in KINDS {
        let mut count = Count { sites, bits, trials: 0, masked: 0, deviated: 0, detected: 0 };
        for &value in values {
            for element in (0..bench.elements(value)).step_by(step) {
                for bit in range.clone() {
                    count.add(bench.outcome(Site { value, element, bit })?);
                }
            }
        }
        counts.push(count);
    }
    let trials: usize = counts.iter().map(|count| count.trials).sum();
    Ok((counts, start.elapsed().as_secs_f64() * 1e6 / trials as f64))
}

impl Count {
    fn add(&mut self, outcome: Outcome) {
        self.trials += 1;
        match outcome {
            Outcome::Masked => self.masked += 1,
            Outcome::Deviated => self.deviated += 1,
            Outcome::Detected => self.detected += 1,
        }
    }
}

/// How many microseconds a plain inference takes: the median of many, after some to warm up.
pub(super) fn plain_us(model: &Model, feeds: &[(&str, Tensor)]) -> anyhow::Result<f64> {
    const WARM_UP: usize = 20;
    const TIMED: usize = 201;
    let mut times = Vec::with_capacity(WARM_UP + TIMED);
    for _ in 0..WARM_UP + TIMED {
        let start = Instant::now();
        model.run(feeds)?;
        times.push(start.elapsed());
    }
    let timed = &mut times[WARM_UP..];
    timed.sort();
    Ok(timed[TIMED / 2].as_secs_f64() * 1e6)
}
