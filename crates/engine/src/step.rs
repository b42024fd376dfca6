//! One step of a run: an operator that computes pixels, and the element-wise functions that follow
//! it while the pixels are still in the cache.

#![expect(unsafe_code, reason = "threads and trials write disjoint rows; see kernels")]

use crate::error::OperandError;
use crate::kernels::elementwise::{Binary, Unary, affine, binary, unary};
use crate::kernels::grid::{Floats, Grid, Order, Region, Source, Spot};
use crate::op::{Function, Local, Op};
use crate::value::Value;
use faultlens_core::DType;
use rayon::prelude::*;
use std::ops::Range;

/// Pixels that are computed, and then finished by the fused functions, in one go.
const BLOCK: usize = 192;
/// Values below which a step is not worth sharing out between threads.
const SMALL: usize = 1 << 13;

/// The functions that follow a step's operator, as a small program over rows. Register 0 is the
/// output row itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct FusedOps {
    pub(crate) ops: Vec<FusedOp>,
    /// Registers beside the output row.
    pub(crate) scratch: usize,
}

/// One of the fused functions.
#[derive(Debug, Clone)]
pub(crate) struct FusedOp {
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

impl FusedOps {
    /// One function of the output row, its other operand in source 1.
    pub(crate) fn of(function: &Function) -> Self {
        let other = matches!(function, Function::Binary(_)).then_some(Other::Source(1));
        let op = FusedOp { function: function.clone(), from: 0, to: 0, other, swapped: false };
        Self { ops: vec![op], scratch: 0 }
    }

    /// The same functions behind an operator with `sources` sources of its own, and behind its
    /// own function where it is element-wise itself.
    pub(crate) fn behind(&self, own: Option<&Function>, sources: usize) -> Self {
        let mut fused = own.map(Self::of).unwrap_or_default();
        fused.scratch = self.scratch;
        fused.ops.extend(self.ops.iter().map(|op| {
            let other = match op.other {
                Some(Other::Source(external)) => Some(Other::Source(sources + external)),
                other => other,
            };
            FusedOp { other, ..op.clone() }
        }));
        fused
    }

    /// Whether every register that is read or written exists.
    fn registers_exist(&self) -> bool {
        self.ops.iter().all(|op| {
            let other = match op.other {
                Some(Other::Register(register)) => register,
                _ => 0,
            };
            op.from.max(op.to).max(other) <= self.scratch
        })
    }

    /// Rounds results to the type that the model stores.
    pub(crate) fn rounded(mut self, dtype: DType) -> Self {
        let Some(function) = rounding(dtype) else { return self };
        let round = FusedOp {
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
                let round = FusedOp { from: op.to, to: op.to, ..round.clone() };
                [op, round]
            })
            .collect();
        // The operator's own answer is stored too, so it is rounded before the first function.
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

/// Computes the jobs' pixels in `channels`, and the fused functions behind them.
///
/// # Panics
/// If `width` is not that of the operator's output, or the channels do not exist.
///
/// # Safety
/// Every job's `out` must have room for its region's pixels of `width` values, and jobs may not
/// overlap.
pub(crate) unsafe fn compute(
    local: &dyn Local,
    fused: &FusedOps,
    width: usize,
    jobs: &[Job<'_>],
    channels: Range<usize>,
) {
    assert_eq!(width, Grid::of(local.shape(), local.order()).width, "rows are those of the output");
    assert!(channels.start <= channels.end && channels.end <= width, "the channels exist");
    assert!(fused.registers_exist(), "functions work on registers that there are");
    let mut spots: Vec<Spot<'_>> = Vec::with_capacity(BLOCK);
    // Where in the block another job begins.
    let mut starts: Vec<usize> = Vec::new();
    let mut scratch = Vec::new();
    for job in jobs {
        assert!(job.pixels.end <= job.region.pixels(), "a job's pixels lie in its region");
        starts.push(spots.len());
        let mut at = job.region.at(job.pixels.start);
        for pixel in job.pixels.clone() {
            // SAFETY: `pixel` lies inside the region, for which the caller promises room.
            let out = unsafe { job.out.add(pixel * width) };
            spots.push(Spot { sources: &job.sources, at, out });
            at = job.region.next(at);
            if spots.len() == BLOCK {
                let runs =
                    Runs { spots: &spots, starts: &starts, width, channels: channels.clone() };
                // SAFETY: the caller vouches for the jobs' rows.
                unsafe { runs.compute(local, fused, &mut scratch) };
                spots.clear();
                starts.clear();
                starts.push(0);
            }
        }
    }
    if !spots.is_empty() {
        let runs = Runs { spots: &spots, starts: &starts, width, channels };
        // SAFETY: as above.
        unsafe { runs.compute(local, fused, &mut scratch) };
    }
}

/// Spots of one block. Rows of one job follow each other in memory and are worked on as one run.
struct Runs<'a> {
    spots: &'a [Spot<'a>],
    /// The spots at which another job begins, in rising order.
    starts: &'a [usize],
    width: usize,
    channels: Range<usize>,
}

impl Runs<'_> {
    /// Computes the spots, then applies the fused functions to their rows.
    ///
    /// # Safety
    /// Every spot must have room for `width` values, no two may share one, and those of a job must
    /// follow each other. The registers of the fused functions must exist.
    unsafe fn compute(&self, local: &dyn Local, fused: &FusedOps, scratch: &mut Vec<f32>) {
        // SAFETY: the caller's promise is passed on.
        unsafe { local.compute(self.spots, self.channels.clone()) };
        scratch.resize(fused.scratch * self.spots.len() * self.channels.len(), 0.0);
        for op in &fused.ops {
            let mut start = 0;
            while start < self.spots.len() {
                let end = self.end(start);
                // SAFETY: the run's rows follow each other, and scratch has a row per register and
                // spot.
                unsafe { self.apply(op, start..end, scratch) };
                start = end;
            }
        }
    }

