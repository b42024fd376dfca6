//! One step of a run: an operator that computes pixels, and the element-wise functions that follow
//! it while the pixels are still in the cache.

#![expect(unsafe_code, reason = "threads and trials write disjoint rows; see kernels")]

use crate::error::Misfit;
use crate::kernels::elementwise::{Unary, affine, binary, unary};
use crate::kernels::grid::{Floats, Grid, Order, Region, Source, Spot};
use crate::ops::{Function, Local, Op};
use crate::value::Value;
use faultlens_core::DType;
use rayon::prelude::*;
use std::ops::Range;

/// Pixels that are computed, and then finished by the tail, in one go.
const BLOCK: usize = 192;
/// Values below which a step is not worth sharing out between threads.
const SMALL: usize = 1 << 13;

/// The functions that follow a step's operator, as a small program over rows. Register 0 is the
/// output row itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tail {
    pub(crate) ops: Vec<TailOp>,
    /// Registers beside the output row.
    pub(crate) scratch: usize,
}

/// One function of a tail.
#[derive(Debug, Clone)]
pub(crate) struct TailOp {
    pub(crate) function: Function,
    /// Register that holds the first operand; copied where it differs from `to`.
    pub(crate) from: usize,
    /// Register that receives the result.
    pub(crate) to: usize,
    /// The second operand of a function of two.
    pub(crate) other: Option<Other>,
    /// Whether the register's value is the second operand of the two.
    pub(crate) swapped: bool,
}

/// Where a function of two finds its other operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Other {
    /// In a register.
    Register(usize),
    /// At the same place of one of the spot's sources.
    Source(usize),
}

impl Tail {
    /// One function of the output row, its other operand in source 1.
    pub(crate) fn of(function: &Function) -> Self {
        let other = matches!(function, Function::Binary(_)).then_some(Other::Source(1));
        let op = TailOp { function: function.clone(), from: 0, to: 0, other, swapped: false };
        Self { ops: vec![op], scratch: 0 }
    }

    /// The same functions behind an operator with `sources` sources of its own, and behind its
    /// own function where it is element-wise itself.
    pub(crate) fn behind(&self, own: Option<&Function>, sources: usize) -> Self {
        let mut tail = own.map(Self::of).unwrap_or_default();
        tail.scratch = self.scratch;
        tail.ops.extend(self.ops.iter().map(|op| {
            let other = match op.other {
                Some(Other::Source(external)) => Some(Other::Source(sources + external)),
                other => other,
            };
            TailOp { other, ..op.clone() }
        }));
        tail
    }

    /// Rounds results to the type that the model stores.
    pub(crate) fn rounded(mut self, dtype: DType) -> Self {
        let Some(function) = rounding(dtype) else { return self };
        let round = TailOp {
            function: Function::Unary(function),
            from: 0,
            to: 0,
            other: None,
            swapped: false,
        };
        self.ops = self
            .ops
            .into_iter()
            .flat_map(|op| {
                let round = TailOp { from: op.to, to: op.to, ..round.clone() };
                [op, round]
            })
            .collect();
        self.ops.insert(0, round);
        self
    }
}

fn rounding(dtype: DType) -> Option<Unary> {
    match dtype {
        DType::F16 => Some(Unary::RoundToF16),
        DType::BF16 => Some(Unary::RoundToBf16),
        _ => None,
    }
}

/// Rounds a value to the type that the model stores it in.
pub(crate) fn round(floats: &mut Floats) {
    if let Some(function) = rounding(floats.dtype) {
        unary(function, &mut floats.data);
    }
}

/// Some pixels of one output to compute: of golden, or of one trial.
pub(crate) struct Job<'a> {
    pub(crate) sources: Vec<Source<'a>>,
    pub(crate) region: Region,
    /// Which of the region's pixels, counted in row-major order.
    pub(crate) pixels: Range<usize>,
    /// Where the region's first pixel goes; the others follow without gaps.
    pub(crate) out: *mut f32,
}

// SAFETY: jobs write through `out` to rows that belong to them alone; all else is shared reading.
unsafe impl Send for Job<'_> {}
// SAFETY: as above.
unsafe impl Sync for Job<'_> {}

