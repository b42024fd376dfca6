//! Pools that the pixel kernel does not compute: along one, three or more axes, of whole numbers,
//! with the places of the maxima, and by other norms.

use super::Op;
use super::operands::{Answers, one, required, rounded, whole_value};
use super::windows::Windows;
use crate::error::OperandError;
use crate::kernels::pool::Pool;
use crate::kernels::window::AxisSpec;
use crate::value::Value;
use faultlens_core::TensorData;

/// What a pool keeps of its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PoolKind {
    /// What the pixel kernel can keep as well.
    Pool(Pool),
    /// The p-norm.
    Norm(i32),
}

/// A pool along any number of axes.
#[derive(Debug, Clone)]
pub(crate) struct PoolNd {
    pub(crate) keep: PoolKind,
    /// `None` pools the whole plane.
    pub(super) specs: Option<Vec<AxisSpec>>,
    /// Whether the places of maxima are an answer too.
    pub(super) indices: bool,
    /// Whether those places are counted column by column.
    pub(super) by_columns: bool,
}

impl Op for PoolNd {
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let value = required(operands, 0)?;
        let [images, channels, plane @ ..] = value.shape() else {
            return Err(OperandError::new(format!("images are wanted, not {:?}", value.shape())));
        };
        let windows = self.windows(plane)?;
        let under = Window::all(&windows);
        let mut shape = vec![*images, *channels];
        shape.extend(windows.output());
        let pixels: usize = plane.iter().product();
        let answer = match (value, self.keep) {
            (_, PoolKind::Pool(Pool::Max)) => return self.maxima(value, &under, shape),
            (Value::Floats(floats), _) => {
                let planes = floats.data.chunks_exact(pixels.max(1));
                let data = planes.flat_map(|plane| under.iter().map(|w| self.kept(plane, w)));
                rounded(shape, floats.dtype, data.collect())
            }
            _ => return Ok(None),
        };
        one(answer)
    }
}

impl PoolNd {
    /// The windows of all outputs over a plane, in row-major order.
    pub(crate) fn under(&self, plane: &[usize]) -> Result<Vec<Window>, OperandError> {
        Ok(Window::all(&self.windows(plane)?))
    }

    fn windows(&self, plane: &[usize]) -> Result<Windows, OperandError> {
        if plane.contains(&0) {
            return Err(OperandError::new(format!(
                "there is nothing to pool in planes of {plane:?}"
            )));
        }
        match &self.specs {
            Some(specs) => Windows::new(specs, plane),
            None => {
                let specs: Vec<AxisSpec> = plane.iter().map(|&n| AxisSpec::whole(n)).collect();
                Windows::new(&specs, plane)
            }
        }
    }

    /// A mean or a norm, summed tap by tap.
    fn kept(&self, plane: &[f32], window: &Window) -> f32 {
        let values = window.inside.iter().map(|&at| plane[at]);
        match self.keep {
            PoolKind::Pool(Pool::AverageWithPadding) => values.sum::<f32>() / window.padded as f32,
            PoolKind::Pool(_) => values.sum::<f32>() / window.inside.len() as f32,
            PoolKind::Norm(1) => values.map(f32::abs).sum(),
            PoolKind::Norm(2) => values.map(|x| x * x).sum::<f32>().sqrt(),
            PoolKind::Norm(p) => {
                let p = p as f32;
                libm::powf(values.map(|x| libm::powf(x.abs(), p)).sum(), 1.0 / p)
            }
        }
    }

    fn maxima(&self, value: &Value, under: &[Window], shape: Vec<usize>) -> Answers {
        let plane = &value.shape()[2..];
        let (answer, places) = match value {
            Value::Floats(floats) => {
                let (data, places) = largest(&floats.data, plane, under, f32::NEG_INFINITY);
                (rounded(shape.clone(), floats.dtype, data), places)
            }
            Value::Other(tensor) => {
                let (data, places): (TensorData, _) = match tensor.data() {
                    TensorData::I8(v) => with_data(largest(v, plane, under, i8::MIN)),
                    TensorData::U8(v) => with_data(largest(v, plane, under, u8::MIN)),
                    TensorData::F64(v) => with_data(largest(v, plane, under, f64::NEG_INFINITY)),
                    _ => return Ok(None),
                };
                (whole_value(shape.clone(), data)?, places)
            }
            Value::Sequence(_) => return Ok(None),
        };
        let mut answers = vec![Some(answer)];
        if self.indices {
            let pixels: usize = plane.iter().product();
            let places: Vec<i64> = places
                .iter()
                .map(|&at| {
                    let within = at % pixels;
                    let counted = if self.by_columns {
                        at - within + column_by_column(within, plane)
                    } else {
                        at
                    };
                    counted as i64
                })
                .collect();
            answers.push(Some(whole_value(shape, places)?));
        }
        Ok(Some(answers))
    }
}

