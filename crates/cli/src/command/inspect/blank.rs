//! A blank image to run a model on, so that every shape becomes known.

use anyhow::{anyhow, bail, ensure};
use faultlens::engine::{Dim, Graph, ValueId};
use faultlens::vision::shape_text;
use faultlens::{DType, Tensor, TensorData};

/// Inputs beyond this size are not tried: the file may be hostile.
const MAX_ELEMENTS: usize = 1 << 26;

/// Zeros for every input: free batches become 1, other free axes take `size` in order.
pub(super) fn feeds(
    graph: &Graph,
    size: Option<[usize; 2]>,
) -> anyhow::Result<Vec<(&str, Tensor)>> {
    graph
        .inputs()
        .iter()
        .map(|&input| Ok((graph.value_name(input), zeros(graph, input, size)?)))
        .collect()
}

fn zeros(graph: &Graph, input: ValueId, size: Option<[usize; 2]>) -> anyhow::Result<Tensor> {
    let name = graph.value_name(input);
    let dims = graph
        .declared_shape(input)
        .ok_or_else(|| anyhow!("the shape of input `{name}` is not declared"))?;
    let mut sides = size.into_iter().flatten();
    let mut shape = Vec::with_capacity(dims.len());
    for (axis, dim) in dims.iter().enumerate() {
        let length = match dim {
            Dim::Fixed(n) => Some(*n),
            Dim::Free(_) if axis == 0 => Some(1),
            Dim::Free(_) => sides.next(),
        };
        shape.push(length.ok_or_else(|| {
            anyhow!("input `{name}` takes any size, {}; give one with --size", shape_text(dims))
        })?);
    }
    let elements = shape.iter().try_fold(1usize, |n, &side| n.checked_mul(side));
    let elements = elements.filter(|&n| n <= MAX_ELEMENTS);
    let Some(elements) = elements else {
        bail!("input `{name}` {} is too large to run", shape_text(dims));
    };
    let dtype = graph.declared_dtype(input).unwrap_or(DType::F32);
    Ok(Tensor::new(shape, blank(dtype, elements)?)?)
}

fn blank(dtype: DType, n: usize) -> anyhow::Result<TensorData> {
    ensure!(n > 0, "a model with an empty input cannot be run");
    Ok(match dtype {
        DType::F32 => vec![0f32; n].into(),
        DType::F64 => vec![0f64; n].into(),
        DType::F16 => TensorData::F16(vec![Default::default(); n]),
        DType::U8 => vec![0u8; n].into(),
        DType::I8 => vec![0i8; n].into(),
        DType::I32 => vec![0i32; n].into(),
        DType::I64 => vec![0i64; n].into(),
        DType::Bool => vec![false; n].into(),
        other => bail!("a model with inputs of type {} cannot be run", other.name()),
    })
}
