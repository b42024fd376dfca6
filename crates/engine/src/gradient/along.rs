//! Axis by axis: operators whose every axis picks or blends places of its own, whatever the other
//! axes do (`Slice`, `Pad`, `Expand`, `Tile`, `Gather`, `Resize`).

use super::Backward;
use super::backward::gradient;
use crate::kernels::grid::{Floats, Order};
use crate::kernels::resize::add;

/// For each place along an axis of the operand, the places of the result that read it, and the
/// share that each takes.
pub(super) type Readers = Vec<Vec<(usize, f32)>>;

/// The readers of an axis of `length` places, given where each place of the result comes from;
/// `None` where the axis stays as it is.
pub(super) fn readers(length: usize, places: &[Option<usize>]) -> Option<Readers> {
    let stays = places.iter().enumerate().all(|(out, &place)| place == Some(out));
    if stays && places.len() == length {
        return None;
    }
    let mut readers = vec![Vec::new(); length];
    for (out, place) in places.iter().enumerate() {
        if let Some(place) = *place {
            readers[place].push((out, 1.0));
        }
    }
    Some(readers)
}

/// Which axis comes first in memory, which second, and so on.
pub(super) fn in_memory(rank: usize, order: Order) -> Vec<usize> {
    match order {
        Order::ChannelsLast => vec![0, 2, 3, 1],
        Order::RowMajor => (0..rank).collect(),
    }
}

/// Sums a result's gradient into its operand's, in the order in which it lies. Axes without
/// readers stay as they are.
pub(super) fn back(backward: &Backward<'_>, from: Floats, readers: &[Option<Readers>]) -> Floats {
    let order = from.order;
    let memory = in_memory(from.shape.len(), order);
    let mut shape = from.shape;
    let mut data = from.data;
    for (at, &axis) in memory.iter().enumerate() {
        // Axes are independent, so that each is folded on its own: the cost is a sum over axes
        // and not their product.
        if let Some(readers) = &readers[axis] {
            let outer = memory[..at].iter().map(|&a| shape[a]).product();
            let inner = memory[at + 1..].iter().map(|&a| shape[a]).product();
            let folded = fold(backward, &data, readers, [outer, shape[axis], inner]);
            backward.buffers.give(std::mem::replace(&mut data, folded));
            shape[axis] = readers.len();
        }
    }
    gradient(&shape, order, data)
}

/// One axis of `length` places, with `outer` places in front and `inner` elements behind. Every place of the operand sums
/// its own readers, in their order, so it does not matter who does it.
fn fold(
    backward: &Backward<'_>,
    from: &[f32],
    readers: &Readers,
    [outer, length, inner]: [usize; 3],
) -> Vec<f32> {
    let mut to = backward.buffer(outer * readers.len() * inner);
    backward.rows(&mut to, inner, |row, to| {
        let block = row / readers.len();
        let place = row % readers.len();
        let from = &from[block * length * inner..][..length * inner];
        let readers = readers[place].iter();
        if let [to] = to {
            *to = readers.map(|&(at, share)| share * from[at]).sum();
        } else {
            to.fill(0.0);
            readers.for_each(|&(at, share)| add(to, &from[at * inner..][..inner], share));
        }
    });
    to
}
