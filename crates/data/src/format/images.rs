//! A folder of images of which nothing is known.

use super::Format;
use crate::picture::{self, Orient};
use crate::{DataError, DataSet, Options, Source, folder};
use faultlens_core::Case;
use std::path::{Path, PathBuf};

pub(super) const FORMAT: Format = Format {
    name: "images",
    about: "a folder of images without labels, and of those in the folders in it",
    files: "a folder with images right in it, and in the folders in it; nothing is known of them",
    classes: "none",
    has_parts: false,
    has_columns: false,
    recognises,
    open,
};

/// Folders in it may be classes; images right in it are of none.
fn recognises(path: &Path) -> bool {
    path.is_dir() && !folder::files(path, |name| folder::is_image(name.as_ref())).is_empty()
}

fn open(path: &Path, _options: &Options) -> Result<DataSet, DataError> {
    let files = folder::images_below(path)?;
    Ok(DataSet::new(Vec::new(), Images { root: path.to_path_buf(), files }))
}

struct Images {
    root: PathBuf,
    /// By their paths from the folder.
    files: Vec<PathBuf>,
}

impl Source for Images {
    fn len(&self) -> usize {
        self.files.len()
    }

    fn label(&self, _index: usize) -> Option<usize> {
        None
    }

    fn case(&self, index: usize) -> Result<Case, DataError> {
        let file = &self.files[index];
        let image = picture::read(&self.root.join(file), Orient::Upright)?;
        Ok(Case::new(file.to_string_lossy(), image))
    }
}
