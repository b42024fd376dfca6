//! From pixels to elements: resize, pad, reorder, scale.

use fast_image_resize as fir;
use faultlens_core::{Image, Tensor, TensorData};
use fir::images::{Image as Buffer, ImageRef};
use fir::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};
use half::f16;

use super::geometry::ResizeSteps;
use super::latent;
use super::{Channels, ElementType, Filter, InputDescription, Layout, Resize, VisionError};

/// Bytes per pixel while resizing: RGB and one that stays unused, for the fastest code path.
const RGBX: usize = 4;

impl InputDescription {
    /// The batch to feed to the model.
    pub fn tensor(&self, images: &[Image]) -> Result<Tensor, VisionError> {
        self.check()?;
        if images.is_empty() {
            return Err(VisionError::NoImage);
        }
        if let Some(axes) = &self.latent {
            let length = axes.iter().product();
            let drawn = images.iter().flat_map(|image| latent::vector(image, length));
            return Ok(Tensor::new(self.shape(images.len()), drawn.collect::<Vec<f32>>())?);
        }
        let data = elements(self, images)?;
        Ok(Tensor::new(self.shape(images.len()), data)?)
    }
}

/// The elements of a whole batch, in the description's layout and type.
pub(super) fn elements(
    description: &InputDescription,
    images: &[Image],
) -> Result<TensorData, VisionError> {
    let frames: Vec<Vec<u8>> =
        images.iter().map(|image| frame(description, image)).collect::<Result<_, _>>()?;
    // A byte has 256 values, so that each channel's arithmetic is done once per value.
    Ok(match description.dtype {
        ElementType::F32 => spread(description, &frames, |value| value as f32).into(),
        ElementType::F16 => spread(description, &frames, f16::from_f64).into(),
        ElementType::Uint8 => spread(description, &frames, to_u8).into(),
        ElementType::Int8 => spread(description, &frames, to_i8).into(),
    })
}

/// Rounded; the cast saturates, which is the clamp.
fn to_u8(value: f64) -> u8 {
    value.round_ties_even() as u8
}

/// Rounded; the cast saturates, which is the clamp.
fn to_i8(value: f64) -> i8 {
    value.round_ties_even() as i8
}

/// What each of the 256 pixel values becomes in one channel.
struct Table([f64; 256]);

impl Table {
    fn new(description: &InputDescription, channel: usize) -> Self {
        let [mean, std] = description.of_channel(channel);
        Self(std::array::from_fn(|pixel| (pixel as f64 * description.scale - mean) / std))
    }

    fn map<T>(self, convert: impl Fn(f64) -> T) -> [T; 256] {
        self.0.map(convert)
    }
}

/// Lays the frames out, each byte replaced by what its channel's table says.
fn spread<T: Copy>(
    description: &InputDescription,
    frames: &[Vec<u8>],
    convert: impl Fn(f64) -> T,
) -> Vec<T> {
    let channels = description.channels.count();
    let tables: Vec<[T; 256]> =
        (0..channels).map(|channel| Table::new(description, channel).map(&convert)).collect();
    let mut elements = Vec::with_capacity(frames.iter().map(Vec::len).sum());
    for frame in frames {
        match description.layout {
            Layout::Nchw => {
                for (c, table) in tables.iter().enumerate() {
                    let plane = frame.iter().skip(c).step_by(channels);
                    elements.extend(plane.map(|&pixel| table[usize::from(pixel)]));
                }
            }
            Layout::Nhwc => elements.extend(
                frame
                    .chunks_exact(channels)
                    .flat_map(|p| p.iter().zip(&tables).map(|(&v, t)| t[usize::from(v)])),
            ),
        }
    }
    elements
}

/// One image at the model's size, interleaved, with the model's channels in their order.
pub(super) fn frame(description: &InputDescription, image: &Image) -> Result<Vec<u8>, VisionError> {
    let steps = description.steps(image.width(), image.height())?;
    let resized = resized(image, &steps, algorithm(description.filter, description.antialias))?;
    let border = match description.resize {
        Resize::Letterbox { pad, .. } => pad,
        _ => 0,
    };
    let placed = placed(&resized, &steps, description.size, border);
    Ok(match description.channels {
        Channels::Rgb => placed.chunks_exact(RGBX).flat_map(|p| [p[0], p[1], p[2]]).collect(),
        Channels::Bgr => placed.chunks_exact(RGBX).flat_map(|p| [p[2], p[1], p[0]]).collect(),
        Channels::Grey => placed.chunks_exact(RGBX).map(luminance).collect(),
    })
}

/// ITU-R 601 luminance in Pillow's fixed-point arithmetic.
fn luminance(pixel: &[u8]) -> u8 {
    let [r, g, b] = [pixel[0], pixel[1], pixel[2]].map(u32::from);
    ((r * 19595 + g * 38470 + b * 7471 + 0x8000) >> 16) as u8
}

fn algorithm(filter: Filter, antialias: bool) -> ResizeAlg {
    let kernel = match filter {
        Filter::Nearest => return ResizeAlg::Nearest,
        Filter::Bilinear => FilterType::Bilinear,
        Filter::Bicubic => FilterType::CatmullRom,
        Filter::Lanczos => FilterType::Lanczos3,
    };
    if antialias { ResizeAlg::Convolution(kernel) } else { ResizeAlg::Interpolation(kernel) }
}

