//! How a value of a trial differs from golden, and the arithmetic of such differences.

use crate::change::{Edit, float_bits};
use crate::kernels::compare::same;
use crate::kernels::grid::{Floats, Patch, Region, Source};
use crate::value::{Slot, Value};

/// How one value of one trial differs from golden.
pub(crate) enum Delta {
    /// In a box of pixels; in the order of the golden value.
    Patch(Patch),
    /// In single elements of a constant, by place in memory.
    Elements(Vec<(usize, f32)>),
    /// Anywhere, even in shape.
    Whole(Slot),
}

/// A changed value as a source, and which of its pixels differ.
pub(crate) fn source_of<'t>(
    delta: &'t Delta,
    floats: &'t Floats,
    golden: &Slot,
) -> Option<(Source<'t>, Region)> {
    match delta {
        Delta::Patch(patch) => {
            let own_order = golden.value.floats()?.order;
            (own_order == floats.order).then(|| (Source::new(floats, Some(patch)), patch.live))
        }
        Delta::Whole(slot) => {
            let whole = slot.in_order(floats.order).floats()?;
            let fits = whole.shape == floats.shape && whole.order == floats.order;
            fits.then(|| (Source::new(whole, None), whole.grid().all()))
        }
        Delta::Elements(_) => None,
    }
}

/// The patch with its live box drawn around what really differs; `None` if nothing does.
pub(crate) fn shrunk(mut patch: Patch, golden: &Floats) -> Option<Patch> {
    let grid = golden.grid();
    let width = golden.grid().width;
    if patch.stored.is_empty() || width == 0 {
        return None;
    }
    let mut live = Region::EMPTY;
    let row = patch.stored.high[2] - patch.stored.low[2];
    let rows = patch.data.chunks_exact(row * width);
    let starts = Region {
        high: [patch.stored.high[0], patch.stored.high[1], patch.stored.low[2] + 1],
        ..patch.stored
    };
    for (start, mine) in starts.iter().zip(rows) {
        let theirs = &golden.data[grid.index(start) * width..][..row * width];
        if same(mine, theirs) {
            continue;
        }
        // Row by row: equal rows are the most, and a whole row is compared in vectors.
        let differs = |pixel: &usize| {
            let range = pixel * width..(pixel + 1) * width;
            !same(&mine[range.clone()], &theirs[range])
        };
        let first = (0..row).find(differs).unwrap_or(0);
        let last = (0..row).rfind(differs).unwrap_or(row - 1);
        let [n, h, w] = start;
        // The box around all that differs; a few equal pixels inside it cost less than a list.
        live = live.union(&Region { low: [n, h, w + first], high: [n + 1, h + 1, w + last + 1] });
    }
    patch.live = live;
    (!live.is_empty()).then_some(patch)
}

/// Golden with the difference laid over it.
pub(crate) fn materialised(golden: &Floats, delta: &Delta) -> Floats {
    let mut floats = golden.clone();
    match delta {
        Delta::Patch(patch) => lay_over(&mut floats, patch),
        Delta::Elements(elements) => {
            elements.iter().for_each(|&(at, value)| floats.data[at] = value);
        }
        Delta::Whole(slot) => {
            if let Value::Floats(whole) = &slot.value {
                return whole.clone();
            }
        }
    }
    floats
}

fn lay_over(floats: &mut Floats, patch: &Patch) {
    let grid = floats.grid();
    let width = floats.grid().width;
    for at in patch.live.iter() {
        let from = &patch.data[patch.stored.offset(at) * width..][..width];
        floats.data[grid.index(at) * width..][..width].copy_from_slice(from);
    }
}

/// The bits of one element of a value that differs from golden.
pub(crate) fn bits_at(golden: &Value, delta: &Delta, element: usize) -> Option<u64> {
    let floats = match delta {
        Delta::Whole(slot) => return slot.value.bits(element),
        Delta::Patch(_) | Delta::Elements(_) => golden.floats()?,
    };
    let place = floats.position(element);
    let changed = match delta {
        Delta::Patch(patch) => {
            let width = floats.grid().width;
            let pixel = floats.grid().at(place / width);
            let inside = patch.live.contains(pixel);
            inside.then(|| patch.data[patch.stored.offset(pixel) * width + place % width])
        }
        Delta::Elements(elements) => {
            elements.iter().find(|(at, _)| *at == place).map(|&(_, number)| number)
        }
        Delta::Whole(_) => None,
    };
    match changed {
        Some(number) => Some(float_bits(number, floats.dtype)),
        None => golden.bits(element),
    }
}