    /// One past the last spot of the run that begins at `start`: rows of some channels stand alone,
    /// whole rows go on to the end of their job. Two jobs never share a run, although the memory of
    /// one may end where that of the other begins: they are two allocations.
    fn end(&self, start: usize) -> usize {
        if self.channels.len() != self.width {
            return start + 1;
        }
        let next = self.starts.partition_point(|&first| first <= start);
        self.starts.get(next).copied().unwrap_or(self.spots.len())
    }

    /// The rows of a run in a register.
    ///
    /// # Safety
    /// The run must be one of [`Runs::end`], the register must exist, and nobody else may hold its
    /// rows.
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

    /// Applies one function to the rows of a run.
    ///
    /// # Safety
    /// As for [`Runs::rows`], for every register that the function names.
    unsafe fn apply(&self, op: &FusedOp, run: Range<usize>, scratch: &mut [f32]) {
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
                (Function::Binary(function), Some(Other::Source(source))) => {
                    self.with_source(*function, op.swapped, run, rows, source);
                }
                (Function::Binary(_), None) => unreachable!("a function of two has two operands"),
            }
        }
    }

    /// Combines rows with a source: stretches that lie together at once, others one by one.
    fn with_source(
        &self,
        function: Binary,
        swapped: bool,
        run: Range<usize>,
        rows: &mut [f32],
        source: usize,
    ) {
        let row = self.channels.len();
        let mut at = 0;
        while at < run.len() {
            let (values, count) = self.stretch(run.start + at..run.end, source);
            binary(function, &mut rows[at * row..(at + count) * row], values, swapped);
            at += count;
        }
    }

    /// A source's values for the first of the spots, and for those behind it whose pixels follow in
    /// the same memory; and for how many spots that is. Golden and a patch are two allocations, which
    /// are never read as one even where their addresses meet.
    fn stretch(&self, spots: Range<usize>, source: usize) -> (&[f32], usize) {
        let width = self.spots[spots.start].sources[source].grid().width;
        let (data, first) = self.locate(spots.start, source);
        let pixel = &data[first * width..][..width];
        if width == 1 {
            return (pixel, 1);
        }
        if self.channels.len() != self.width {
            return (&pixel[self.channels.clone()], 1);
        }
        let mut count = 1;
        while count < spots.len() {
            let (next_data, next) = self.locate(spots.start + count, source);
            if !std::ptr::eq(next_data, data) || next != first + count {
                break;
            }
            count += 1;
        }
        (&data[first * width..][..count * width], count)
    }

    /// The memory in which a spot finds a source's pixel, and the pixel's place there.
    fn locate(&self, spot: usize, source: usize) -> (&[f32], usize) {
        let spot = &self.spots[spot];
        let source = &spot.sources[source];
        source.locate(source.broadcast_at(spot.at))
    }
}

/// Computes a whole output on up to `threads` threads. How it is shared out changes no bit.
pub(crate) fn fill(
    local: &dyn Local,
    fused: &FusedOps,
    sources: &[Source<'_>],
    out: &mut [f32],
    threads: usize,
) {
    let grid = Grid::of(local.shape(), local.order());
    let pixels = grid.pixels();
    let width = grid.width;
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
    // Pixels are shared out where there are enough of them; else channels, which then stream
    // disjoint weights.
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
        unsafe { compute(local, fused, width, std::slice::from_ref(job), channels.clone()) }
    };
    if let [task] = tasks.as_slice() { run(task) } else { tasks.par_iter().for_each(run) }
}

/// Cuts `0..total` into up to `parts` ranges whose ends are multiples of `step`.
fn shares(total: usize, parts: usize, step: usize) -> impl Iterator<Item = Range<usize>> {
    // Ends at whole panels: two threads must not share one.
    let each = total.div_ceil(parts).next_multiple_of(step).max(1);
    (0..total).step_by(each).map(move |from| from..(from + each).min(total))
}

