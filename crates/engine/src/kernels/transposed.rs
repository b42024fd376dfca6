//! Transposed convolution over channels-last planes.
//!
//! An output pixel gathers the taps that land on it. Pixels on which the same taps land are one
//! ordinary product of rows and packed weights, so the answer has one order of summation: taps,
//! then channels. Taps that land from outside of the input are left out, not multiplied by zero.

use super::gemm::{Packed, Rows, multiply};
use super::grid::Spot;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How taps land along one axis.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stride {
    pub(crate) input: usize,
    pub(crate) output: usize,
    pub(crate) kernel: usize,
    pub(crate) stride: usize,
    pub(crate) dilation: usize,
    /// Outputs that are cut off before the first.
    pub(crate) before: usize,
}

/// Along one axis: for each output place, which taps land there and from which inputs.
#[derive(Debug, Clone)]
pub(crate) struct Landing {
    axis: Stride,
    /// The different lists of taps.
    lists: Vec<Vec<usize>>,
    /// For each output place its list, and for each tap of that list the input place.
    outputs: Vec<(usize, Vec<usize>)>,
}

impl Landing {
    pub(crate) fn new(axis: Stride) -> Self {
        let mut lists: Vec<Vec<usize>> = Vec::new();
        let outputs = (0..axis.output).map(|output| {
            let (taps, inputs): (Vec<usize>, Vec<usize>) = (0..axis.kernel)
                .filter_map(|tap| {
                    // Tap t of input i lands at `i · stride + t · dilation - before`; solved for
                    // the input.
                    let moved = (output + axis.before).checked_sub(tap * axis.dilation)?;
                    let input = moved / axis.stride;
                    (moved % axis.stride == 0 && input < axis.input).then_some((tap, input))
                })
                .unzip();
            // There are at most as many lists as the stride, plus those at the borders.
            let known = lists.iter().position(|list| *list == taps);
            let list = known.unwrap_or_else(|| {
                lists.push(taps);
                lists.len() - 1
            });
            (list, inputs)
        });
        let outputs = outputs.collect();
        Self { axis, lists, outputs }
    }

    /// Output places that read any of the inputs `low..high`.
    pub(crate) fn reach(&self, low: usize, high: usize) -> (usize, usize) {
        let Stride { output, kernel, stride, dilation, before, .. } = self.axis;
        let first = (low * stride).saturating_sub(before);
        let last = ((high - 1) * stride + (kernel - 1) * dilation + 1).saturating_sub(before);
        (first.min(output), last.min(output))
    }
}

/// The packed weights of each group, by lists of taps along rows and columns.
pub(crate) type PackedByTaps = BTreeMap<[Vec<usize>; 2], Arc<[Packed]>>;

/// The weights of a transposed convolution, packed anew for every list of taps that is met.
#[derive(Debug)]
pub(crate) struct TransposedFilters {
    /// `inputs × group outputs × rows × columns`, as the file has them.
    pub(crate) weights: Vec<f32>,
    /// One per output, or none.
    pub(crate) bias: Vec<f32>,
    pub(crate) groups: usize,
    pub(crate) group_inputs: usize,
    pub(crate) group_outputs: usize,
    pub(crate) kernel: [usize; 2],
    pub(crate) packed: Mutex<PackedByTaps>,
}

impl TransposedFilters {
    /// The weights of the taps in both lists, group by group.
    fn of_taps(&self, taps: [&[usize]; 2]) -> Arc<[Packed]> {
        let mut packed = self.packed.lock().unwrap_or_else(PoisonError::into_inner);
        let packed = packed.entry(taps.map(<[usize]>::to_vec));
        packed.or_insert_with(|| (0..self.groups).map(|g| self.pack(g, taps)).collect()).clone()
    }

    fn pack(&self, group: usize, [rows, columns]: [&[usize]; 2]) -> Packed {
        let inputs = self.group_inputs;
        let outputs = self.group_outputs;
        let bias = self.bias.get(group * outputs..(group + 1) * outputs).unwrap_or(&[]);
        Packed::new(rows.len() * columns.len() * inputs, outputs, bias, |k, output| {
            let tap = k / inputs;
            let input = group * inputs + k % inputs;
            let row = rows[tap / columns.len()];
            let column = columns[tap % columns.len()];
            let [height, width] = self.kernel;
            self.weights[((input * outputs + output) * height + row) * width + column]
        })
    }
}

