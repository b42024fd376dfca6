//! The only way from an attack to its target: queries in batches, and keeps account of the cost.

use super::Norm;
use super::target::{AttackTarget, Goal, Gradient, Question, Reply};
use cpu_time::ThreadTime;
use faultlens_core::{Stream, TargetError};
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

/// Why a search ends before the attack is done.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Halt {
    /// A sample's queries are used up.
    #[error("the queries are used up")]
    Spent,
    /// An image is none: some of its values lie outside 0 to 1.
    #[error("the image has values outside 0 to 1, or that are no numbers; scale them first")]
    Outside,
    /// The target gave no answer.
    #[error(transparent)]
    Target(#[from] TargetError),
}

/// Whether people would let a point pass for the image.
type Passes<'a> = &'a dyn Fn(&[f32]) -> bool;

/// One image under attack.
pub struct Sample<'a> {
    start: Vec<f32>,
    /// Whether that is no image.
    outside: bool,
    goal: Goal,
    stream: Stream,
    max_queries: u64,
    /// Whether people would let a change pass, where they must not notice it.
    unnoticed: Option<Passes<'a>>,
    cost: AttackCost,
    best: Option<Tried>,
    last: Option<Tried>,
}

/// A point that was queried.
struct Tried {
    distance: f64,
    point: Vec<f32>,
    draws: RangeInclusive<u64>,
}

/// What an attack on a sample has cost, and when it first had what it wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct AttackCost {
    /// How often the target was queried; a gradient is a query, too.
    pub queries: u64,
    /// How many of those were for gradients.
    pub gradients: u64,
    /// Time that a processor worked on it, a share of the whole where samples went together.
    pub cpu: Duration,
    /// Time that passed, shared in the same way.
    pub wall: Duration,
    /// When the answer first changed.
    pub first: Option<First>,
}

/// When an answer first changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct First {
    /// After so many queries; of those that were made together, the later ones do not count.
    pub queries: u64,
    /// Of those so many for gradients.
    pub gradients: u64,
    /// After so much work of a processor.
    pub cpu: Duration,
    /// After so much time.
    pub wall: Duration,
    /// So far from the undisturbed image, by the attack's norm.
    pub distance: f64,
}

/// What came of an attack on a sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The closest point with the wanted answer; where there is none, the last that was tried.
    pub point: Vec<f32>,
    /// The numbers of the queries about it, by which random answers can be had again.
    pub draws: RangeInclusive<u64>,
    /// What it took.
    pub cost: AttackCost,
}

/// The queries of a sample.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    queries: u64,
    gradients: u64,
}

/// What was asked together with a question and follows it.
#[derive(Debug, Clone, Copy)]
struct Behind {
    /// How many queries the one itself is.
    draws: u64,
    cost: Cost,
    cpu: Duration,
    wall: Duration,
}

/// One attack on a target: samples in, queries counted, results out.
pub struct AttackSession<'a> {
    target: &'a dyn AttackTarget,
    norm: Norm,
    /// How many answers are put together where answers are drawn.
    draws: u64,
    samples: Vec<Sample<'a>>,
    /// When the last answers came, by the clock of this thread's processor time and of the wall.
    lap_cpu: ThreadTime,
    lap_wall: Instant,
}

impl<'a> Sample<'a> {
    /// A sample as it is undisturbed, and what is wanted of its answer. The attack may make
    /// `max_queries` queries.
    pub fn new(start: Vec<f32>, goal: Goal, stream: Stream, max_queries: u64) -> Self {
        let outside = !start.iter().all(|value| (0.0..=1.0).contains(value));
        Self {
            start,
            outside,
            goal,
            stream,
            max_queries,
            unnoticed: None,
            cost: AttackCost::default(),
            best: None,
            last: None,
        }
    }

    /// The same, where only changes count that this lets pass.
    pub fn unnoticed(mut self, passes: &'a dyn Fn(&[f32]) -> bool) -> Self {
        self.unnoticed = Some(passes);
        self
    }

    /// Notes an answer; `behind` questions of the sample were asked together with it and follow,
    /// and what they cost is not what it took. The image itself is no change, whatever a target
    /// that draws its answers says to it.
    fn note(&mut self, point: &[f32], changed: bool, norm: Norm, behind: Behind) {
        let distance = norm.distance(point, &self.start);
        let number = self.cost.queries - behind.cost.queries;
        let draws = (number + 1).saturating_sub(behind.draws)..=number;
        let found = changed && distance > 0.0;
        if found && self.unnoticed.is_none_or(|passes| passes(point)) {
            let cpu = self.cost.cpu.saturating_sub(behind.cpu);
            let wall = self.cost.wall.saturating_sub(behind.wall);
            let gradients = self.cost.gradients - behind.cost.gradients;
            let first = First { queries: number, gradients, cpu, wall, distance };
            self.cost.first.get_or_insert(first);
            if self.best.as_ref().is_none_or(|best| distance < best.distance) {
                self.best = Some(Tried { distance, point: point.to_vec(), draws });
            }
        } else if self.best.is_none() {
            self.last = Some(Tried { distance, point: point.to_vec(), draws });
        }
    }
}

