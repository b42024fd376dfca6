//! What holds where we do not follow ONNX Runtime: tiny, independent recomputations.

use super::TOLERANCE;
use crate::common::{Fixture, mismatch, numbers};
use faultlens_core::Tensor;
use faultlens_engine::onnx;
use std::path::Path;

/// Checks our answers, by output name, to a fixture.
pub(crate) type Rule = fn(&Fixture, &[(String, Tensor)]) -> Result<(), String>;

/// The rule for a fixture on which runtimes disagree.
pub(crate) fn for_unsettled(name: &str) -> Option<Rule> {
    let (operator, _) = name.split_once("__")?;
    match operator {
        "ArgMax" | "ArgMin" => Some(place_of_extreme_or_nan),
        "Cast" => Some(as_onnx_runtime),
        "Conv" => Some(as_onnx_runtime_with_or_without_optimisation),
        "GlobalMaxPool" | "MaxPool" => Some(largest_or_nan),
        "ReduceMax" | "ReduceMin" => Some(extreme_or_nan),
        _ => None,
    }
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/ops")
}

fn ints(fixture: &Fixture, name: &str) -> Option<Vec<i64>> {
    let node = &fixture.model.graph.as_ref()?.node[0];
    node.attribute.iter().find(|a| a.name == name).map(|a| a.ints.clone())
}

fn same(got: f64, want: f64) -> bool {
    got == want
        || (got.is_nan() && want.is_nan())
        || (got - want).abs() <= TOLERANCE * want.abs().max(1.0)
}

/// Compares elements with what they must be.
fn expect(got: &Tensor, want: &[f64]) -> Result<(), String> {
    let got = numbers(got);
    assert_eq!(got.len(), want.len());
    match got.iter().zip(want).position(|(&g, &w)| !same(g, w)) {
        Some(at) => Err(format!("[{at}] is {}, not {}", got[at], want[at])),
        None => Ok(()),
    }
}

fn as_onnx_runtime(fixture: &Fixture, answers: &[(String, Tensor)]) -> Result<(), String> {
    let why = mismatch(&answers[0].1, &fixture.expected[0].1, 0.0);
    why.map_or(Ok(()), Err)
}

/// Element by element, what one of its two kernels answers.
fn as_onnx_runtime_with_or_without_optimisation(
    fixture: &Fixture,
    answers: &[(String, Tensor)],
) -> Result<(), String> {
    let file = onnx::read(&folder().join(format!("{}.onnx", fixture.name))).unwrap();
    let initializers = file.graph.unwrap().initializer;
    let optimised = initializers.iter().find(|t| t.name.starts_with("default/"));
    let plain = numbers(&fixture.expected[0].1);
    let optimised = optimised.map_or(plain.clone(), |t| numbers(&onnx::tensor(t).unwrap()));
    let got = numbers(&answers[0].1);
    let wrong = (0..got.len()).find(|&i| !same(got[i], plain[i]) && !same(got[i], optimised[i]));
    wrong.map_or(Ok(()), |i| {
        Err(format!("[{i}] is {}, not {} or {}", got[i], plain[i], optimised[i]))
    })
}

/// The larger number; NaN if either is.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

/// Maxima are NaN exactly where the window holds one, else the largest element. Where the places
/// are asked for, they are of the first such element.
pub(crate) fn largest_or_nan(
    fixture: &Fixture,
    answers: &[(String, Tensor)],
) -> Result<(), String> {
    let input = &fixture.feeds[0].1;
    let (values, shape, output) = (numbers(input), input.shape(), answers[0].1.shape());
    let axes = shape.len() - 2;
    let list = |name: &str, default: i64| ints(fixture, name).unwrap_or(vec![default; axes]);
    let plane: Vec<i64> = shape[2..].iter().map(|&n| n as i64).collect();
    let kernel = ints(fixture, "kernel_shape").unwrap_or(plane.clone());
    let (strides, dilations) = (list("strides", 1), list("dilations", 1));
    let pads = ints(fixture, "pads").unwrap_or(vec![0; 2 * axes]);
    let (mut maxima, mut places) = (Vec::new(), Vec::new());
    for at in indices(output) {
        let under = |tap: &[usize]| -> Option<usize> {
            let mut element = at[0] * shape[1] + at[1];
            for a in 0..axes {
                let x = at[2 + a] as i64 * strides[a] + tap[a] as i64 * dilations[a] - pads[a];
                element =
                    element * shape[2 + a] + usize::try_from(x).ok().filter(|_| x < plane[a])?;
            }
            Some(element)
        };
        let taps = indices(&kernel.iter().map(|&n| n as usize).collect::<Vec<_>>());
        let window: Vec<usize> = taps.iter().filter_map(|tap| under(tap)).collect();
        let maximum = window.iter().fold(f64::NEG_INFINITY, |a, &i| larger(a, values[i]));
        maxima.push(maximum);
        let first = window.iter().find(|&&i| same(values[i], maximum)).unwrap();
        places.push(*first as f64);
    }
    expect(&answers[0].1, &maxima)?;
    answers.get(1).map_or(Ok(()), |(_, got)| expect(got, &places))
}

