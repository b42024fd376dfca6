//! Folders of images, one per class.

use super::Format;
use crate::picture::{self, Orient};
use crate::{DataError, DataSet, Options, Source, folder};
use faultlens_core::Case;
use std::path::{Path, PathBuf};

pub(super) const FORMAT: Format = Format {
    name: "class-folders",
    about: "a folder with one folder of images per class: set/cat/1.png",
    files: "`DIR/class/*.png`, `.jpg`, `.webp` or `.bmp`",
    classes: "names of the folders, sorted",
    has_parts: false,
    has_columns: false,
    recognises,
    open,
};

fn recognises(path: &Path) -> bool {
    let inner = folder::entries(path).unwrap_or_default();
    inner
        .iter()
        .any(|inner| !folder::files(inner, |name| folder::is_image(name.as_ref())).is_empty())
}

fn open(path: &Path, options: &Options) -> Result<DataSet, DataError> {
    let mut classes = Vec::new();
    let mut files = Vec::new();
    for class in folder::entries(path)?.into_iter().filter(|entry| entry.is_dir()) {
        let label = classes.len();
        let before = files.len();
        let images = folder::entries(&class)?.into_iter().filter(|file| folder::is_image(file));
        files.extend(images.map(|file| (folder::name(&file), label)));
        let name = folder::name(&class);
        if files.len() == before && !options.allow_empty_classes {
            return Err(DataError::EmptyClass { class: name, path: class });
        }
        classes.push(name);
    }
    let source = Folders { root: path.to_path_buf(), classes: classes.clone(), files };
    Ok(DataSet::new(classes, source))
}

struct Folders {
    root: PathBuf,
    classes: Vec<String>,
    /// Names within their class's folder, and the class.
    files: Vec<(String, usize)>,
}

impl Source for Folders {
    fn len(&self) -> usize {
        self.files.len()
    }

    fn label(&self, index: usize) -> Option<usize> {
        Some(self.files[index].1)
    }

    fn case(&self, index: usize) -> Result<Case, DataError> {
        let (file, label) = &self.files[index];
        let class = &self.classes[*label];
        let image = picture::read(&self.root.join(class).join(file), Orient::Upright)?;
        Ok(Case { label: Some(*label), ..Case::new(format!("{class}/{file}"), image) })
    }
}
