//! What a training costs in time.

use cpu_time::ProcessTime;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// The cost of a training.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Wall-clock seconds.
    pub wall_seconds: f64,
    /// CPU seconds, over all threads.
    pub cpu_seconds: f64,
    /// Wall-clock milliseconds per image and epoch.
    pub wall_ms_per_sample: f64,
    /// CPU milliseconds per image and epoch.
    pub cpu_ms_per_sample: f64,
    /// How many threads were used.
    pub threads: usize,
}

/// Measures a training, pauses left out.
pub(crate) struct Clock {
    wall: Instant,
    cpu: ProcessTime,
    /// The length of all pauses, by both clocks.
    paused: [Duration; 2],
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { wall: Instant::now(), cpu: ProcessTime::now(), paused: [Duration::ZERO; 2] }
    }

    fn elapsed(&self) -> [Duration; 2] {
        [self.wall.elapsed(), self.cpu.elapsed()]
    }

    /// Runs a function whose time does not count.
    pub(crate) fn pause<T>(&mut self, run: impl FnOnce() -> T) -> T {
        let before = self.elapsed();
        let done = run();
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
        let samples = samples.max(1) as f64;
        Cost {
            wall_seconds: wall,
            cpu_seconds: cpu,
            wall_ms_per_sample: wall * 1e3 / samples,
            cpu_ms_per_sample: cpu * 1e3 / samples,
            threads,
        }
    }
}
