//! Applies faults to a road scene and writes what a camera would have seen as PNG files:
//!
//!     cargo run --release -p faultlens --example faults_in_images -- pictures
//!
//! The same seed gives the same pixels on every machine, so that every picture can be made again.

#![expect(clippy::print_stdout, reason = "the output is what the example shows")]

use anyhow::Result;
use faultlens::data::write_png;
use faultlens::faults::image::{self, Fault, Fog, MotionBlur};
use faultlens::judge::metric::visual::Reference;
use faultlens::{Image, ImageFault, Seed, world};
use std::path::{Path, PathBuf};
use std::{env, fs};

const SEED: u64 = 7;

fn main() -> Result<()> {
    let folder = env::args_os().nth(1).map_or_else(|| "pictures".into(), PathBuf::from);
    fs::create_dir_all(&folder)?;

    // The embedded world draws road scenes; `faultlens::data::read_image` reads a file instead.
    let road = world::scene(Seed::new(6), 4).case.image;
    write_png(&road, folder.join("road.png"))?;
    let gallery = Gallery { folder: &folder, original: Reference::new(&road)? };

    // A fault by its type. Severities go from 1 (hardly visible) to 5 (severe).
    for severity in 1..=5 {
        let foggy = Fog::severity(severity)?.apply(&road, SEED);
        gallery.add(&format!("fog-{severity}"), &foggy)?;
    }

    // The same with the numbers that a severity stands for.
    let blur = MotionBlur::set("radius", 12.0).set("deviation", 5.0).build()?;
    gallery.add("motion-blur", &blur.apply(&road, SEED))?;

    // A fault by its name in campaign files.
    let rain = image::named("rain")?.severity(4)?;
    gallery.add("rain", &rain.apply(&road, SEED))?;

    // Faults can follow each other.
    gallery.add("rain-and-motion-blur", &blur.apply(&rain.apply(&road, SEED), SEED))?;

    // A misspelt name is an error that says what was meant.
    if let Err(error) = image::named("gausian_noise") {
        println!("\n{error}");
    }
    println!(
        "{} faults to choose from; pictures in {}",
        image::all_facts().count(),
        folder.display()
    );
    Ok(())
}

struct Gallery<'a> {
    folder: &'a Path,
    original: Reference,
}

impl Gallery<'_> {
    /// Writes a picture, and says how much of the change people notice.
    fn add(&self, name: &str, picture: &Image) -> Result<()> {
        write_png(picture, self.folder.join(name).with_extension("png"))?;
        // Visual change follows from visual information fidelity (VIF): 0 for nothing to see, 1
        // for nothing left of the original.
        let change = self.original.visual_change(picture)?;
        println!("{name:<21} visual change {:.2}", change.delta_v);
        Ok(())
    }
}
