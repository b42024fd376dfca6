//! Operators that work on each element by itself, or on two elements at the same place.

use super::cast::cast;
use super::elements::view;
use super::operands::{Answers, one, required};
use super::places::{broadcast, spread_strides};
use super::{Attributes, arithmetic};
use crate::error::OperandError;
use crate::kernels::elementwise::{Binary, Unary};
use crate::kernels::grid::{Floats, Grid, Order, Region, Spot};
use crate::op::{Elementwise, Function, Local, Op, Wants};
use crate::step::run_alone;
use crate::value::Value;
use faultlens_core::DType;
use std::ops::Range;

pub(super) fn parse(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, OperandError> {
    if let Some(function) = unary(attributes) {
        return Ok(Some(Elementwise::boxed(Function::Unary(function))));
    }
    match attributes.op_type() {
        "Clip" => Ok(Some(Box::new(Clip))),
        _ => parse_binary(attributes),
    }
}

/// The function of one element that an operator is; gradients ask for it too.
pub(crate) fn unary(attributes: &Attributes<'_>) -> Option<Unary> {
    Some(match attributes.op_type() {
        "Abs" => Unary::Abs,
        "Ceil" => Unary::Ceil,
        "Celu" => Unary::Celu(attributes.float("alpha", 1.0)),
        "Clip" if attributes.opset() < 11 => {
            Unary::Clip(attributes.float("min", f32::MIN), attributes.float("max", f32::MAX))
        }
        "Elu" => Unary::Elu(attributes.float("alpha", 1.0)),
        "Erf" => Unary::Erf,
        "Exp" => Unary::Exp,
        "Floor" => Unary::Floor,
        "Gelu" if attributes.string("approximate", "none") == "tanh" => Unary::GeluTanh,
        "Gelu" => Unary::Gelu,
        "HardSigmoid" => {
            Unary::HardSigmoid(attributes.float("alpha", 0.2), attributes.float("beta", 0.5))
        }
        "HardSwish" => Unary::HardSwish,
        "LeakyRelu" => Unary::LeakyRelu(attributes.float("alpha", 0.01)),
        "Log" => Unary::Log,
        "Mish" => Unary::Mish,
        "Neg" => Unary::Neg,
        "Reciprocal" => Unary::Reciprocal,
        "Relu" => Unary::Relu,
        "Selu" => Unary::Selu(
            attributes.float("alpha", 1.673_263_2),
            attributes.float("gamma", 1.050_701),
        ),
        "Sigmoid" => Unary::Sigmoid,
        "Sign" => Unary::Sign,
        "Softplus" => Unary::Softplus,
        "Softsign" => Unary::Softsign,
        "Sqrt" => Unary::Sqrt,
        "Tanh" => Unary::Tanh,
        "ThresholdedRelu" => Unary::ThresholdedRelu(attributes.float("alpha", 1.0)),
        _ => return None,
    })
}

fn parse_binary(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, OperandError> {
    let binary = match attributes.op_type() {
        "Add" | "Sum" => Binary::Add,
        "Div" => Binary::Div,
        "Max" => Binary::Max,
        "Min" => Binary::Min,
        "Mul" => Binary::Mul,
        "Pow" => Binary::Pow,
        "PRelu" => Binary::PRelu,
        "Sub" => Binary::Sub,
        _ => return Ok(None),
    };
    match attributes.arity().0 {
        2 => Ok(Some(Elementwise::boxed(Function::Binary(binary)))),
        _ => Ok(Some(Box::new(Fold(binary)))),
    }
}

impl Elementwise {
    fn boxed(function: Function) -> Box<dyn Op> {
        Box::new(Self { function })
    }
}

impl Op for Elementwise {
    fn wants(&self, _operand: usize) -> Wants {
        Wants::Alike
    }

    fn local<'a>(
        &'a self,
        operands: &[Option<&'a Value>],
    ) -> Result<Option<Box<dyn Local + 'a>>, OperandError> {
        let sources: &[usize] =
            if matches!(self.function, Function::Binary(_)) { &[0, 1] } else { &[0] };
        let mut shapes = Vec::new();
        let mut order = Order::RowMajor;
        for &source in sources {
            let Some(floats) = operands.get(source).copied().flatten().and_then(Value::floats)
            else {
                return Ok(None);
            };
            order = floats.order;
            shapes.push(floats.shape.as_slice());
        }
        if let Function::Affine { factor, .. } = &self.function
            && (order != Order::ChannelsLast || shapes[0][1] != factor.len())
        {
            return Ok(None);
        }
        let Some(shape) = broadcast_shape(&shapes) else { return Ok(None) };
        let grid = Grid::of(&shape, order);
        let grids = shapes.iter().map(|s| Grid::of(s, order)).collect();
        Ok(Some(Box::new(BoundCopy { shape, order, grid, grids, sources })))
    }

    /// Operands that the kernels cannot follow: of many axes, of whole numbers, of mixed types.
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        match (&self.function, operands) {
            (Function::Unary(function), [Some(x), ..]) => arithmetic::unary(*function, x),
            (Function::Binary(function), [Some(a), Some(b)]) => match (a, b) {
                (Value::Floats(x), Value::Floats(y)) => self.expanded([x, y]),
                (Value::Floats(x), Value::Other(_)) if *function == Binary::Pow => {
                    let exponent = cast(b, DType::F32)?;
                    let base = Value::Floats(x.in_order(Order::RowMajor));
                    Ok(run_alone(self, &[Some(&base), Some(&exponent)])?.map(|v| vec![Some(v)]))
                }
                _ => arithmetic::binary(*function, a, b),
            },
            _ => Ok(None),
        }
    }

    fn elementwise(&self) -> Option<&Elementwise> {
        Some(self)
    }
}

