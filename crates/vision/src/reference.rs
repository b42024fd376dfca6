//! Our pixels against those of Pillow, torchvision and PyTorch, made once by
//! `tests/fixtures/make_resize.py`.

use faultlens_core::{Image, TensorData};

use super::{Align, Channels, ElementType, Filter, InputDescription, Layout, Resize};

macro_rules! fixture {
    ($name:literal) => {
        include_bytes!(concat!("../tests/fixtures/resize/", $name))
    };
}

/// Width, height and bytes of a binary PPM or PGM.
fn pixels(file: &[u8]) -> (usize, usize, &[u8]) {
    let header_end = file.iter().enumerate().filter(|(_, b)| b.is_ascii_whitespace()).nth(3);
    let (header, bytes) = file.split_at(header_end.unwrap().0 + 1);
    let numbers: Vec<usize> = std::str::from_utf8(header)
        .unwrap()
        .split_ascii_whitespace()
        .skip(1)
        .map(|n| n.parse().unwrap())
        .collect();
    (numbers[0], numbers[1], bytes)
}

fn source() -> Image {
    let (width, height, rgb) = pixels(fixture!("source.ppm"));
    Image::from_rgb(width, height, rgb.to_vec()).unwrap()
}

/// A description that gives the pixels back as they are.
fn bytes(size: [usize; 2], resize: Resize, filter: Filter) -> InputDescription {
    let plain = InputDescription::plain(size, Channels::Rgb, ElementType::Uint8);
    InputDescription { resize, filter, layout: Layout::Nhwc, ..plain }
}

/// The largest difference in grey levels between ours and the reference.
fn difference(description: &InputDescription, reference: &[u8]) -> u8 {
    let (_, _, wanted) = pixels(reference);
    let tensor = description.tensor(&[source()]).unwrap();
    let TensorData::U8(ours) = tensor.data() else { panic!("bytes were asked for") };
    assert_eq!(ours.len(), wanted.len());
    ours.iter().zip(wanted).map(|(&a, &b)| a.abs_diff(b)).max().unwrap()
}

#[test]
fn filters_are_pillows() {
    for (filter, limit, down, up) in [
        (Filter::Nearest, 0, &fixture!("nearest_down.ppm")[..], &fixture!("nearest_up.ppm")[..]),
        (Filter::Bilinear, 1, fixture!("bilinear_down.ppm"), fixture!("bilinear_up.ppm")),
        (Filter::Bicubic, 1, fixture!("bicubic_down.ppm"), fixture!("bicubic_up.ppm")),
        (Filter::Lanczos, 2, fixture!("lanczos_down.ppm"), fixture!("lanczos_up.ppm")),
    ] {
        let down = difference(&bytes([18, 24], Resize::Stretch, filter), down);
        let up = difference(&bytes([64, 90], Resize::Stretch, filter), up);
        assert!(down <= limit && up <= limit, "{filter:?}: {down} smaller, {up} larger");
    }
}

#[test]
fn crops_and_borders_are_pillows_and_torchvisions() {
    let letterbox = |align| Resize::Letterbox { pad: 114, align };
    let crop = Resize::CentreCrop { share: 0.875 };
    for (size, resize, filter, wanted) in [
        ([24, 24], crop, Filter::Bicubic, &fixture!("centre_crop.ppm")[..]),
        ([24, 24], Resize::ShortSide(32), Filter::Bilinear, fixture!("short_side.ppm")),
        ([40, 40], letterbox(Align::Centre), Filter::Bilinear, fixture!("letterbox_centre.ppm")),
        ([40, 40], letterbox(Align::TopLeft), Filter::Bilinear, fixture!("letterbox_top_left.ppm")),
        ([47, 61], Resize::None, Filter::Bilinear, fixture!("source.ppm")),
    ] {
        let max = difference(&bytes(size, resize, filter), wanted);
        assert!(max <= 1, "{resize:?}: {max}");
    }
}

#[test]
fn without_antialias_pixels_are_pytorchs() {
    let plain = bytes([18, 24], Resize::Stretch, Filter::Bilinear);
    let description = InputDescription { antialias: false, ..plain };
    let max = difference(&description, fixture!("no_antialias.ppm"));
    assert!(max <= 1, "{max}");
}

#[test]
fn grey_is_pillows() {
    let plain = InputDescription::plain([47, 61], Channels::Grey, ElementType::Uint8);
    assert_eq!(difference(&plain, fixture!("grey.pgm")), 0);
}

#[test]
fn normalised_tensors_are_torchvisions() {
    let description = InputDescription {
        resize: Resize::ShortSide(32),
        mean: vec![0.485, 0.456, 0.406],
        std: vec![0.229, 0.224, 0.225],
        ..InputDescription::plain([24, 24], Channels::Rgb, ElementType::F32)
    };
    let tensor = description.tensor(&[source()]).unwrap();
    assert_eq!(tensor.shape(), [1, 3, 24, 24]);
    let wanted = fixture!("normalised.f32").chunks_exact(4);
    let wanted: Vec<f32> = wanted.map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
    let one_level = 1.0 / 255.0 / 0.224 + 1e-5;
    let ours = tensor.as_f32().unwrap();
    assert_eq!(ours.len(), wanted.len());
    let max = ours.iter().zip(&wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(max <= one_level, "{max}");
}
