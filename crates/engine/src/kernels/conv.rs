//! Two-dimensional convolution over channels-last planes.

use super::depthwise::depthwise;
use super::gemm::{Packed, Rows, multiply};
use super::grid::{Patch, Region, Source, Spot};
use super::window::{PADDING, Window};
use std::ops::Range;
use std::sync::Arc;

/// Below this many channels, a spot's inputs are copied into one run before they are multiplied.
const SHORT_RUN: usize = 16;

/// The weights of a convolution, packed for the kernel that will use them.
#[derive(Debug, Clone)]
pub(crate) enum Filters {
    /// Every group on its own packed matrix; depth runs over taps, then channels.
    Groups(Vec<Packed>),
    /// One filter per channel: taps × channels, and a bias per channel.
    Depthwise {
        /// Tap by tap, a weight per channel.
        taps: Arc<[f32]>,
        /// A bias per channel.
        bias: Arc<[f32]>,
    },
}

/// What a convolution's weights look like in the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FilterShape {
    pub(crate) outputs: usize,
    pub(crate) group_inputs: usize,
    pub(crate) taps: usize,
    pub(crate) groups: usize,
}

impl FilterShape {
    pub(crate) fn is_depthwise(&self) -> bool {
        self.group_inputs == 1 && self.groups == self.outputs && self.groups > 1
    }
}

impl Filters {
    /// Packs weights of `outputs × group inputs × taps`; `bias` may be empty.
    pub(crate) fn new(shape: FilterShape, data: &[f32], bias: &[f32]) -> Self {
        let FilterShape { outputs, group_inputs, taps, groups } = shape;
        if shape.is_depthwise() {
            // Tap by tap, so that neighbouring channels lie together as the pixels have them.
            let weights = (0..taps * outputs).map(|i| data[i % outputs * taps + i / outputs]);
            let mut full = vec![0.0; outputs];
            full[..bias.len()].copy_from_slice(bias);
            return Self::Depthwise { taps: weights.collect(), bias: full.into() };
        }
        let each = outputs / groups;
        let packed = (0..groups).map(|group| {
            let bias = if bias.is_empty() { bias } else { &bias[group * each..][..each] };
            let depth = taps * group_inputs;
            // The file runs over channels then taps, a packed column over taps then channels.
            Packed::from_columns(
                depth,
                each,
                bias,
                |c: usize| &data[(group * each + c) * depth..][..depth],
                |e: usize| e % taps * group_inputs + e / taps,
            )
        });
        Self::Groups(packed.collect())
    }

    /// Packs weights row by row, without bias: `fill` gets a group, a tap, one of the group's
    /// inputs, the first of the group's outputs, and as many slots as there are weights to write.
    pub(crate) fn from_rows(
        shape: FilterShape,
        fill: impl Fn([usize; 4], &mut [f32]) + Sync,
    ) -> Self {
        let FilterShape { outputs, group_inputs, taps, groups } = shape;
        if shape.is_depthwise() {
            let mut weights = vec![0.0; taps * outputs];
            for (at, slot) in weights.chunks_exact_mut(1).enumerate() {
                fill([at % outputs, at / outputs, 0, 0], slot);
            }
            return Self::Depthwise { taps: weights.into(), bias: vec![0.0; outputs].into() };
        }
        let packed = (0..groups).map(|group| {
            Packed::from_rows(taps * group_inputs, outputs / groups, &[], |k, first, row| {
                fill([group, k / group_inputs, k % group_inputs, first], row);
            })
        });
        Self::Groups(packed.collect())
    }

    /// The same filters with single weights replaced, counted as the file does.
    pub(crate) fn with_weights(&self, shape: FilterShape, weights: &[(usize, f32)]) -> Self {
        let each = shape.outputs / shape.groups;
        // The file counts output, channel, tap; see `Filters::new` for the packed order.
        let places = weights.iter().map(|&(element, value)| {
            let rest = element / shape.taps;
            let tap = element % shape.taps;
            let output = rest / shape.group_inputs;
            let channel = rest % shape.group_inputs;
            (output, tap, channel, value)
        });
        match self {
            Self::Depthwise { taps, bias } => {
                let mut taps = Arc::clone(taps);
                let changed = Arc::make_mut(&mut taps);
                places.for_each(|(output, tap, _, value)| {
                    changed[tap * shape.outputs + output] = value
                });
                Self::Depthwise { taps, bias: Arc::clone(bias) }
            }
            Self::Groups(groups) => {
                let mut entries = vec![Vec::new(); groups.len()];
                for (output, tap, channel, value) in places {
                    let k = tap * shape.group_inputs + channel;
                    entries[output / each].push((k, output % each, value));
                }
                Self::Groups(groups.iter().zip(&entries).map(|(g, e)| g.with_entries(e)).collect())
            }
        }
    }