/// A transposed convolution bound to its input.
pub(crate) struct Transposed {
    pub(crate) rows: Landing,
    pub(crate) columns: Landing,
    filters: Arc<TransposedFilters>,
    /// For each pair of lists of taps, the packed weights.
    packed: Vec<Arc<[Packed]>>,
}

impl Transposed {
    pub(crate) fn new(rows: Landing, columns: Landing, filters: Arc<TransposedFilters>) -> Self {
        let pairs = rows.lists.iter().flat_map(|r| columns.lists.iter().map(move |c| [&**r, &**c]));
        let packed = pairs.map(|taps| filters.of_taps(taps)).collect();
        Self { rows, columns, filters, packed }
    }

    /// Computes the spots from source 0.
    ///
    /// # Safety
    /// Every spot's `out` must be writable for all channels, and no two spots may share one.
    pub(crate) unsafe fn compute(&self, spots: &[Spot<'_>]) {
        // Spots on which the same taps land are one matrix product.
        let mut alike: Vec<Vec<&Spot<'_>>> = vec![Vec::new(); self.packed.len()];
        for spot in spots {
            let row = self.rows.outputs[spot.at[1]].0;
            let column = self.columns.outputs[spot.at[2]].0;
            alike[row * self.columns.lists.len() + column].push(spot);
        }
        for (spots, packed) in alike.iter().zip(&self.packed) {
            for (group, packed) in packed.iter().enumerate() {
                // SAFETY: the caller's promise; all spots here meet the taps of `packed`.
                unsafe { self.multiply(spots, group, packed) };
            }
        }
    }

    /// One group's outputs of spots on which the same taps land.
    ///
    /// # Safety
    /// As for [`Transposed::compute`].
    unsafe fn multiply(&self, spots: &[&Spot<'_>], group: usize, packed: &Packed) {
        let run = self.filters.group_inputs;
        let inputs: Vec<*const f32> = spots
            .iter()
            .flat_map(|spot| {
                let [n, h, w] = spot.at;
                let rows = &self.rows.outputs[h].1;
                let columns = &self.columns.outputs[w].1;
                let places =
                    rows.iter().flat_map(move |&y| columns.iter().map(move |&x| [n, y, x]));
                places.map(|at| spot.sources[0].pixel(at)[group * run..][..run].as_ptr())
            })
            .collect();
        let outputs: Vec<*mut f32> =
            // SAFETY: a spot has room for the channels of all groups.
            spots.iter().map(|s| unsafe { s.out.add(group * packed.columns()) }).collect();
        let taps = packed.depth() / run;
        // No tap lands here: the output is the bias alone.
        if taps == 0 {
            let each = packed.columns();
            let zeros = vec![0.0; each];
            let bias = self.filters.bias.get(group * each..(group + 1) * each).unwrap_or(&zeros);
            for output in outputs {
                // SAFETY: as above.
                unsafe { std::ptr::copy_nonoverlapping(bias.as_ptr(), output, each) };
            }
            return;
        }
        let rows = Rows { inputs: &inputs, taps, run, outputs: &outputs };
        // SAFETY: pixels hold the group's channels; outputs have room for them.
        unsafe { multiply(&rows, packed, 0, packed.columns()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reach_holds_every_output_that_reads_an_input() {
        for (kernel, stride, dilation, before) in
            [(3, 2, 1, 1), (2, 2, 1, 0), (3, 1, 2, 3), (4, 3, 1, 2)]
        {
            let output = 4 * stride + (kernel - 1) * dilation + 1 - before;
            let axis = Stride { input: 5, output, kernel, stride, dilation, before };
            let landing = Landing::new(axis);
            for low in 0..5 {
                for high in low + 1..=5 {
                    let (first, last) = landing.reach(low, high);
                    for (place, (_, inputs)) in landing.outputs.iter().enumerate() {
                        let reads = inputs.iter().any(|i| (low..high).contains(i));
                        assert!(!reads || (first..last).contains(&place), "{axis:?} {low}..{high}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_place_without_taps_has_an_empty_list() {
        let landing = Landing::new(Stride {
            input: 2,
            output: 4,
            kernel: 1,
            stride: 2,
            dilation: 1,
            before: 0,
        });
        assert_eq!(landing.lists, [vec![0], vec![]]);
        assert_eq!(landing.outputs[2], (0, vec![1]));
    }
}