/// The cut, resized: RGBX bytes of `steps.resized`. Columns before rows, as Pillow does: each
/// pass rounds and clamps to bytes, so the order shows in the result.
fn resized(
    image: &Image,
    steps: &ResizeSteps,
    algorithm: ResizeAlg,
) -> Result<Vec<u8>, VisionError> {
    let [width, height] = steps.cut;
    let [new_width, new_height] = steps.resized;
    // Separable filters: columns, then rows.
    let narrowed = pass(&cut(image, steps), [width, height], [new_width, height], algorithm)?;
    pass(&narrowed, [new_width, height], [new_width, new_height], algorithm)
}

fn pass(
    bytes: &[u8],
    from: [usize; 2],
    to: [usize; 2],
    algorithm: ResizeAlg,
) -> Result<Vec<u8>, VisionError> {
    let source = ImageRef::new(side(from[0])?, side(from[1])?, bytes, PixelType::U8x4)
        .map_err(|error| VisionError::Resize(error.to_string()))?;
    let mut target = Buffer::new(side(to[0])?, side(to[1])?, PixelType::U8x4);
    let options = ResizeOptions::new().resize_alg(algorithm).use_alpha(false);
    Resizer::new()
        .resize(&source, &mut target, &options)
        .map_err(|error| VisionError::Resize(error.to_string()))?;
    Ok(target.into_vec())
}

/// A side as the resizer counts.
fn side(pixels: usize) -> Result<u32, VisionError> {
    u32::try_from(pixels).map_err(|error| VisionError::Resize(error.to_string()))
}

/// The cut as RGBX bytes; what lies outside it does not take part in the resize.
fn cut(image: &Image, steps: &ResizeSteps) -> Vec<u8> {
    let [left, top] = steps.from;
    let [width, height] = steps.cut;
    let mut bytes = Vec::with_capacity(width * height * RGBX);
    for row in image.rgb().chunks_exact(image.width() * 3).skip(top).take(height) {
        for pixel in row[left * 3..(left + width) * 3].chunks_exact(3) {
            bytes.extend_from_slice(&[pixel[0], pixel[1], pixel[2], u8::MAX]);
        }
    }
    bytes
}

/// The resized cut laid into a frame of `size`, cut off where it sticks out.
fn placed(resized: &[u8], steps: &ResizeSteps, size: [usize; 2], border: u8) -> Vec<u8> {
    let [height, width] = size;
    let mut frame = vec![border; height * width * RGBX];
    let [x, y] = [0, 1].map(|i| Span::new(steps.offset[i], steps.resized[i], [width, height][i]));
    for row in 0..y.length {
        let from = ((y.from + row) * steps.resized[0] + x.from) * RGBX;
        let to = ((y.to + row) * width + x.to) * RGBX;
        let bytes = x.length * RGBX;
        frame[to..to + bytes].copy_from_slice(&resized[from..from + bytes]);
    }
    frame
}

/// What two lines of pixels share when one is laid onto the other at an offset.
struct Span {
    from: usize,
    to: usize,
    length: usize,
}

impl Span {
    fn new(offset: i64, source: usize, target: usize) -> Self {
        let cut = usize::try_from(-offset).unwrap_or(0).min(source);
        let to = usize::try_from(offset).unwrap_or(0).min(target);
        Self { from: cut, to, length: (source - cut).min(target - to) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dots() -> Image {
        Image::from_rgb(2, 1, vec![10, 20, 30, 255, 0, 1]).unwrap()
    }

    #[test]
    fn layouts_and_channel_orders_place_every_value() {
        let mut d = InputDescription::plain([1, 2], Channels::Bgr, ElementType::F32);
        d.scale = 1.0;
        d.mean = vec![1.0, 2.0, 3.0];
        let nchw = d.tensor(&[dots()]).unwrap();
        assert_eq!(nchw.as_f32().unwrap(), [29.0, 0.0, 18.0, -2.0, 7.0, 252.0]);
        d.layout = Layout::Nhwc;
        let nhwc = d.tensor(&[dots(), dots()]).unwrap();
        assert_eq!(nhwc.shape(), [2, 1, 2, 3]);
        assert_eq!(nhwc.as_f32().unwrap()[6..], [29.0, 18.0, 7.0, 0.0, -2.0, 252.0]);
    }

    #[test]
    fn integer_types_are_rounded_and_clamped() {
        let mut d = InputDescription::plain([1, 2], Channels::Rgb, ElementType::Uint8);
        d.layout = Layout::Nhwc;
        let bytes = d.tensor(&[dots()]).unwrap();
        assert_eq!(bytes.data(), &TensorData::U8(vec![10, 20, 30, 255, 0, 1]));
        let mut d = InputDescription::plain([1, 2], Channels::Grey, ElementType::Int8);
        d.mean = vec![100.0];
        d.scale = 2.0;
        assert_eq!(d.tensor(&[dots()]).unwrap().data(), &TensorData::I8(vec![-64, 52]));
    }

    #[test]
    fn half_floats_round_to_nearest() {
        let d = InputDescription::plain([1, 2], Channels::Rgb, ElementType::F16);
        let TensorData::F16(v) = d.tensor(&[dots()]).unwrap().data().clone() else { panic!() };
        assert_eq!(v[0], f16::from_f64(10.0 / 255.0));
    }

    #[test]
    fn a_batch_needs_an_image() {
        let d = InputDescription::plain([1, 2], Channels::Rgb, ElementType::F32);
        assert_eq!(d.tensor(&[]).unwrap_err(), VisionError::NoImage);
    }
}
