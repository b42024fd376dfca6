//! Where the model and its card go.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use faultlens::engine::onnx::{self, ModelProto};
use faultlens::train::Card;

use crate::console::Console;

/// Two files that can be written, as far as that can be known before hours of training.
pub(super) struct Output {
    pub(super) model: PathBuf,
    pub(super) card: PathBuf,
}

impl Output {
    pub(super) fn new(model: &Path) -> anyhow::Result<Self> {
        let is_json = model.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
        ensure!(
            !is_json,
            "the card goes to a file that ends in .json, so the model needs another name, such as \
             {}: {}",
            model.with_extension("onnx").display(),
            model.display()
        );
        let folder = model.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        ensure!(folder.is_dir(), "there is no folder {} to write to", folder.display());
        // A link is followed, so that it stays one.
        let mut model = model.to_path_buf();
        if model.is_symlink() {
            model = model
                .canonicalize()
                .with_context(|| format!("cannot follow the link {}", model.display()))?;
        }
        let output = Self { card: model.with_extension("json"), model };
        for file in [&output.model, &output.card] {
            ensure!(!file.is_dir(), "this is a folder, not a file to write: {}", file.display());
            ensure!(
                !file.exists() || file.is_file(),
                "this is a device or a pipe, not a file to write: {}",
                file.display()
            );
        }
        try_folder(folder)?;
        Ok(output)
    }

    /// Announces which existing files will be replaced, while there is time to stop.
    pub(super) fn announce(&self, console: &mut Console) {
        for file in [&self.model, &self.card].into_iter().filter(|file| file.exists()) {
            console.aside(format_args!("will be replaced: {}", file.display()));
        }
    }

    /// Writes the model. A card that is there already is of another model, so it goes first.
    pub(super) fn write_model(&self, model: &ModelProto) -> anyhow::Result<()> {
        if self.card.exists() {
            std::fs::remove_file(&self.card)
                .with_context(|| format!("cannot replace the card {}", self.card.display()))?;
        }
        Ok(onnx::write(model, &self.model)?)
    }

    pub(super) fn write_card(&self, card: &Card) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(card)?;
        faultlens_files::write(&self.card, (text + "\n").as_bytes())
            .with_context(|| format!("cannot write the card {}", self.card.display()))
    }

    /// The model's name.
    pub(super) fn name(&self) -> String {
        self.model.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The model's file without its folder.
    pub(super) fn file_name(&self) -> String {
        self.model.file_name().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

/// Writes a file and takes it away again.
fn try_folder(folder: &Path) -> anyhow::Result<()> {
    let file = folder.join(format!(".faultlens-{}", std::process::id()));
    let tried = faultlens_files::write(&file, b"can this folder be written to?");
    tried.with_context(|| format!("cannot write to the folder {}", folder.display()))?;
    std::fs::remove_file(&file)
        .with_context(|| format!("cannot remove a file that was just written: {}", file.display()))
}