/// Computes the jobs' pixels in `channels`, and the tail behind them.
///
/// # Safety
/// Every job's `out` must have room for its region's pixels of `width` values, and jobs may not
/// overlap.
pub(crate) unsafe fn compute(
    local: &dyn Local,
    tail: &Tail,
    width: usize,
    jobs: &[Job<'_>],
    channels: Range<usize>,
) {
    let mut spots: Vec<Spot<'_>> = Vec::with_capacity(BLOCK);
    let mut scratch = Vec::new();
    let mut flush = |spots: &mut Vec<Spot<'_>>| {
        // SAFETY: the caller vouches for the jobs' rows.
        unsafe {
            local.compute(spots, channels.clone());
            finish(tail, spots, width, channels.clone(), &mut scratch);
        }
        spots.clear();
    };
    for job in jobs {
        let mut at = job.region.at(job.pixels.start);
        for pixel in job.pixels.clone() {
            // SAFETY: `pixel` lies inside the region.
            let out = unsafe { job.out.add(pixel * width) };
            spots.push(Spot { sources: &job.sources, at, out });
            at = job.region.next(at);
            if spots.len() == BLOCK {
                flush(&mut spots);
            }
        }
    }
    if !spots.is_empty() {
        flush(&mut spots);
    }
}

/// Applies the tail to the spots' rows.
unsafe fn finish(
    tail: &Tail,
    spots: &[Spot<'_>],
    width: usize,
    channels: Range<usize>,
    scratch: &mut Vec<f32>,
) {
    if tail.ops.is_empty() {
        return;
    }
    scratch.resize(tail.scratch * spots.len() * channels.len(), 0.0);
    let runs = Runs { spots, width, channels };
    for op in &tail.ops {
        let mut start = 0;
        while start < spots.len() {
            let end = runs.end(start);
            // SAFETY: the caller vouches for the rows.
            unsafe { runs.apply(op, start..end, scratch) };
            start = end;
        }
    }
}

/// Spots whose rows follow each other in memory are worked on as one.
struct Runs<'a> {
    spots: &'a [Spot<'a>],
    width: usize,
    channels: Range<usize>,
}

impl Runs<'_> {
    /// One past the last spot of the run that begins at `start`.
    fn end(&self, start: usize) -> usize {
        let whole = self.channels.len() == self.width;
        let follows =
            |i: usize| self.spots[i].out == self.spots[i - 1].out.wrapping_add(self.width);
        let mut end = start + 1;
        while whole && end < self.spots.len() && follows(end) {
            end += 1;
        }
        end
    }

    /// The rows of a run in a register.
    unsafe fn rows<'b>(
        &self,
        register: usize,
        run: &Range<usize>,
        scratch: *mut f32,
    ) -> &'b mut [f32] {
        let row = self.channels.len();
        // SAFETY: rows of a run follow each other; scratch has room for all spots per register.
        unsafe {
            let start = match register {
                0 => self.spots[run.start].out.add(self.channels.start),
                r => scratch.add(((r - 1) * self.spots.len() + run.start) * row),
            };
            std::slice::from_raw_parts_mut(start, run.len() * row)
        }
    }

    unsafe fn apply(&self, op: &TailOp, run: Range<usize>, scratch: &mut [f32]) {
        let scratch = scratch.as_mut_ptr();
        // SAFETY: registers are disjoint; one that is read and written at once is copied first.
        unsafe {
            let rows = self.rows(op.to, &run, scratch);
            if op.from != op.to {
                rows.copy_from_slice(self.rows(op.from, &run, scratch));
            }
            match (&op.function, op.other) {
                (Function::Unary(function), _) => unary(*function, rows),
                (Function::Affine { factor, offset }, _) => {
                    let c = self.channels.clone();
                    affine(rows, &factor[c.clone()], &offset[c]);
                }
                (Function::Binary(function), Some(Other::Register(r))) if r == op.to => {
                    let copy = rows.to_vec();
                    binary(*function, rows, &copy, op.swapped);
                }
                (Function::Binary(function), Some(Other::Register(r))) => {
                    let other = self.rows(r, &run, scratch);
                    // A single value would be taken for a scalar, which it then also is.
                    binary(*function, rows, other, op.swapped);
                }
                (Function::Binary(_), Some(Other::Source(source))) => {
                    self.with_source(op, run, rows, source);
                }
                (Function::Binary(_), None) => unreachable!("a function of two has two operands"),
            }
        }
    }

    /// Combines rows with a source: stretches that lie together at once, others one by one.
    fn with_source(&self, op: &TailOp, run: Range<usize>, rows: &mut [f32], source: usize) {
        let Function::Binary(function) = op.function else { return };
        let row = self.channels.len();
        let pixel = |i: usize| {
            let pixel = self.spots[i].sources[source].broadcast(self.spots[i].at);
            if pixel.len() == 1 { pixel } else { &pixel[self.channels.clone()] }
        };
        let mut at = 0;
        while at < run.len() {
            let first = pixel(run.start + at);
            let mut count = 1;
            if first.len() == row && row == self.width && row > 1 {
                while at + count < run.len() {
                    let next = pixel(run.start + at + count);
                    if next.as_ptr() != first.as_ptr().wrapping_add(count * row) {
                        break;
                    }
                    count += 1;
                }
            }
            let target = &mut rows[at * row..(at + count) * row];
            if count == 1 {
                binary(function, target, first, op.swapped);
            } else {
                // SAFETY: the pixels lie side by side in one value.
                let side_by_side =
                    unsafe { std::slice::from_raw_parts(first.as_ptr(), count * row) };
                binary(function, target, side_by_side, op.swapped);
            }
            at += count;
        }
    }
}

