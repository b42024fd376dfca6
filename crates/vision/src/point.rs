//! Images as floats at a model's own size: what is moved when something finer than a byte counts.
//!
//! A point holds values from 0 to 1, channel after channel in the order of the model, row after
//! row.

use super::{Channels, InputDescription, Layout, VisionError, pixels};
use faultlens_core::{Image, Tensor};

/// How near a value must be to a byte's to be fed as that byte: less than the rounding of its
/// 255th part.
const SNAP: f64 = 2e-5;

impl InputDescription {
    /// Channels, height and width of a point.
    pub fn point_shape(&self) -> [usize; 3] {
        [self.channels.count(), self.size[0], self.size[1]]
    }

    /// An image as the model sees it, before its values are scaled.
    pub fn point(&self, image: &Image) -> Result<Vec<f32>, VisionError> {
        self.check()?;
        let frame = pixels::frame(self, image)?;
        let channels = self.channels.count();
        Ok((0..channels)
            .flat_map(|c| frame.iter().skip(c).step_by(channels))
            .map(|&byte| f32::from(byte) / 255.0)
            .collect())
    }

    /// The batch to feed for these points. The point of an image is fed as the image would be, bit
    /// for bit.
    pub fn point_tensor(&self, points: &[&[f32]]) -> Result<Tensor, VisionError> {
        let mut values = Vec::with_capacity(points.iter().map(|point| point.len()).sum());
        for point in points {
            self.each_place(point.len(), |from, channel| {
                values.push(self.fed(point[from], channel) as f32);
            });
        }
        Ok(Tensor::new(self.shape(points.len()), values)?)
    }

    /// How a scalar depends on the points of a batch, from how it depends on what was fed.
    pub fn point_slopes(&self, fed: &[f32], points: usize) -> Vec<Vec<f32>> {
        let each = fed.len() / points.max(1);
        let slopes = fed.chunks_exact(each.max(1)).map(|fed| {
            let mut slope = vec![0.0; each];
            let mut fed = fed.iter();
            self.each_place(each, |to, channel| {
                let [_, std] = self.of_channel(channel);
                slope[to] =
                    fed.next().map_or(0.0, |d| (f64::from(*d) * 255.0 * self.scale / std) as f32);
            });
            slope
        });
        slopes.collect()
    }

    /// What a point looks like, rounded to bytes.
    pub fn picture(&self, point: &[f32]) -> Result<Image, VisionError> {
        let [channels, height, width] = self.point_shape();
        let plane = height * width;
        let order = match self.channels {
            Channels::Rgb => [0, 1, 2],
            Channels::Bgr => [2, 1, 0],
            Channels::Grey => [0; 3],
        };
        debug_assert!(order.iter().all(|channel| *channel < channels), "as many as there are");
        let mut rgb = Vec::with_capacity(3 * plane);
        for place in 0..plane {
            for channel in order {
                let value = point.get(channel * plane + place).copied().unwrap_or(0.0);
                rgb.push((value * 255.0).round_ties_even() as u8);
            }
        }
        Image::from_rgb(width, height, rgb).map_err(|error| VisionError::Resize(error.to_string()))
    }

    /// Calls with each place of a point and its channel, in the order in which values are fed.
    fn each_place(&self, length: usize, mut call: impl FnMut(usize, usize)) {
        let channels = self.channels.count();
        let plane = length / channels;
        match self.layout {
            Layout::Nchw => (0..length).for_each(|at| call(at, at / plane.max(1))),
            Layout::Nhwc => {
                for place in 0..plane {
                    (0..channels).for_each(|channel| call(channel * plane + place, channel));
                }
            }
        }
    }

    /// The mean and the deviation of a channel, where one number may serve all of them.
    pub(crate) fn of_channel(&self, channel: usize) -> [f64; 2] {
        [&self.mean, &self.std].map(|numbers| match numbers[..] {
            [one] => one,
            _ => numbers[channel],
        })
    }

    fn fed(&self, value: f32, channel: usize) -> f64 {
        let [mean, std] = self.of_channel(channel);
        let pixel = f64::from(value) * 255.0;
        // A point that is an image's must be fed as the image would be, bit for bit, although 255
        // · (v / 255) need not be v.
        let near = pixel.round_ties_even();
        let pixel = if (pixel - near).abs() < SNAP { near } else { pixel };
        (pixel * self.scale - mean) / std
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ElementType;

    fn described(channels: Channels, layout: Layout) -> InputDescription {
        let plain = InputDescription::plain([3, 2], channels, ElementType::F32);
        let (mean, std) = match channels {
            Channels::Grey => (vec![0.4], vec![0.3]),
            _ => (vec![0.485, 0.456, 0.406], vec![0.229, 0.224, 0.225]),
        };
        InputDescription { layout, mean, std, ..plain }
    }

    fn image() -> Image {
        Image::from_rgb(2, 3, (0..18).map(|at| (at * 83 % 256) as u8).collect()).unwrap()
    }

    #[test]
    fn the_point_of_an_image_is_fed_as_the_image() {
        for channels in [Channels::Rgb, Channels::Bgr, Channels::Grey] {
            for layout in [Layout::Nchw, Layout::Nhwc] {
                let d = described(channels, layout);
                let every = Image::from_rgb(2, 3, (0..18).map(|at| (at * 15) as u8).collect());
                for image in [image(), every.unwrap()] {
                    let point = d.point(&image).unwrap();
                    let fed = d.point_tensor(&[&point, &point]).unwrap();
                    assert_eq!(fed, d.tensor(&[image.clone(), image.clone()]).unwrap());
                    if channels != Channels::Grey {
                        assert_eq!(d.picture(&point).unwrap(), image);
                    }
                }
            }
        }
    }

    #[test]
    fn slopes_are_those_of_central_differences() {
        for layout in [Layout::Nchw, Layout::Nhwc] {
            let d = described(Channels::Bgr, layout);
            let point = d.point(&image()).unwrap();
            let weights: Vec<f32> = (0..18).map(|at| (at as f32 * 0.7).sin()).collect();
            let scalar = |point: &[f32]| {
                let fed = d.point_tensor(&[point]).unwrap();
                let pairs = fed.as_f32().unwrap().iter().zip(&weights);
                pairs.map(|(a, b)| f64::from(a * b)).sum::<f64>()
            };
            let slopes = d.point_slopes(&[weights.clone(), weights.clone()].concat(), 2);
            assert_eq!(slopes[0], slopes[1]);
            for at in 0..18 {
                let moved = |by: f32| {
                    let mut point = point.clone();
                    point[at] += by;
                    scalar(&point)
                };
                let difference = (moved(0.01) - moved(-0.01)) / 0.02;
                assert!((f64::from(slopes[0][at]) - difference).abs() < 2e-3, "{at}");
            }
        }
    }
}