/// Runs an operator that computes pixels on whole operands, outside of any plan.
pub(crate) fn run_alone(
    op: &dyn Op,
    operands: &[Option<&Value>],
) -> Result<Option<Value>, OperandError> {
    let alike = alike(operands);
    let operands: Vec<Option<Value>> =
        operands.iter().map(|v| v.map(|v| ordered(v, alike))).collect();
    let operands: Vec<Option<&Value>> = operands.iter().map(Option::as_ref).collect();
    let Some(local) = op.local(&operands)? else { return Ok(None) };
    let fused = op.elementwise().map_or_else(FusedOps::default, |e| FusedOps::of(&e.function));
    let sources: Vec<&Floats> =
        local.sources().iter().filter_map(|&s| operands[s]?.floats()).collect();
    Ok(Some(run_whole(&*local, fused, &sources, 1, Vec::new())))
}

/// Channels last if any float operand is.
pub(crate) fn alike(operands: &[Option<&Value>]) -> Order {
    let any = operands
        .iter()
        .flatten()
        .any(|v| v.floats().is_some_and(|f| f.order == Order::ChannelsLast));
    if any { Order::ChannelsLast } else { Order::RowMajor }
}

fn ordered(value: &Value, order: Order) -> Value {
    crate::value::Slot::new(value.clone()).in_order(order).clone()
}

/// Computes a whole value into `buffer`, or into a new one where that does not fit.
pub(crate) fn run_whole(
    local: &dyn Local,
    fused: FusedOps,
    sources: &[&Floats],
    threads: usize,
    buffer: Vec<f32>,
) -> Value {
    let shape = local.shape().to_vec();
    let dtype = sources.first().map_or(DType::F32, |f| f.dtype);
    let length = shape.iter().product();
    let mut data = if buffer.len() == length { buffer } else { vec![0.0; length] };
    // A whole run has no patches.
    let sources: Vec<Source<'_>> = sources.iter().map(|f| Source::new(f, None)).collect();
    fill(local, &fused.rounded(dtype), &sources, &mut data, threads);
    Value::Floats(Floats { shape, order: local.order(), dtype, data })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::grid::Patch;

    /// Two halves of one array stand for two allocations that happen to be neighbours.
    #[test]
    fn neighbours_by_address_alone_are_not_joined() {
        let values = [1.0, 2.0, 3.0, 4.0];
        let (left, right) = values.split_at(2);
        let grid = Grid { axes: [1, 1, 1], width: 2 };
        let sources = [left, right].map(|golden| [Source::of(grid, golden, None)]);
        let mut rows = [0.0f32; 4];
        let (a, b) = rows.split_at_mut(2);
        let outs = [a.as_mut_ptr(), b.as_mut_ptr()];
        let spots: Vec<Spot<'_>> = sources
            .iter()
            .zip(outs)
            .map(|(sources, out)| Spot { sources, at: [0; 3], out })
            .collect();
        let runs = Runs { spots: &spots, starts: &[0, 1], width: 2, channels: 0..2 };
        assert_eq!(runs.end(0), 1, "outputs of two jobs");
        assert_eq!(runs.end(1), 2, "the last job ends with the block");
        assert_eq!(runs.stretch(0..2, 0), (left, 1), "pixels of two slices");
    }

    #[test]
    fn pixels_side_by_side_are_read_as_one_up_to_a_patch() {
        let golden = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let grid = Grid { axes: [1, 1, 3], width: 2 };
        let last = Region::pixel([0, 0, 2]);
        let patch = Patch { stored: last, live: last, data: vec![7.0, 8.0] };
        let sources = [Source::of(grid, &golden, Some(&patch))];
        let mut rows = [0.0f32; 6];
        let out = rows.as_mut_ptr();
        let spots: Vec<Spot<'_>> = (0..3)
            .map(|w| Spot { sources: &sources, at: [0, 0, w], out: out.wrapping_add(2 * w) })
            .collect();
        let runs = Runs { spots: &spots, starts: &[0], width: 2, channels: 0..2 };
        assert_eq!(runs.end(0), 3);
        assert_eq!(runs.stretch(0..3, 0), (&golden[..4], 2));
        assert_eq!(runs.stretch(2..3, 0), (&[7.0, 8.0][..], 1));
    }

    #[test]
    #[should_panic(expected = "registers that there are")]
    fn fused_ops_with_too_few_registers_is_refused() {
        struct Copy;
        impl Local for Copy {
            fn shape(&self) -> &[usize] {
                &[1]
            }
            fn order(&self) -> Order {
                Order::RowMajor
            }
            fn reach(&self, _source: usize, region: Region) -> Region {
                region
            }
            unsafe fn compute(&self, _spots: &[Spot<'_>], _channels: Range<usize>) {}
        }
        let mut fused = FusedOps::of(&Function::Unary(Unary::Relu));
        fused.ops[0].to = 1;
        fill(&Copy, &fused, &[], &mut [0.0], 1);
    }
}