    /// The same filters with single biases replaced.
    pub(crate) fn with_biases(&self, shape: FilterShape, biases: &[(usize, f32)]) -> Self {
        let each = shape.outputs / shape.groups;
        match self {
            Self::Depthwise { taps, bias } => {
                let mut bias = Arc::clone(bias);
                let changed = Arc::make_mut(&mut bias);
                biases.iter().for_each(|&(output, value)| changed[output] = value);
                Self::Depthwise { taps: Arc::clone(taps), bias }
            }
            Self::Groups(groups) => {
                let mut entries = vec![Vec::new(); groups.len()];
                for &(output, value) in biases {
                    entries[output / each].push((output % each, value));
                }
                Self::Groups(groups.iter().zip(&entries).map(|(g, e)| g.with_biases(e)).collect())
            }
        }
    }

    /// Channels at which one thread's share may end, or `None` where channels may not be split.
    pub(crate) fn channel_step(&self) -> Option<usize> {
        match self {
            Self::Groups(groups) if groups.len() == 1 => Some(super::gemm::PANEL),
            _ => None,
        }
    }
}

/// Computes the spots' output channels in `channels` from source 0.
///
/// # Panics
/// If a spot's source is not the plane that the window was made for, or has not as many channels as
/// the filters take.
///
/// # Safety
/// Every spot's `out` must be writable for all output channels, and no two spots may share one.
pub(crate) unsafe fn convolve(
    spots: &[Spot<'_>],
    window: &Window,
    filters: &Filters,
    channels: Range<usize>,
) {
    match filters {
        Filters::Depthwise { taps, bias } => {
            let zeros = vec![0.0; bias.len()];
            let inputs = pointers(spots, window, &zeros);
            let outputs: Vec<*mut f32> = spots.iter().map(|s| s.out).collect();
            // SAFETY: `pointers` leads to pixels of as many channels as there are biases; the
            // caller vouches for the outputs.
            unsafe { depthwise(&inputs, &outputs, taps, bias) };
        }
        Filters::Groups(groups) => {
            // SAFETY: the caller's promise is passed on.
            unsafe { grouped(spots, window, groups, channels) }
        }
    }
}

/// Checks that a spot reads a pixel of the plane that the window was made for, and that its pixels
/// have `channels` values: pointers to whatever lies under the window's taps are then valid.
#[inline(always)]
fn check_source(spot: &Spot<'_>, window: &Window, channels: usize) {
    let grid = spot.sources[0].grid();
    let plane = [window.rows.input, window.columns.input];
    assert!(grid.axes[1..] == plane, "the window was made for this plane");
    assert_eq!(grid.width, channels, "pixels have the channels that the filters take");
    assert!(spot.at[0] < grid.axes[0], "the image exists");
}

/// For each spot and tap, the channels under it; `zeros`, one per channel, in the padding.
fn pointers(spots: &[Spot<'_>], window: &Window, zeros: &[f32]) -> Vec<*const f32> {
    let mut inputs = vec![zeros.as_ptr(); spots.len() * window.taps()];
    let mut rows = Rowset { of: None, starts: Vec::new() };
    for (spot, inputs) in spots.iter().zip(inputs.chunks_exact_mut(window.taps())) {
        let source = &spot.sources[0];
        check_source(spot, window, zeros.len());
        let columns = window.columns.places(spot.at[2]);
        let starts = rows.starts(spot, window).iter().zip(inputs.chunks_exact_mut(columns.len()));
        for (&start, inputs) in starts.filter(|(start, _)| !start.is_null()) {
            for (&column, input) in columns.iter().zip(inputs).filter(|(c, _)| **c != PADDING) {
                *input = start.wrapping_add(column as usize * source.grid().width);
            }
        }
        if let Some(patch) = source.patch() {
            patched(spot, window, patch, inputs);
        }
    }
    inputs
}

/// Where the golden rows under a row of spots start, null in the padding; neighbours share them.
struct Rowset {
    of: Option<(*const Source<'static>, usize, usize)>,
    starts: Vec<*const f32>,
}

impl Rowset {
    fn starts(&mut self, spot: &Spot<'_>, window: &Window) -> &[*const f32] {
        let source = &spot.sources[0];
        let [n, h, _] = spot.at;
        let [_, height, width] = source.grid().axes;
        let key = Some((std::ptr::from_ref(source).cast(), n, h));
        // Spots of one row share the rows under them, so these are found once.
        if self.of != key {
            self.of = key;
            self.starts.clear();
            self.starts.extend(window.rows.places(h).iter().map(|&row| match row {
                PADDING => std::ptr::null(),
                row => {
                    let pixel = (n * height + row as usize) * width;
                    source.golden().as_ptr().wrapping_add(pixel * source.grid().width)
                }
            }));
        }
        &self.starts
    }
}

/// Points the taps that lie in the patch there.
fn patched(spot: &Spot<'_>, window: &Window, patch: &Patch, inputs: &mut [*const f32]) {
    let width = spot.sources[0].grid().width;
    let [n, h, w] = spot.at;
    let columns = window.columns.places(w);
    for (&row, inputs) in window.rows.places(h).iter().zip(inputs.chunks_exact_mut(columns.len())) {
        for (&column, input) in columns.iter().zip(inputs) {
            // A tap in the padding lies in no patch.
            let at = [n, row as usize, column as usize];
            if patch.live.contains(at) {
                *input = patch.data[patch.stored.offset(at) * width..][..width].as_ptr();
            }
        }
    }
}

/// For each spot and row of taps, the channels under all columns of the window in one run. Pixels
/// beside each other lie so in memory; only runs over the padding or into a patch are copied.
struct RowRuns {
    inputs: Vec<*const f32>,
    /// Where the copied runs lie, and what the padding's rows read; pointers lead here.
    _copied: [Vec<f32>; 2],
}

impl RowRuns {
    fn new(spots: &[Spot<'_>], window: &Window, channels: usize) -> Self {
        let length = window.columns.kernel * channels;
        let zeros = vec![0.0; length];
        let mut inputs = Vec::with_capacity(spots.len() * window.rows.kernel);
        let mut copied = Vec::new();
        let mut waiting = Vec::new();
        let mut rowset = Rowset { of: None, starts: Vec::new() };
        for spot in spots {
            check_source(spot, window, channels);
            let first = window.columns.first_of_run(spot.at[2]);
            let rows = window.rows.places(spot.at[1]);
            for (&start, &row) in rowset.starts(spot, window).iter().zip(rows) {
                // A run that lies in golden as it is needs no copy; one over the padding or into
                // a patch does.
                let whole = first.filter(|&first| !changed(spot, row, first, window));
                inputs.push(match whole {
                    _ if start.is_null() => zeros.as_ptr(),
                    Some(first) => start.wrapping_add(first * channels),
                    None => {
                        waiting.push((inputs.len(), copied.len()));
                        copy_run(spot, row, window, &(0..channels), &mut copied);
                        std::ptr::null()
                    }
                });
            }
        }
        // Pointers into the copies only now: they moved while the copies grew.
        for (input, at) in waiting {
            inputs[input] = copied[at..].as_ptr();
        }
        Self { inputs, _copied: [zeros, copied] }
    }
}

/// Whether the trial has changed any pixel of a run that starts at column `first`.
fn changed(spot: &Spot<'_>, row: u32, first: usize, window: &Window) -> bool {
    spot.sources[0].patch().is_some_and(|patch| {
        let Region { low, high } = patch.live;
        let n = spot.at[0];
        let row = row as usize;
        let inside = low[0] <= n && n < high[0] && low[1] <= row && row < high[1];
        inside && first < high[2] && low[2] < first + window.columns.kernel
    })
}

/// Copies some channels of the pixels under a row of taps, zeros in the padding.
fn copy_run(
    spot: &Spot<'_>,
    row: u32,
    window: &Window,
    channels: &Range<usize>,
    to: &mut Vec<f32>,
) {
    for &column in window.columns.places(spot.at[2]) {
        if column == PADDING {
            to.resize(to.len() + channels.len(), 0.0);
        } else {
            let pixel = spot.sources[0].pixel([spot.at[0], row as usize, column as usize]);
            to.extend_from_slice(&pixel[channels.clone()]);
        }
    }
}

/// One product per group, or one over whole rows of taps where there is a single group.
///
/// # Safety
/// As for [`convolve`].
unsafe fn grouped(spots: &[Spot<'_>], window: &Window, groups: &[Packed], channels: Range<usize>) {
    let taps = window.taps();
    // Channels of one group.
    let run = groups[0].depth() / taps;
    let mut outputs: Vec<*mut f32> = spots.iter().map(|s| s.out).collect();
    // With one group, all channels under a row of taps are one long run: fewer and longer inner
    // loops.
    if let [packed] = groups
        && window.columns.kernel > 1
        && window.columns.kernel * run >= SHORT_RUN
        && !spots.is_empty()
    {
        let runs = RowRuns::new(spots, window, run);
        let run = window.columns.kernel * run;
        let taps = window.rows.kernel;
        let rows = Rows { inputs: &runs.inputs, taps, run, outputs: &outputs };
        // SAFETY: runs hold all channels under a row of taps, and a spot has room for all outputs.
        return unsafe { multiply(&rows, packed, channels.start, channels.end) };
    }
    let short = run < SHORT_RUN && taps > 1;
    let zeros = vec![0.0; run * groups.len()];
    let mut inputs = if short { Vec::new() } else { pointers(spots, window, &zeros) };
    for (group, packed) in groups.iter().enumerate() {
        let each = packed.columns();
        let range = if groups.len() == 1 { channels.clone() } else { 0..each };
        if short {
            let copied = gather(spots, window, group * run..(group + 1) * run, zeros.len());
            let starts: Vec<*const f32> =
                copied.chunks_exact(run * taps).map(<[f32]>::as_ptr).collect();
            let rows = Rows { inputs: &starts, taps: 1, run: run * taps, outputs: &outputs };
            // SAFETY: the copy holds a whole row of inputs per spot, and a spot has room for all
            // groups' outputs.
            unsafe { multiply(&rows, packed, range.start, range.end) };
        } else {
            let rows = Rows { inputs: &inputs, taps, run, outputs: &outputs };
            // SAFETY: pixels hold the channels of all groups, `zeros` as many, and a spot has room
            // for all groups' outputs.
            unsafe { multiply(&rows, packed, range.start, range.end) };
        }
        // On to the next group's channels.
        if groups.len() > 1 {
            inputs.iter_mut().for_each(|input| *input = input.wrapping_add(run));
            outputs.iter_mut().for_each(|output| *output = output.wrapping_add(each));
        }
    }
}

/// Copies short runs one behind the other: for each spot and tap the given channels, zeros in the
/// padding. Where all channels of a row of taps lie side by side in golden, they are copied at once.
fn gather(
    spots: &[Spot<'_>],
    window: &Window,
    channels: Range<usize>,
    all_channels: usize,
) -> Vec<f32> {
    let mut copied = Vec::with_capacity(spots.len() * window.taps() * channels.len());
    for spot in spots {
        check_source(spot, window, all_channels);
        let source = &spot.sources[0];
        let [n, h, w] = spot.at;
        let first = window.columns.first_of_run(w).filter(|_| channels.len() == all_channels);
        for &row in window.rows.places(h) {
            if row == PADDING {
                copied.resize(copied.len() + window.columns.kernel * channels.len(), 0.0);
                continue;
            }
            if let Some(first) = first.filter(|&first| !changed(spot, row, first, window)) {
                let start = source.grid().index([n, row as usize, first]) * all_channels;
                let length = window.columns.kernel * all_channels;
                copied.extend_from_slice(&source.golden()[start..][..length]);
            } else {
                copy_run(spot, row, window, &channels, &mut copied);
            }
        }
    }
    copied
}
