//! A small convolutional network whose weights were set by hand.
//!
//! `edges` finds brightness steps in four directions, `patterns` gathers them over a
//! neighbourhood into three textures, and `classes` weighs how common each is.

use faultlens::engine::onnx::{ModelBuilder, ModelProto};
use faultlens::engine::vision::{
    Channels, ElementType, InputDescription, OutputDescription, OutputKind,
};
use faultlens::{DType, Tensor, TensorError};

use super::drawing::{Pattern, SIDE};

/// The weight of red, green and blue in brightness.
const BRIGHTNESS: [f32; 3] = [0.299, 0.587, 0.114];
/// Sobel kernels: brighter to the right, and brighter below.
const RIGHT: [f32; 9] = [-0.125, 0.0, 0.125, -0.25, 0.0, 0.25, -0.125, 0.0, 0.125];
const DOWN: [f32; 9] = [-0.125, -0.25, -0.125, 0.0, 0.0, 0.0, 0.125, 0.25, 0.125];
/// Weaker steps are noise.
const THRESHOLD: f32 = 0.03;
/// How much each texture (rows, columns, any step) speaks for each class.
const CLASSES: [[f32; 3]; 4] =
    [[80.0, -40.0, 0.0], [-40.0, 80.0, 0.0], [-40.0, -40.0, 40.0], [0.0, 0.0, -40.0]];
/// A disc has few steps of any kind, so it wins where nothing speaks for another class.
const BIAS: [f32; 4] = [0.0, 0.0, 0.0, 6.0];

/// The network as an ONNX model.
pub(super) fn model() -> Result<ModelProto, TensorError> {
    let mut model = ModelBuilder::new("patterns");
    model.input("image", DType::F32, &["N".into(), 3.into(), SIDE.into(), SIDE.into()]);
    convolution(&mut model, "edges", "image", Tensor::new(vec![4, 3, 3, 3], edges())?, -THRESHOLD);
    model
        .node("MaxPool", &["edges.relu"], &["pooled"])
        .name("pool")
        .attr_ints("kernel_shape", &[2, 2])
        .attr_ints("strides", &[2, 2]);
    convolution(&mut model, "patterns", "pooled", Tensor::new(vec![3, 4, 3, 3], patterns())?, 0.0);
    model.node("GlobalAveragePool", &["patterns.relu"], &["average"]).name("average");
    model.node("Flatten", &["average"], &["textures"]).name("flatten");
    let weight = Tensor::new(vec![4, 3], CLASSES.concat())?;
    let weight = model.initializer("classes.weight", weight);
    let bias = model.initializer("classes.bias", Tensor::vector(BIAS.to_vec()));
    model
        .node("Gemm", &["textures", &weight, &bias], &["logits"])
        .name("classes")
        .attr_i("transB", 1);
    model.node("Softmax", &["logits"], &["probabilities"]).name("softmax").attr_i("axis", -1);
    model.output("probabilities", DType::F32, &["N".into(), Pattern::ALL.len().into()]);
    Ok(model.build())
}

/// A 3×3 convolution called `name` and its Relu.
fn convolution(model: &mut ModelBuilder, name: &str, input: &str, weight: Tensor, bias: f32) {
    let channels = weight.shape()[0];
    let weight = model.initializer(&format!("{name}.weight"), weight);
    let bias = Tensor::vector(vec![bias; channels]);
    let bias = model.initializer(&format!("{name}.bias"), bias);
    let (output, relu) = (format!("{name}.conv"), format!("{name}.relu"));
    model
        .node("Conv", &[input, &weight, &bias], &[&output])
        .name(name)
        .attr_ints("kernel_shape", &[3, 3])
        .attr_ints("pads", &[1, 1, 1, 1]);
    model.node("Relu", &[&output], &[&relu]).name(&relu);
}

/// Steps downwards, upwards, to the right, to the left.
fn edges() -> Vec<f32> {
    let mut weights = Vec::new();
    for (kernel, sign) in [(DOWN, 1.0), (DOWN, -1.0), (RIGHT, 1.0), (RIGHT, -1.0)] {
        for brightness in BRIGHTNESS {
            weights.extend(kernel.map(|step| sign * brightness * step));
        }
    }
    weights
}

/// Rows without columns, columns without rows, and any step at all.
fn patterns() -> Vec<f32> {
    let textures = [[1.0, 1.0, -1.0, -1.0], [-1.0, -1.0, 1.0, 1.0], [1.0; 4]];
    let mean = |sign: f32| [sign / 9.0; 9];
    textures.iter().flatten().flat_map(|&sign| mean(sign)).collect()
}

/// How pictures go in: as they are, 0 to 1.
pub(super) fn input() -> InputDescription {
    InputDescription::plain([SIDE, SIDE], Channels::Rgb, ElementType::F32)
}

/// What comes out.
pub(super) fn output() -> OutputDescription {
    let name = Some("probabilities".to_owned());
    OutputDescription { name, kind: OutputKind::Probabilities, softmax: false }
}

#[cfg(test)]
mod tests {
    use faultlens::engine::Model;
    use faultlens::engine::vision::Labels;

    use super::*;

    #[test]
    fn every_pattern_is_told_from_the_others() {
        let model = Model::from_proto(&model().unwrap()).unwrap();
        for (class, pattern) in Pattern::ALL.into_iter().enumerate() {
            for seed in 0..20 {
                let tensor = input().tensor(&[pattern.draw(seed).unwrap()]).unwrap();
                let outputs = model.run(&[("image", tensor)]).unwrap();
                let ranking = output().ranking(&outputs[0], 0, &Labels::default()).unwrap();
                assert_eq!(ranking.top().unwrap().index, class, "{pattern:?}, seed {seed}");
            }
        }
    }
}