impl Elementwise {
    /// Both operands repeated to the shape that they broadcast to.
    fn expanded(&self, both: [&Floats; 2]) -> Answers {
        let [a, b] = both.map(|floats| floats.shape.as_slice());
        let shape = broadcast(&[a, b]);
        let shape =
            shape.ok_or_else(|| OperandError::new(format!("shapes {a:?} and {b:?} do not fit")))?;
        let [x, y] = both.map(|floats| {
            let strides = spread_strides(&floats.shape, shape.len());
            let plain = Value::Floats(floats.in_order(Order::RowMajor));
            view(&plain, &shape, &strides, shape.clone())
        });
        Ok(run_alone(self, &[Some(&x?), Some(&y?)])?.map(|v| vec![Some(v)]))
    }
}

/// The shape that the operands broadcast to, where the kernels can follow: rank 4 at most, unless
/// all shapes are the same.
pub(crate) fn broadcast_shape(shapes: &[&[usize]]) -> Option<Vec<usize>> {
    let rank = shapes.iter().map(|s| s.len()).max()?;
    if rank > 4 && shapes.iter().any(|s| *s != shapes[0]) {
        return None;
    }
    broadcast(shapes)
}

/// Copies the first operand's pixels; the function follows as the step's fused functions.
struct BoundCopy<'a> {
    shape: Vec<usize>,
    order: Order,
    grid: Grid,
    grids: Vec<Grid>,
    sources: &'a [usize],
}

/// The pixels of a larger grid that a region of a broadcast one answers for.
pub(crate) fn spread(region: Region, from: &Grid, to: &Grid) -> Region {
    let mut reached = region;
    for axis in 0..3 {
        // One place along the axis answers for all of them.
        if from.axes[axis] == 1 {
            reached.low[axis] = 0;
            reached.high[axis] = to.axes[axis];
        }
    }
    reached
}

impl Local for BoundCopy<'_> {
    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn order(&self) -> Order {
        self.order
    }

    fn sources(&self) -> &[usize] {
        self.sources
    }

    fn reach(&self, source: usize, region: Region) -> Region {
        spread(region, &self.grids[source], &self.grid)
    }

    #[expect(unsafe_code, reason = "spots are written through pointers; see kernels")]
    unsafe fn compute(&self, spots: &[Spot<'_>], _channels: Range<usize>) {
        for spot in spots {
            // SAFETY: the caller promises room for all channels.
            let out = unsafe { std::slice::from_raw_parts_mut(spot.out, self.grid.width) };
            match spot.sources[0].broadcast(spot.at) {
                [one] => out.fill(*one),
                pixel => out.copy_from_slice(pixel),
            }
        }
    }
}

/// `Clip` whose limits are operands: constant ones make it a function of the element.
struct Clip;

/// The function that `Clip`'s operands make of it, if its limits are known floats.
pub(crate) fn clip(operands: &[Option<&Value>]) -> Option<Unary> {
    let limit = |at: usize, default: f32| match operands.get(at).copied().flatten() {
        None => Some(default),
        Some(value) => value.floats().and_then(|f| f.data.first().copied()),
    };
    Some(Unary::Clip(limit(1, f32::MIN)?, limit(2, f32::MAX)?))
}

impl Op for Clip {
    fn wants(&self, _operand: usize) -> Wants {
        Wants::Alike
    }

    fn prepack(&self, constants: &[Option<&Value>]) -> Result<Option<Box<dyn Op>>, OperandError> {
        Ok(clip(constants).map(|clip| Elementwise::boxed(Function::Unary(clip))))
    }

    /// Limits that are not constant, or not floats.
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let value = required(operands, 0)?;
        if value.floats().is_none() {
            return arithmetic::clip(operands);
        }
        let Some(clip) = self.prepack(operands)? else {
            return Err(OperandError::new("its limits must be floats, as its input is"));
        };
        Ok(run_alone(&*clip, &[Some(value)])?.map(|v| vec![Some(v)]))
    }
}

/// `Max`, `Min` and `Sum` of one, three or more operands: from the left, two at a time.
struct Fold(Binary);

impl Op for Fold {
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let operands: Vec<&Value> = operands.iter().flatten().copied().collect();
        let Some((first, others)) = operands.split_first() else { return Ok(None) };
        let pair = Elementwise { function: Function::Binary(self.0) };
        let mut folded = Value::clone(first);
        for operand in others {
            let both = [Some(&folded), Some(*operand)];
            let next = match run_alone(&pair, &both)? {
                Some(next) => Some(next),
                None => pair.whole(&both)?.and_then(|mut answers| answers.pop().flatten()),
            };
            let Some(next) = next else { return Ok(None) };
            folded = next;
        }
        one(folded)
    }
}
