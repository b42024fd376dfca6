//! Writes `docs/faults.md` from the doc comments of the image faults, with a picture of each:
//!
//!     cargo run --release -p faultlens --example fault_pages

use anyhow::{Context, Result};
use faultlens::data::encode_jpeg;
use faultlens::faults::{IMAGE_FAULTS, image};
use faultlens::spec::{Disturbance, FaultPoint};
use faultlens::world::scene;
use faultlens::{Image, ImageFault, Parameter, ParameterKind, Plugin, Seed};
use serde_json::json;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

/// The severities that a picture shows, after the scene itself.
const SHOWN: [u8; 3] = [1, 3, 5];
const QUALITY: u8 = 74;
const GAP: usize = 6;

const INTRODUCTION: &str = "# Image faults

What `faultlens list faults` names, with what severities 1, 3 and 5 make of a scene of the embedded
world. This page is made from the faults' own descriptions:
`cargo run --release -p faultlens --example fault_pages`.

A fault takes a `severity` from 1 to 5, or its own numbers, which may stand in place of some of
those that the severity stands for. `table: cifar10-c` gives severities the milder numbers that
images of about 32×32 pixels need. Same seed, same pixels, on every CPU and any number of threads.
See [image-faults.md](image-faults.md) for presets, commands, fidelity and speed; faults inside models,
attacks and changed scenes have pages of their own: [model-faults.md](model-faults.md),
[attacks.md](attacks.md), [scenes.md](scenes.md).

Each fault says which hazard of the vision process it stands for, in the words of CV-HAZOP (Zendel et
al. 2015): where on the way from the light source through the medium and the object to the observer
something deviates, what, and how.
";

fn main() -> Result<()> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let sources = root.join("crates/faults/src/image");
    let pictures = root.join("docs/images/faults");
    fs::create_dir_all(&pictures)?;
    let scene = doubled(&scene(Seed::new(6), 4).case.image)?;
    let mut page = INTRODUCTION.to_owned();
    for plugin in IMAGE_FAULTS {
        let name = plugin.name;
        let (what, when) = described(&fs::read_to_string(sources.join(format!("{name}.rs")))?)
            .with_context(|| format!("{name} has no description"))?;
        let strip = strip(plugin, &scene)?;
        let jpeg = encode_jpeg(&strip, QUALITY).context("the picture is too large")?;
        fs::write(pictures.join(format!("{name}.jpg")), jpeg)?;
        write!(page, "\n## {name}\n\n{what}\n\n*When it happens:* {when}\n\n")?;
        if let Some(hazard) = image::hazard(plugin) {
            write!(page, "*Hazard:* {hazard}\n\n")?;
        }
        writeln!(page, "![{name}](images/faults/{name}.jpg)")?;
        if !plugin.parameters.is_empty() {
            write!(page, "\n| parameter | takes | meaning |\n|---|---|---|\n")?;
        }
        for Parameter { name, about, kind, .. } in plugin.parameters {
            writeln!(page, "| `{name}` | {} | {about} |", takes(kind))?;
        }
    }
    Ok(fs::write(root.join("docs/faults.md"), page)?)
}

/// The two paragraphs of a fault's doc comment.
fn described(source: &str) -> Option<(String, String)> {
    let lines: Vec<&str> = source.lines().filter_map(|line| line.strip_prefix("/// ")).collect();
    let after = |title: &str| {
        let from = lines.iter().position(|line| *line == title)? + 1;
        let own = lines[from..].iter().take_while(|line| !line.starts_with("# "));
        Some(own.copied().collect::<Vec<_>>().join("\n"))
    };
    Some((after("# What it does")?, last(&after("# When it happens")?)))
}

/// A paragraph ends where the next item's comment would begin.
fn last(paragraph: &str) -> String {
    let end = paragraph.find(".\n").map_or(paragraph.len(), |at| at + 1);
    paragraph[..end].to_owned()
}

fn takes(kind: &ParameterKind) -> String {
    match kind {
        ParameterKind::Whole { min, max } => format!("{min} to {max}"),
        ParameterKind::Number { min, max } => format!("{min} to {max}"),
        ParameterKind::Choice(words) => words.join(", "),
        ParameterKind::Names => "names".to_owned(),
    }
}

/// Twice as large, so that faults meant for photographs leave something to see: every new pixel
/// lies a quarter of an old one from the nearest centre.
fn doubled(image: &Image) -> Result<Image, faultlens::ImageError> {
    let (width, height) = (image.width(), image.height());
    let near = |at: usize, n: usize| {
        let (own, step) = (at / 2, if at.is_multiple_of(2) { -1 } else { 1 });
        (own, own.saturating_add_signed(step).min(n - 1))
    };
    let mut rgb = Vec::with_capacity(4 * image.rgb().len());
    for (y, x) in (0..2 * height).flat_map(|y| (0..2 * width).map(move |x| (y, x))) {
        let ((top, bottom), (left, right)) = (near(y, height), near(x, width));
        for channel in 0..3 {
            let at = |y: usize, x: usize| u32::from(image.rgb()[(y * width + x) * 3 + channel]);
            let sum =
                9 * at(top, left) + 3 * (at(top, right) + at(bottom, left)) + at(bottom, right);
            rgb.push(((sum + 8) / 16) as u8);
        }
    }
    Image::from_rgb(2 * width, 2 * height, rgb)
}

/// The scene, and what the fault makes of it.
fn strip(plugin: &Plugin<dyn ImageFault>, image: &Image) -> Result<Image> {
    let graded = plugin.parameters.iter().any(|parameter| parameter.name == "severity");
    let severities = if graded { SHOWN.map(Some).to_vec() } else { vec![None] };
    let mut pictures = vec![image.clone()];
    for severity in severities {
        let settings = severity.map(|severity| ("severity".to_owned(), json!(severity)));
        let point = FaultPoint::new(plugin.name, &settings.into_iter().collect());
        if let Disturbance::Image(fault) = point.map_err(anyhow::Error::msg)?.disturbance {
            pictures.push(fault.change(image, &mut Seed::new(3).stream()));
        }
    }
    Ok(beside(&pictures)?)
}

fn beside(pictures: &[Image]) -> Result<Image, faultlens::ImageError> {
    let (width, height) = (pictures[0].width(), pictures[0].height());
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