/// How a computed value differs from golden; `None` if it does not.
pub(crate) fn difference(value: Value, golden: &Value) -> Option<Delta> {
    match (value, golden) {
        (Value::Floats(mine), Value::Floats(theirs))
            if mine.shape == theirs.shape && mine.order == theirs.order =>
        {
            let stored = theirs.grid().all();
            shrunk(Patch { stored, live: stored, data: mine.data }, theirs).map(Delta::Patch)
        }
        (value, golden) => (!value.same_bits(golden)).then(|| Delta::Whole(Slot::new(value))),
    }
}

/// A float value's difference with single places edited, over what already differed.
pub(crate) fn patched(
    golden: &Floats,
    delta: Option<Delta>,
    places: &[(usize, Edit)],
) -> Option<Delta> {
    let grid = golden.grid();
    let width = golden.grid().width;
    let mut stored = places
        .iter()
        .fold(Region::EMPTY, |region, (at, _)| region.union(&Region::pixel(grid.at(at / width))));
    let mut base = golden;
    let whole;
    match &delta {
        // Places to change may lie outside of what already differs; the new patch holds both.
        Some(Delta::Patch(patch)) => stored = stored.union(&patch.live),
        Some(delta @ (Delta::Whole(_) | Delta::Elements(_))) => {
            whole = materialised(golden, delta).in_order(golden.order);
            base = &whole;
            stored = grid.all();
        }
        None => {}
    }
    let base_source = Source::new(
        base,
        match &delta {
            Some(Delta::Patch(patch)) => Some(patch),
            _ => None,
        },
    );
    let mut data: Vec<f32> =
        stored.iter().flat_map(|at| base_source.pixel(at).iter().copied()).collect();
    for &(at, edit) in places {
        let element = &mut data[stored.offset(grid.at(at / width)) * width + at % width];
        *element = edit.of_float(*element, golden.dtype);
    }
    shrunk(Patch { stored, live: stored, data }, golden).map(Delta::Patch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::grid::Order;
    use faultlens_core::DType;

    fn plane() -> Floats {
        let data = (0..24).map(|i| i as f32).collect();
        Floats { shape: vec![1, 2, 3, 4], order: Order::ChannelsLast, dtype: DType::F32, data }
    }

    #[test]
    fn a_patch_shrinks_to_what_differs() {
        let golden = plane();
        let all = golden.grid().all();
        let mut data = golden.data.clone();
        data[2 * 5] = -1.0;
        data[2 * 10 + 1] = f32::NAN;
        let patch = shrunk(Patch { stored: all, live: all, data }, &golden).unwrap();
        assert_eq!(patch.live, Region { low: [0, 1, 1], high: [1, 3, 3] });
        let same = Patch { stored: all, live: all, data: golden.data.clone() };
        assert!(shrunk(same, &golden).is_none());
    }

    #[test]
    fn later_places_lie_over_earlier_differences() {
        let golden = plane();
        let set = |at: usize, x: f32| (at, Edit::Set(u64::from(x.to_bits())));
        let first = patched(&golden, None, &[set(0, 9.0)]);
        let both = patched(&golden, first, &[set(23, 8.0)]).unwrap();
        let changed = materialised(&golden, &both);
        assert_eq!((changed.data[0], changed.data[23]), (9.0, 8.0));
        assert_eq!(changed.data[1..23], golden.data[1..23]);
        let scaled = patched(&golden, Some(both), &[(0, Edit::Scale(2.0))]).unwrap();
        assert_eq!(materialised(&golden, &scaled).data[0], 18.0);
        assert!(patched(&golden, Some(scaled), &[set(0, 0.0), set(23, 23.0)]).is_none());
    }
}
