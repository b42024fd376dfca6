//! ResNet-18 and ResNet-50, the latter with its stride in the 3×3 convolution (v1.5).

use faultlens_engine::onnx::ModelProto;

use super::net::{BRANCH, LINEAR, Net, Norm, Pool, Value, conv};

const POOL: Pool = Pool { kernel: 3, pad: 1, ceil_mode: false };

/// ResNet-18: 8 blocks of two 3×3 convolutions.
pub fn resnet18(seed: u64, norm: Norm) -> ModelProto {
    resnet("resnet18", seed, norm, [2, 2, 2, 2], &BASIC)
}

/// ResNet-50: 16 blocks with a bottleneck; the network that most published numbers are about.
pub fn resnet50(seed: u64, norm: Norm) -> ModelProto {
    resnet("resnet50", seed, norm, [3, 4, 6, 3], &BOTTLENECK)
}

/// What the two kinds of blocks differ in.
struct Kind {
    branch: fn(&mut Net, &str, &Value, usize, usize) -> Value,
    expansion: usize,
    /// PyTorch's name for the block's last call of its one rectifier.
    last_relu: &'static str,
}

const BASIC: Kind = Kind { branch: basic, expansion: 1, last_relu: "relu_1" };
const BOTTLENECK: Kind = Kind { branch: bottleneck, expansion: 4, last_relu: "relu_2" };

fn resnet(name: &str, seed: u64, norm: Norm, blocks: [usize; 4], kind: &Kind) -> ModelProto {
    let (mut net, input) = Net::new(name, seed, norm);
    let mut x = net.conv_norm("conv1", "bn1", &input, conv(64, 7).stride(2));
    x = net.relu("relu", &x);
    x = net.max_pool("maxpool", &x, POOL);
    for (stage, &count) in blocks.iter().enumerate() {
        let width = 64 << stage;
        let channels = width * kind.expansion;
        for block in 0..count {
            let module = format!("layer{}.{block}", stage + 1);
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            let y = (kind.branch)(&mut net, &module, &x, width, stride);
            if stride == 2 || x.channels != channels {
                let [conv_name, norm_name] = [0, 1].map(|n| format!("{module}.downsample.{n}"));
                let shortcut = conv(channels, 1).stride(stride).gain(LINEAR);
                x = net.conv_norm(&conv_name, &norm_name, &x, shortcut);
            }
            let sum = net.add(&module, &y, &x);
            x = net.relu(&format!("{module}.{}", kind.last_relu), &sum);
        }
    }
    x = net.global_pool("avgpool", &x);
    x = net.flatten(&x, 1);
    let logits = net.linear("fc", &x, 1000, LINEAR);
    net.finish(&logits)
}

fn basic(net: &mut Net, module: &str, x: &Value, width: usize, stride: usize) -> Value {
    let at = |layer: &str| format!("{module}.{layer}");
    let y = net.conv_norm(&at("conv1"), &at("bn1"), x, conv(width, 3).stride(stride));
    let y = net.relu(&at("relu"), &y);
    net.conv_norm(&at("conv2"), &at("bn2"), &y, conv(width, 3).gain(BRANCH))
}

fn bottleneck(net: &mut Net, module: &str, x: &Value, width: usize, stride: usize) -> Value {
    let at = |layer: &str| format!("{module}.{layer}");
    let y = net.conv_norm(&at("conv1"), &at("bn1"), x, conv(width, 1));
    let y = net.relu(&at("relu"), &y);
    let y = net.conv_norm(&at("conv2"), &at("bn2"), &y, conv(width, 3).stride(stride));
    let y = net.relu(&at("relu_1"), &y);
    net.conv_norm(&at("conv3"), &at("bn3"), &y, conv(4 * width, 1).gain(BRANCH))
}