impl<'a> AttackSession<'a> {
    /// A session that has made no query yet.
    pub fn new(target: &'a dyn AttackTarget, norm: Norm, samples: Vec<Sample<'a>>) -> Self {
        Self {
            target,
            norm,
            draws: 1,
            samples,
            lap_cpu: ThreadTime::now(),
            lap_wall: Instant::now(),
        }
    }

    /// The same against answers that are drawn: each question is asked so often, and the answers
    /// are put together.
    pub fn averaging(mut self, draws: u64) -> Self {
        self.draws = draws.max(1);
        self
    }

    /// How many samples are attacked.
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// Whether there is no sample.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// Channels, height and width of a point.
    pub fn shape(&self) -> [usize; 3] {
        self.target.shape()
    }

    /// A sample as it is undisturbed.
    pub fn start(&self, sample: usize) -> &[f32] {
        &self.samples[sample].start
    }

    /// What is wanted of a sample's answer.
    pub fn goal(&self, sample: usize) -> Goal {
        self.samples[sample].goal
    }

    /// A sample's own random numbers.
    pub fn stream(&mut self, sample: usize) -> &mut Stream {
        &mut self.samples[sample].stream
    }

    /// Whether an answer to the sample has changed as wanted.
    pub fn is_found(&self, sample: usize) -> bool {
        self.samples[sample].cost.first.is_some()
    }

    /// The closest point with the wanted answer so far.
    pub fn best(&self, sample: usize) -> Option<&[f32]> {
        self.samples[sample].best.as_ref().map(|best| best.point.as_slice())
    }

    /// How many queries a sample has left.
    pub fn left(&self, sample: usize) -> u64 {
        let Sample { max_queries, cost, .. } = &self.samples[sample];
        max_queries.saturating_sub(cost.queries)
    }

    /// How many more points of a sample can be asked about: where answers are drawn, a point
    /// costs several questions.
    pub fn affords(&self, sample: usize) -> usize {
        usize::try_from(self.left(sample) / self.draws).unwrap_or(usize::MAX)
    }

    /// The samples that are not found yet and can still be asked about; where one is no image,
    /// that instead.
    pub fn open(&self) -> Result<Vec<usize>, Halt> {
        if self.samples.iter().any(|sample| sample.outside) {
            return Err(Halt::Outside);
        }
        let mut open: Vec<usize> = (0..self.len()).collect();
        open.retain(|&sample| !self.is_found(sample) && self.affords(sample) > 0);
        Ok(open)
    }

    /// Draws a point back towards its start until people do not notice the change; leaves it
    /// where no limit is set.
    pub fn confine(&self, sample: usize, point: &mut [f32]) {
        let Sample { start, unnoticed, .. } = &self.samples[sample];
        let Some(passes) = unnoticed else { return };
        if passes(point) {
            return;
        }
        // Bisection of the straight line from the start to the point.
        let mut low = 0.0f32;
        let mut high = 1.0f32;
        for _ in 0..CONFINING {
            let middle = 0.5 * (low + high);
            if passes(&along(start, point, middle)) { low = middle } else { high = middle }
        }
        let confined = along(start, point, low);
        point.copy_from_slice(&confined);
    }

    /// Asks about points of samples.
    pub fn ask(&mut self, points: &[(usize, &[f32])]) -> Result<Vec<Reply>, Halt> {
        if points.is_empty() {
            return Ok(Vec::new());
        }
        let each = Cost { queries: self.draws, gradients: 0 };
        let costs = self.charge(points, each)?;
        let answers = self.target.ask(&self.questions(points, &costs));
        let time = self.share_time(points);
        let answers = answers?;
        let replies: Vec<Reply> = answers.chunks(self.draws as usize).map(together).collect();
        self.note(points, &replies, costs, (each, time));
        Ok(replies)
    }

    /// Asks about points of samples, and how a weighted sum of the logits depends on them.
    /// `slope(at, logits)` says the weights for point `at`.
    pub fn gradients(
        &mut self,
        points: &[(usize, &[f32])],
        slope: &mut dyn FnMut(usize, &[f32]) -> Vec<f32>,
    ) -> Result<Vec<Gradient>, Halt> {
        if points.is_empty() {
            return Ok(Vec::new());
        }
        let each = Cost { queries: self.draws, gradients: self.draws };
        let costs = self.charge(points, each)?;
        let draws = self.draws as usize;
        let questions = self.questions(points, &costs);
        let answers =
            self.target.gradients(&questions, &mut |at, logits| slope(at / draws, logits));
        let time = self.share_time(points);
        let answers = answers?;
        let gradients: Vec<Gradient> = answers.chunks(draws).map(mean).collect();
        let replies: Vec<Reply> = gradients.iter().map(|gradient| gradient.reply).collect();
        self.note(points, &replies, costs, (each, time));
        Ok(gradients)
    }

