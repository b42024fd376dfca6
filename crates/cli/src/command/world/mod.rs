//! `faultlens world`: the embedded world as files and pictures, and the models trained on it.

mod answers;

use std::path::Path;

use crate::exit;
use anyhow::{Context, ensure};
use faultlens::data::{write_class_folders, write_coco, write_png};
use faultlens::train::Card;
use faultlens::world::{self, EmbeddedModel, MODELS, SCENE_CLASSES, SIGN_CLASSES, sheet};
use faultlens::{Image, Seed};

use crate::args::{WorldArgs, WorldCommand};
use crate::command::owned;
use crate::console::Console;
use crate::text::{self, Align};

/// Pictures per row of a sheet, and rows of scenes.
const COLUMNS: usize = 6;
const ROWS: usize = 4;
/// Training pictures per test picture.
const SHARE: usize = 5;

pub(crate) fn run(args: &WorldArgs, console: &mut Console) -> anyhow::Result<u8> {
    match &args.command {
        WorldCommand::Export { dir, signs, scenes, seed } => {
            export(dir, [*signs, *scenes], Seed::new(*seed), console)
        }
        WorldCommand::Show { dir, seed } => show(dir, Seed::new(*seed), console),
        WorldCommand::Models { json } => models(*json, console),
    }
}

fn export(
    dir: &Path,
    [signs, scenes]: [usize; 2],
    seed: Seed,
    console: &mut Console,
) -> anyhow::Result<u8> {
    let empty = !dir.exists() || dir.read_dir().is_ok_and(|mut entries| entries.next().is_none());
    ensure!(empty, "the folder must be new or empty: {}", dir.display());
    // Readers refuse classes and sets without a picture, so every test set gets what it needs.
    for (what, count, min) in
        [("signs", signs, SHARE * SIGN_CLASSES.len()), ("scenes", scenes, SHARE)]
    {
        ensure!(
            count == 0 || count >= min,
            "--{what} {count} is too few for a test set, which has a fifth of that; give 0 or at \
             least {min}"
        );
    }
    let sign_classes = owned(&SIGN_CLASSES);
    let scene_classes = owned(&SCENE_CLASSES);
    for (set, share) in [(world::TRAIN, 1), (world::TEST, SHARE)] {
        let seed = seed.child(set);
        if signs > 0 {
            let crops = (0..(signs / share) as u64).map(|at| world::sign(seed, at));
            let to = dir.join("signs").join(set);
            let written = write_class_folders(&to, &sign_classes, crops)?;
            console.line(format_args!("{written:>6} sign crops  {}", to.display()))?;
        }
        if scenes > 0 {
            let cases = (0..(scenes / share) as u64).map(|at| world::scene(seed, at).case);
            let to = dir.join("scenes").join(set);
            let written = write_coco(&to, &scene_classes, cases)?;
            console.line(format_args!("{written:>6} scenes      {}", to.display()))?;
        }
    }
    Ok(exit::OK)
}

fn show(dir: &Path, seed: Seed, console: &mut Console) -> anyhow::Result<u8> {
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let seed = seed.child(world::TEST);
    let scenes = world::scenes(seed, COLUMNS * ROWS);
    let mut write = |name: &str, image: &Image| -> anyhow::Result<()> {
        let path = dir.join(name);
        write_png(image, &path)?;
        Ok(console.line(path.display())?)
    };
    write("signs.png", &sheet::signs(seed, 2 * COLUMNS))?;
    write("scenes.png", &sheet::scenes(&scenes, COLUMNS))?;
    write("truths.png", &sheet::truths(&scenes, COLUMNS))?;
    // The only sheet that needs models.
    write("answers.png", &answers::sheet(&scenes, COLUMNS)?)?;
    Ok(exit::OK)
}

fn models(json: bool, console: &mut Console) -> anyhow::Result<u8> {
    let cards: Vec<(&EmbeddedModel, Card)> = MODELS
        .iter()
        .map(|model| Ok((model, serde_json::from_str(model.card)?)))
        .collect::<anyhow::Result<_>>()?;
    if json {
        for (_, card) in &cards {
            console.json(card)?;
        }
        return Ok(exit::OK);
    }
    let rows: Vec<[String; 5]> = cards
        .iter()
        .map(|(model, card)| {
            let score = card.scores.first();
            [
                format!("world:{}", model.name),
                card.architecture.clone(),
                format!("{} KB", model.onnx.len() / 1000),
                score.map(|s| format!("{} {:.3}", s.metric, s.value)).unwrap_or_default(),
                format!("{:.2} ms per sample", card.cost.wall_ms_per_sample),
            ]
        })
        .collect();
    let align = [Align::Left, Align::Left, Align::Right, Align::Left, Align::Right];
    for line in text::table(align, &rows) {
        console.line(line)?;
    }
    Ok(exit::OK)
}
