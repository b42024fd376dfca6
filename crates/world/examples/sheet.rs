//! Writes contact sheets of the embedded world, to look at:
//! `cargo run --release -p faultlens-world --example sheet -- DIR [SEED]`.

use faultlens_core::{Image, Seed};
use faultlens_world::{SIGN_CLASSES, TEST, scenes, sheet};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let dir = args.next().ok_or("give a directory to write to")?;
    let number = args.next().map_or(Ok(1), |seed| seed.parse())?;
    let dir = Path::new(&dir);
    std::fs::create_dir_all(dir)?;
    let seed = Seed::new(number).child(TEST);
    let scenes = scenes(seed, 24);
    save(&sheet::signs(seed, SIGN_CLASSES.len()), &dir.join("signs.png"))?;
    save(&sheet::scenes(&scenes, 6), &dir.join("scenes.png"))?;
    save(&sheet::truths(&scenes[..12], 4), &dir.join("truths.png"))?;
    Ok(())
}

fn save(sheet: &Image, path: &Path) -> Result<(), Box<dyn Error>> {
    let width = u32::try_from(sheet.width())?;
    let height = u32::try_from(sheet.height())?;
    image::save_buffer(path, sheet.rgb(), width, height, image::ColorType::Rgb8)?;
    Ok(())
}
