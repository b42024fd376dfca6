//! Which element goes where: strides, broadcasting, and axes that fold into one.

use crate::error::OperandError;

/// How far apart neighbours lie along each axis of a row-major shape.
pub(crate) fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}

/// The places of a strided view's elements, in row-major order of its shape.
pub(crate) fn offsets(shape: &[usize], strides: &[usize]) -> Vec<usize> {
    let mut places = vec![0];
    for (&length, &stride) in shape.iter().zip(strides) {
        places =
            places.iter().flat_map(|&start| (0..length).map(move |i| start + i * stride)).collect();
    }
    places
}

/// The shape that all these broadcast to.
pub(crate) fn broadcast(shapes: &[&[usize]]) -> Option<Vec<usize>> {
    let rank = shapes.iter().map(|s| s.len()).max()?;
    (0..rank)
        .rev()
        .map(|from_end| {
            let mut length = 1;
            for shape in shapes {
                let own = shape.len().checked_sub(from_end + 1).map_or(1, |at| shape[at]);
                if own != 1 && length != 1 && own != length {
                    return None;
                }
                length = if length == 1 { own } else { length };
            }
            Some(length)
        })
        .collect()
}

/// The strides of a shape seen as one of `rank` axes to which it broadcasts.
pub(crate) fn spread_strides(own: &[usize], rank: usize) -> Vec<usize> {
    let mut along = vec![0; rank.saturating_sub(own.len())];
    along.extend(strides(own).iter().zip(own).map(|(&s, &n)| if n == 1 { 0 } else { s }));
    along
}

/// For every element of `to`, the element of a shape that broadcasts to it.
pub(crate) fn spread_offsets(own: &[usize], to: &[usize]) -> Vec<usize> {
    offsets(to, &spread_strides(own, to.len()))
}

/// The place of an axis that may be counted from the end.
pub(crate) fn axis(axis: i64, rank: usize) -> Result<usize, OperandError> {
    let at = if axis < 0 { axis + rank as i64 } else { axis };
    let at = usize::try_from(at).ok().filter(|&a| a < rank);
    at.ok_or_else(|| OperandError::new(format!("axis {axis} does not exist in {rank} axes")))
}

/// A shape cut in two: axes that stay and axes whose elements fold into one answer.
#[derive(Debug)]
pub(crate) struct Fold {
    /// The axes that stay; those that fold have length one.
    pub(crate) kept: Vec<usize>,
    /// For each answer, where its first element lies.
    pub(crate) starts: Vec<usize>,
    /// From there, where all its elements lie, in row-major order.
    pub(crate) steps: Vec<usize>,
}

impl Fold {
    /// Folds the named axes of a row-major shape.
    pub(crate) fn new(shape: &[usize], axes: &[i64]) -> Result<Self, OperandError> {
        let mut folds = vec![false; shape.len()];
        for &named in axes {
            folds[axis(named, shape.len())?] = true;
        }
        let strides = strides(shape);
        // The shape with the axes that fold at length one, and that with the others so.
        let mut kept = shape.to_vec();
        let mut gone = shape.to_vec();
        for (axis, &folds) in folds.iter().enumerate() {
            if folds {
                kept[axis] = 1;
            } else {
                gone[axis] = 1;
            }
        }
        Ok(Self { starts: offsets(&kept, &strides), steps: offsets(&gone, &strides), kept })
    }

    /// Each answer's elements, one answer after the other.
    pub(crate) fn rows<T: Copy>(&self, data: &[T], mut each: impl FnMut(&[T])) {
        let side_by_side = self.steps.iter().enumerate().all(|(i, &step)| i == step);
        let mut row = Vec::with_capacity(self.steps.len());
        for &start in &self.starts {
            if self.steps.is_empty() {
                each(&[]);
            } else if side_by_side {
                each(&data[start..][..self.steps.len()]);
            } else {
                row.clear();
                row.extend(self.steps.iter().map(|step| data[start + step]));
                each(&row);
            }
        }
    }

    /// The answers' shape: with axes of length one, or without the axes that folded.
    pub(crate) fn shape(&self, shape: &[usize], axes: &[i64], keep: bool) -> Vec<usize> {
        let mut kept = Vec::with_capacity(self.kept.len());
        for (at, &length) in self.kept.iter().enumerate() {
            let folds = axes.iter().any(|&named| axis(named, shape.len()) == Ok(at));
            if keep || !folds {
                kept.push(length);
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcasting_repeats_axes_of_one() {
        assert_eq!(broadcast(&[&[3, 1], &[2, 1, 4]]), Some(vec![2, 3, 4]));
        assert_eq!(broadcast(&[&[3], &[2]]), None);
        assert_eq!(broadcast(&[&[1], &[0]]), Some(vec![0]));
        assert_eq!(spread_offsets(&[2, 1], &[2, 2, 3]), [0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1]);
        assert_eq!(spread_offsets(&[], &[2]), [0, 0]);
    }

    #[test]
    fn folding_walks_the_gone_axes_in_row_major_order() {
        let data: Vec<i32> = (0..24).collect();
        let fold = Fold::new(&[2, 3, 4], &[0, -1]).unwrap();
        let mut rows = Vec::new();
        fold.rows(&data, |row| rows.push(row.to_vec()));
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[1], [4, 5, 6, 7, 16, 17, 18, 19]);
        assert_eq!(fold.shape(&[2, 3, 4], &[0, -1], true), [1, 3, 1]);
        assert_eq!(fold.shape(&[2, 3, 4], &[0, -1], false), [3]);
        assert!(Fold::new(&[2, 3], &[2]).is_err());
        let mut empty = 0;
        Fold::new(&[0, 3], &[0])
            .unwrap()
            .rows(&data[..0], |row| empty += usize::from(row.is_empty()));
        assert_eq!(empty, 3);
    }
}