fn with_data<T>((data, places): (Vec<T>, Vec<usize>)) -> (TensorData, Vec<usize>)
where
    TensorData: From<Vec<T>>,
{
    (data.into(), places)
}

/// One window's places inside the plane, and its taps inside the padded plane.
pub(crate) struct Window {
    pub(crate) inside: Vec<usize>,
    pub(crate) padded: usize,
}

impl Window {
    fn all(windows: &Windows) -> Vec<Self> {
        windows.places().iter().map(|at| Self::of(windows, at)).collect()
    }

    fn of(windows: &Windows, at: &[usize]) -> Self {
        Self {
            inside: windows.under(at).into_iter().flatten().collect(),
            padded: windows.in_padded(at),
        }
    }
}

/// Each window's largest element and where it stands: the first of equals, the first NaN if any.
fn largest<T: Copy + PartialOrd>(
    data: &[T],
    plane: &[usize],
    under: &[Window],
    lowest: T,
) -> (Vec<T>, Vec<usize>) {
    let pixels: usize = plane.iter().product();
    (0..data.len() / pixels)
        .flat_map(|plane| {
            under.iter().map(move |window| {
                let mut places = window.inside.iter().map(|at| plane * pixels + at);
                let Some(first) = places.next() else { return (lowest, plane * pixels) };
                let best = places.fold(first, |best, at| {
                    // Only NaN does not compare with itself.
                    let best_is_nan = data[best].partial_cmp(&data[best]).is_none();
                    if data[best] >= data[at] || best_is_nan { best } else { at }
                });
                (data[best], best)
            })
        })
        .unzip()
}

/// A place of a plane, counted with the first axis running fastest.
fn column_by_column(at: usize, plane: &[usize]) -> usize {
    let strides = super::places::strides(plane);
    let mut place = 0;
    let mut step = 1;
    for (&length, stride) in plane.iter().zip(strides) {
        place += at / stride % length * step;
        step *= length;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::DType;

    fn pool(keep: PoolKind, input: &Value) -> Vec<Option<Value>> {
        let spec = AxisSpec::whole(2);
        let indices = keep == PoolKind::Pool(Pool::Max);
        let pool = PoolNd { keep, specs: Some(vec![spec]), indices, by_columns: false };
        pool.whole(&[Some(input)]).unwrap().unwrap()
    }

    #[test]
    fn nan_wins_and_the_first_of_equals() {
        let row = vec![2.0, 2.0, f32::NAN, 1.0, 3.0];
        let answers = pool(PoolKind::Pool(Pool::Max), &rounded(vec![1, 1, 5], DType::F32, row));
        let maxima = &answers[0].as_ref().unwrap().floats().unwrap().data;
        assert!(maxima[0] == 2.0 && maxima[1].is_nan() && maxima[2].is_nan() && maxima[3] == 3.0);
        assert_eq!(answers[1].as_ref().unwrap().integers(), Some(vec![0, 2, 2, 4]));
    }

    #[test]
    fn norms() {
        let input = rounded(vec![1, 1, 3], DType::F32, vec![3.0, -4.0, 0.0]);
        for (p, wanted) in [(1, [7.0, 4.0]), (2, [5.0, 4.0]), (3, [91f32.cbrt(), 4.0])] {
            let answers = pool(PoolKind::Norm(p), &input);
            let got = &answers[0].as_ref().unwrap().floats().unwrap().data;
            assert!(got.iter().zip(wanted).all(|(g, w)| (g - w).abs() < 1e-5), "{p}: {got:?}");
        }
    }

    #[test]
    fn places_by_columns() {
        assert_eq!(column_by_column(5, &[2, 4]), 3);
        assert_eq!(column_by_column(5, &[2, 2, 2]), 5);
        assert_eq!(column_by_column(1, &[2, 2, 2]), 4);
    }
}