/// Computes a whole output on up to `threads` threads. How it is shared out changes no bit.
pub(crate) fn fill(
    local: &dyn Local,
    tail: &Tail,
    sources: &[Source<'_>],
    out: &mut [f32],
    threads: usize,
) {
    let grid = Grid::of(local.shape(), local.order());
    let (pixels, width) = (grid.pixels(), grid.width);
    assert_eq!(out.len(), pixels * width, "the output's buffer fits its shape");
    if out.is_empty() {
        return;
    }
    let start = out.as_mut_ptr();
    let job = |pixels: Range<usize>| Job {
        sources: sources.to_vec(),
        region: grid.all(),
        pixels,
        out: start,
    };
    let step = local.channel_step();
    let tasks: Vec<(Job<'_>, Range<usize>)> = if threads == 1 || out.len() < SMALL {
        vec![(job(0..pixels), 0..width)]
    } else if pixels >= 32 * threads || step.is_none() {
        shares(pixels, threads, 1).map(|range| (job(range), 0..width)).collect()
    } else {
        shares(width, threads, step.unwrap_or(1)).map(|range| (job(0..pixels), range)).collect()
    };
    let run = |(job, channels): &(Job<'_>, Range<usize>)| {
        // SAFETY: tasks differ in pixels or channels, and `out` has room for all.
        unsafe { compute(local, tail, width, std::slice::from_ref(job), channels.clone()) }
    };
    if let [task] = tasks.as_slice() { run(task) } else { tasks.par_iter().for_each(run) }
}

/// Cuts `0..total` into up to `parts` ranges whose ends are multiples of `step`.
fn shares(total: usize, parts: usize, step: usize) -> impl Iterator<Item = Range<usize>> {
    let each = total.div_ceil(parts).next_multiple_of(step).max(1);
    (0..total).step_by(each).map(move |from| from..(from + each).min(total))
}

/// Runs an operator that computes pixels on whole operands, outside of any plan.
pub(crate) fn run_alone(op: &dyn Op, operands: &[Option<&Value>]) -> Result<Option<Value>, Misfit> {
    let alike = alike(operands);
    let operands: Vec<Option<Value>> =
        operands.iter().map(|v| v.map(|v| ordered(v, alike))).collect();
    let operands: Vec<Option<&Value>> = operands.iter().map(Option::as_ref).collect();
    let Some(local) = op.local(&operands)? else { return Ok(None) };
    let tail = op.elementwise().map_or_else(Tail::default, |e| Tail::of(&e.function));
    let sources: Vec<&Floats> =
        local.sources().iter().filter_map(|&s| operands[s]?.floats()).collect();
    Ok(Some(run_whole(&*local, tail, &sources, 1, Vec::new())))
}

/// Channels last if any float operand is.
pub(crate) fn alike(operands: &[Option<&Value>]) -> Order {
    let last = |v: &&Value| v.floats().is_some_and(|f| f.order == Order::ChannelsLast);
    let any = operands.iter().flatten().any(last);
    if any { Order::ChannelsLast } else { Order::RowMajor }
}

fn ordered(value: &Value, order: Order) -> Value {
    crate::value::Slot::new(value.clone()).in_order(order).clone()
}

/// Computes a whole value into `buffer`, or into a new one where that does not fit.
pub(crate) fn run_whole(
    local: &dyn Local,
    tail: Tail,
    sources: &[&Floats],
    threads: usize,
    buffer: Vec<f32>,
) -> Value {
    let shape = local.shape().to_vec();
    let dtype = sources.first().map_or(DType::F32, |f| f.dtype);
    let length = shape.iter().product();
    let mut data = if buffer.len() == length { buffer } else { vec![0.0; length] };
    let sources: Vec<Source<'_>> = sources.iter().map(|f| Source::new(f, None)).collect();
    fill(local, &tail.rounded(dtype), &sources, &mut data, threads);
    Value::Floats(Floats { shape, order: local.order(), dtype, data })
}