    /// What came of it.
    pub fn finish(self) -> Vec<Found> {
        let mut found = Vec::with_capacity(self.samples.len());
        for sample in self.samples {
            let nothing = Tried { distance: 0.0, point: sample.start, draws: 0..=0 };
            let Tried { point, draws, .. } = sample.best.or(sample.last).unwrap_or(nothing);
            found.push(Found { point, draws, cost: sample.cost });
        }
        found
    }

    /// The queries about points that are charged already; each has a number of its own among the
    /// sample's, so that random answers are drawn anew.
    fn questions<'q>(&'q self, points: &[(usize, &'q [f32])], costs: &[Cost]) -> Vec<Question<'q>> {
        let mut asked: Vec<u64> = Vec::with_capacity(self.samples.len());
        for (sample, cost) in self.samples.iter().zip(costs) {
            asked.push(sample.cost.queries - cost.queries);
        }
        let mut questions = Vec::with_capacity(points.len() * self.draws as usize);
        for &(sample, point) in points {
            let goal = &self.samples[sample].goal;
            for _ in 0..self.draws {
                asked[sample] += 1;
                questions.push(Question { point, goal, draw: asked[sample] });
            }
        }
        questions
    }

    /// Charges samples for queries before they are made, and answers how many they are by sample;
    /// none is made where a sample cannot afford all of its own.
    fn charge(&mut self, points: &[(usize, &[f32])], each: Cost) -> Result<Vec<Cost>, Halt> {
        let mut costs = vec![Cost::default(); self.samples.len()];
        for &(sample, _) in points {
            costs[sample].queries += each.queries;
            costs[sample].gradients += each.gradients;
        }
        if (0..costs.len()).any(|sample| costs[sample].queries > self.left(sample)) {
            return Err(Halt::Spent);
        }
        for (sample, cost) in self.samples.iter_mut().zip(&costs) {
            sample.cost.queries += cost.queries;
            sample.cost.gradients += cost.gradients;
        }
        Ok(costs)
    }

    /// The time since the last answers belongs to the samples that were asked about; answers the
    /// processor's and the wall's for one point.
    fn share_time(&mut self, points: &[(usize, &[f32])]) -> [Duration; 2] {
        let cpu = self.lap_cpu.elapsed();
        let wall = self.lap_wall.elapsed();
        self.lap_cpu = ThreadTime::now();
        self.lap_wall = Instant::now();
        let each = [cpu, wall].map(|time| time.mul_f64(1.0 / points.len().max(1) as f64));
        for &(sample, _) in points {
            let cost = &mut self.samples[sample].cost;
            cost.cpu += each[0];
            cost.wall += each[1];
        }
        each
    }

    fn note(
        &mut self,
        points: &[(usize, &[f32])],
        replies: &[Reply],
        mut behind: Vec<Cost>,
        (each, [cpu, wall]): (Cost, [Duration; 2]),
    ) {
        for (&(sample, point), reply) in points.iter().zip(replies) {
            let cost = &mut behind[sample];
            cost.queries -= each.queries;
            cost.gradients -= each.gradients;
            let points = (cost.queries / each.queries.max(1)) as u32;
            let draws = each.queries;
            let behind = Behind { draws, cost: *cost, cpu: cpu * points, wall: wall * points };
            self.samples[sample].note(point, reply.changed, self.norm, behind);
        }
    }
}

/// How often the way to a point is halved to find where people begin to notice.
const CONFINING: usize = 8;

/// The point at a share of the way from a start to a point.
fn along(start: &[f32], point: &[f32], share: f32) -> Vec<f32> {
    start.iter().zip(point).map(|(from, to)| from + share * (to - from)).collect()
}

/// Several answers to the same question: what most of them say, and how sure they are on average.
fn together(replies: &[Reply]) -> Reply {
    let mean = |of: fn(&Reply) -> Option<f64>| {
        let sum: Option<f64> = replies.iter().map(of).sum();
        sum.map(|sum| sum / replies.len().max(1) as f64)
    };
    let changed = replies.iter().filter(|reply| reply.changed).count();
    Reply {
        changed: 2 * changed > replies.len(),
        resistance: mean(|reply| reply.resistance),
        margin: mean(|reply| reply.margin),
    }
}

fn mean(gradients: &[Gradient]) -> Gradient {
    let replies: Vec<Reply> = gradients.iter().map(|gradient| gradient.reply).collect();
    let average = |of: fn(&Gradient) -> &[f32]| {
        let mut sum = gradients.first().map(|first| of(first).to_vec()).unwrap_or_default();
        for other in gradients.iter().skip(1) {
            sum.iter_mut().zip(of(other)).for_each(|(sum, value)| *sum += value);
        }
        let each = 1.0 / gradients.len().max(1) as f32;
        sum.iter_mut().for_each(|value| *value *= each);
        sum
    };
    Gradient {
        reply: together(&replies),
        logits: average(|gradient| &gradient.logits),
        slope: average(|gradient| &gradient.slope),
    }
}
