//! Writes `docs/faults.md` from the registries, with a picture of every image fault:
//!
//!     cargo run --release -p faultlens --example fault_pages

use anyhow::{Context, Result};
use faultlens::data::encode_jpeg;
use faultlens::faults::image::{self, Facts};
use faultlens::faults::page;
use faultlens::world::scene;
use faultlens::{Image, Seed};
use std::fs;
use std::path::PathBuf;

/// The severities that a picture shows, after the scene itself.
const SHOWN: [u8; 3] = [1, 3, 5];
const SEED: u64 = 3;
const QUALITY: u8 = 74;
const GAP: usize = 6;

fn main() -> Result<()> {
    let docs = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let pictures = docs.join("images/faults");
    fs::create_dir_all(&pictures)?;
    let scene = doubled(&scene(Seed::new(6), 4).case.image)?;
    for facts in image::all_facts() {
        let jpeg =
            encode_jpeg(&strip(facts, &scene)?, QUALITY).context("the picture is too large")?;
        fs::write(pictures.join(format!("{}.jpg", facts.name)), jpeg)?;
    }
    Ok(fs::write(docs.join("faults.md"), page())?)
}

/// Twice as large, so that faults meant for photographs leave something to see: every new pixel
/// lies a quarter of an old one from the nearest centre.
fn doubled(image: &Image) -> Result<Image, faultlens::ImageError> {
    let width = image.width();
    let height = image.height();
    let mut rgb = Vec::with_capacity(4 * image.rgb().len());
    for (y, x) in (0..2 * height).flat_map(|y| (0..2 * width).map(move |x| (y, x))) {
        let (top, bottom) = neighbours(y, height);
        let (left, right) = neighbours(x, width);
        for channel in 0..3 {
            let at = |y: usize, x: usize| u32::from(image.rgb()[(y * width + x) * 3 + channel]);
            let sum =
                9 * at(top, left) + 3 * (at(top, right) + at(bottom, left)) + at(bottom, right);
            rgb.push(((sum + 8) / 16) as u8);
        }
    }
    Image::from_rgb(2 * width, 2 * height, rgb)
}

/// The old pixels that a new one lies between: the nearest, and the next one.
fn neighbours(at: usize, n: usize) -> (usize, usize) {
    let nearest = at / 2;
    let step = if at.is_multiple_of(2) { -1 } else { 1 };
    (nearest, nearest.saturating_add_signed(step).min(n - 1))
}

/// The scene, and what the fault makes of it.
fn strip(facts: &Facts, image: &Image) -> Result<Image> {
    let mut pictures = vec![image.clone()];
    if facts.has_severity() {
        for severity in SHOWN {
            pictures.push(image::named(facts.name)?.severity(severity)?.apply(image, SEED));
        }
    } else {
        pictures.push(image::named(facts.name)?.build()?.apply(image, SEED));
    }
    Ok(beside(&pictures)?)
}

fn beside(pictures: &[Image]) -> Result<Image, faultlens::ImageError> {
    let width = pictures[0].width();
    let height = pictures[0].height();
    let mut rgb = Vec::new();
    for y in 0..height {
        for (at, picture) in pictures.iter().enumerate() {
            if at > 0 {
                rgb.extend([255; 3 * GAP]);
            }
            rgb.extend(&picture.rgb()[y * width * 3..(y + 1) * width * 3]);
        }
    }
    let all = pictures.len();
    Image::from_rgb(all * width + (all - 1) * GAP, height, rgb)
}
