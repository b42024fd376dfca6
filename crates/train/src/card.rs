//! Model cards: what a model is, how it was trained, what it costs and how good it is.

use crate::{Epoch, Recipe, Score};
use cpu_time::ProcessTime;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// All that somebody should know of a model before they use it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// The model's name.
    pub name: String,
    /// The architecture it was built from.
    pub architecture: String,
    /// How many numbers it has learned.
    pub parameters: usize,
    /// What it was trained on.
    pub data: String,
    /// The names of its classes; none for a model that answers numbers.
    pub classes: Vec<String>,
    /// How it was trained.
    pub recipe: Recipe,
    /// What its scores were measured on; empty in cards from before this was said.
    #[serde(default)]
    pub measured_on: String,
    /// How good it is on cases that it has not seen.
    pub scores: Vec<Score>,
    /// What its training cost.
    pub cost: Cost,
    /// What each epoch came to.
    pub epochs: Vec<Epoch>,
    /// The command that trains it again.
    pub command: String,
    /// The version of the program that trained it.
    pub version: String,
}

/// What a training cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Seconds that passed.
    pub wall_seconds: f64,
    /// Seconds that processors worked, over all threads.
    pub cpu_seconds: f64,
    /// Milliseconds that passed for each image each time it was seen.
    pub wall_ms_per_sample: f64,
    /// Milliseconds that processors worked for each image each time it was seen.
    pub cpu_ms_per_sample: f64,
    /// How many threads worked.
    pub threads: usize,
}

pub(crate) struct Clock {
    wall: Instant,
    cpu: ProcessTime,
    /// What passed in pauses, by both clocks.
    paused: [Duration; 2],
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { wall: Instant::now(), cpu: ProcessTime::now(), paused: [Duration::ZERO; 2] }
    }

    fn elapsed(&self) -> [Duration; 2] {
        [self.wall.elapsed(), self.cpu.elapsed()]
    }

    /// Does something that does not count.
    pub(crate) fn pause<T>(&mut self, something: impl FnOnce() -> T) -> T {
        let before = self.elapsed();
        let done = something();
        let after = self.elapsed();
        for ((paused, after), before) in self.paused.iter_mut().zip(after).zip(before) {
            *paused += after.saturating_sub(before);
        }
        done
    }

    pub(crate) fn cost(&self, samples: usize, threads: usize) -> Cost {
        let [wall, cpu] = self.elapsed();
        let [wall, cpu] = [(wall, self.paused[0]), (cpu, self.paused[1])]
            .map(|(all, paused)| all.saturating_sub(paused).as_secs_f64());
        let each = |seconds: f64| seconds * 1e3 / samples.max(1) as f64;
        Cost {
            wall_seconds: wall,
            cpu_seconds: cpu,
            wall_ms_per_sample: each(wall),
            cpu_ms_per_sample: each(cpu),
            threads,
        }
    }
}
