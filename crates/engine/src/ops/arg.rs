//! `ArgMax` and `ArgMin`: where the largest or smallest element stands.
//!
//! NaN counts as larger and as smaller than any number, as in PyTorch, so that it shows in the
//! answer; ONNX Runtime overlooks it unless it stands first.

use super::elements::by_type;
use super::operands::{Answers, one, required, whole_value};
use super::places::Fold;
use super::{Attributes, Op};
use crate::error::OperandError;
use crate::value::Value;
use std::cmp::Ordering;

struct Arg {
    axis: i64,
    keep: bool,
    /// How the element that is looked for compares with the others.
    wins: Ordering,
    /// Whether the last of several equals is meant, else the first.
    last: bool,
}

pub(super) fn parse(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, OperandError> {
    let largest = attributes.op_type() == "ArgMax";
    Ok(Some(Box::new(Arg {
        axis: attributes.int("axis", 0),
        keep: attributes.int("keepdims", 1) != 0,
        wins: if largest { Ordering::Greater } else { Ordering::Less },
        last: attributes.int("select_last_index", 0) != 0,
    })))
}

/// Only NaN does not compare with itself.
fn is_nan<T: PartialOrd>(x: &T) -> bool {
    x.partial_cmp(x).is_none()
}

impl Arg {
    /// Where a row's extreme stands: the first NaN if there is one (the last where the last of equals
    /// is wanted), as in NumPy.
    fn place<T: PartialOrd>(&self, row: &[T]) -> usize {
        let mut best = 0;
        for (at, x) in row.iter().enumerate().skip(1) {
            let better = match x.partial_cmp(&row[best]) {
                Some(Ordering::Equal) => self.last,
                Some(order) => order == self.wins,
                None => is_nan(x) && (self.last || !is_nan(&row[best])),
            };
            best = if better { at } else { best };
        }
        best
    }

    fn places<T: Copy + PartialOrd>(&self, rows: &Fold, data: &[T]) -> Vec<i64> {
        let mut places = Vec::with_capacity(rows.starts.len());
        rows.rows(data, |row| places.push(self.place(row) as i64));
        places
    }
}

impl Op for Arg {
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let value = required(operands, 0)?;
        let axes = [self.axis];
        let rows = Fold::new(value.shape(), &axes)?;
        if rows.steps.is_empty() {
            return Err(OperandError::new(format!("axis {} holds nothing", self.axis)));
        }
        let places = match value {
            Value::Floats(floats) => self.places(&rows, &floats.data),
            Value::Other(tensor) => by_type!(tensor.data(), v => self.places(&rows, v)),
            Value::Sequence(_) => return Err(OperandError::new("a tensor is wanted")),
        };
        one(whole_value(rows.shape(value.shape(), &axes, self.keep), places)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(wins: Ordering, last: bool, row: &[f32]) -> usize {
        Arg { axis: 0, keep: true, wins, last }.place(row)
    }

    #[test]
    fn ties_and_nan() {
        use Ordering::{Greater, Less};
        assert_eq!(place(Greater, false, &[1.0, 3.0, 3.0]), 1);
        assert_eq!(place(Greater, true, &[1.0, 3.0, 3.0]), 2);
        assert_eq!(place(Less, false, &[1.0, 0.5, 3.0, 0.5]), 1);
        let nan = f32::NAN;
        for wins in [Greater, Less] {
            assert_eq!(place(wins, false, &[1.0, nan, 3.0, nan, 0.0]), 1);
            assert_eq!(place(wins, true, &[1.0, nan, 3.0, nan, 0.0]), 3);
        }
    }
}