/// All places of a shape, in row-major order.
fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![Vec::new()], |places, &length| {
        let longer = |place: &Vec<usize>| {
            let place = place.clone();
            (0..length).map(move |i| place.iter().copied().chain([i]).collect())
        };
        places.iter().flat_map(longer).collect()
    })
}

/// The rows of a matrix, or its columns where the fixture reduces those.
fn lines(fixture: &Fixture) -> Vec<Vec<f64>> {
    let input = &fixture.feeds[0].1;
    let (values, columns) = (numbers(input), input.shape()[1]);
    if fixture.name.ends_with("_rows") {
        return values.chunks(columns).map(<[f64]>::to_vec).collect();
    }
    (0..columns).map(|c| values.iter().skip(c).step_by(columns).copied().collect()).collect()
}

/// The line's largest or smallest element; NaN if it holds one.
fn extreme(fixture: &Fixture, line: &[f64]) -> f64 {
    let sign = if fixture.name.contains("Max") { 1.0 } else { -1.0 };
    sign * line.iter().fold(f64::NEG_INFINITY, |a, &b| larger(a, sign * b))
}

fn extreme_or_nan(fixture: &Fixture, answers: &[(String, Tensor)]) -> Result<(), String> {
    let wanted: Vec<f64> = lines(fixture).iter().map(|line| extreme(fixture, line)).collect();
    expect(&answers[0].1, &wanted)
}

/// The first place of the extreme, or of the first NaN.
fn place_of_extreme_or_nan(fixture: &Fixture, answers: &[(String, Tensor)]) -> Result<(), String> {
    let place = |line: &Vec<f64>| {
        let wanted = extreme(fixture, line);
        line.iter().position(|&x| x == wanted || (x.is_nan() && wanted.is_nan())).unwrap() as f64
    };
    expect(&answers[0].1, &lines(fixture).iter().map(place).collect::<Vec<_>>())
}

/// Rows that met a NaN are NaN from that step on, others are as ONNX Runtime has them.
pub(crate) fn nan_stays_from_its_step_on(
    fixture: &Fixture,
    answers: &[(String, Tensor)],
) -> Result<(), String> {
    let input = &fixture.feeds[0].1;
    let (values, &[steps, batch, width]) = (numbers(input), input.shape()) else {
        return Err("a sequence is wanted".into());
    };
    let met = |step: usize, row: usize| {
        let at = |s: usize| &values[(s * batch + row) * width..][..width];
        (0..=step).any(|s| at(s).iter().any(|x| x.is_nan()))
    };
    for ((_, got), (_, expected)) in answers.iter().zip(&fixture.expected) {
        let hidden = got.shape()[got.shape().len() - 1];
        let every_step = got.shape().len() == 4;
        let wanted: Vec<f64> = numbers(expected)
            .into_iter()
            .enumerate()
            .map(|(i, theirs)| {
                let row = i / hidden % batch;
                let step = if every_step { i / hidden / batch } else { steps - 1 };
                if met(step, row) { f64::NAN } else { theirs }
            })
            .collect();
        expect(got, &wanted)?;
    }
    Ok(())
}

/// ONNX's definition of `LRN` with its default attributes; where ONNX Runtime has a number, it is
/// the same.
pub(crate) fn local_response_by_definition(
    fixture: &Fixture,
    answers: &[(String, Tensor)],
) -> Result<(), String> {
    let input = &fixture.feeds[0].1;
    let (values, &[1, channels, height, width]) = (numbers(input), input.shape()) else {
        return Err("one image is wanted".into());
    };
    let plane = height * width;
    let wanted: Vec<f64> = (0..values.len())
        .map(|i| {
            let (channel, pixel) = (i / plane, i % plane);
            let near = channel.saturating_sub(2)..(channel + 3).min(channels);
            let squares = near.map(|c| values[c * plane + pixel].powi(2)).sum::<f64>() as f32;
            values[i] * (1.0 + 1e-4 / 5.0 * f64::from(squares)).powf(-0.75)
        })
        .collect();
    let theirs = numbers(&fixture.expected[0].1);
    let contradicts = |i: usize| !theirs[i].is_nan() && !same(wanted[i], theirs[i]);
    if let Some(at) = (0..theirs.len()).find(|&i| contradicts(i)) {
        return Err(format!("[{at}] is {} by definition, not {}", wanted[at], theirs[at]));
    }
    expect(&answers[0].1, &wanted)
}

/// What ONNX Runtime answers when the same numbers stand in columns.
pub(crate) fn as_onnx_runtime_on_columns(
    fixture: &Fixture,
    answers: &[(String, Tensor)],
) -> Result<(), String> {
    let twin = fixture.name.replace("_rows", "_columns");
    let twin = Fixture::read(&folder().join(format!("{twin}.onnx")));
    assert_eq!(format!("{:?}", lines(fixture)), format!("{:?}", lines(&twin)), "the same numbers");
    expect(&answers[0].1, &numbers(&twin.expected[0].1))
}
