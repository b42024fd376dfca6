//! Images of the run directory, to stand inside the page: each once, however often it is shown.

mod base64;
mod edition;

pub(crate) use base64::base64;

use crate::escape::xml;
use edition::Original;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// How much all images of a page may take, in bytes of the page. More makes a page that mail and
/// code hosts refuse.
const MOST: usize = 4 << 20;

/// Larger files are not read.
const MOST_FILE: u64 = 256 << 20;

const FULL: &str = "left out, because the page holds enough images already";
const MISSING: &str = "the image is not in the run directory";
const UNREADABLE: &str = "the image cannot be read";

/// Where an image is shown, and with it how large: twice the pixels of the style sheet, for dense
/// screens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Room {
    /// In the card of an example.
    Card,
    /// Beside a class, or in a row of small ones.
    Stamp,
    /// In the table of a gallery.
    Gallery,
}

impl Room {
    fn width(self) -> u32 {
        match self {
            Self::Card => 640,
            Self::Gallery => 400,
            Self::Stamp => 320,
        }
    }
}

/// An image inside the page.
#[derive(Debug, Clone, Copy)]
struct Kept {
    at: usize,
    width: u32,
    height: u32,
    tiny: bool,
}

/// Takes images from one run directory until the page is full.
pub(crate) struct Album {
    root: Option<PathBuf>,
    left: usize,
    known: BTreeMap<String, Result<Kept, &'static str>>,
    /// The images, as elements that others refer to.
    images: String,
    shown: usize,
    lesser: bool,
}

impl Album {
    /// The images below `dir`.
    pub(crate) fn new(dir: &Path) -> Self {
        Self {
            root: fs::canonicalize(dir).ok(),
            left: MOST,
            known: BTreeMap::new(),
            images: String::new(),
            shown: 0,
            lesser: false,
        }
    }

    /// Takes images into the page, in this order, each once, until the page is full.
    pub(crate) fn load(&mut self, wanted: &[(&str, Room)]) {
        let new: BTreeSet<&str> = wanted.iter().map(|(path, _)| *path).collect();
        let mut expected = new.iter().filter(|path| !self.known.contains_key(**path)).count();
        for (path, room) in wanted {
            if !self.known.contains_key(*path) {
                let kept = self.take(path, *room, expected);
                expected = expected.saturating_sub(1);
                self.known.insert((*path).to_owned(), kept);
            }
        }
    }

    /// A drawing of an image that was loaded, or why it is not in the page. The path is from a file
    /// that others may have written, so it must not lead out of the directory. `name` is read to
    /// those who do not see the image; it is escaped here.
    pub(crate) fn show(&mut self, path: &str, name: &str) -> Result<String, &'static str> {
        let kept = *self.known.get(path).unwrap_or(&Err(MISSING));
        let Kept { at, width, height, tiny } = kept?;
        self.shown += 1;
        let shown = self.shown;
        let name = xml(name);
        let class = if tiny { "picture tiny" } else { "picture" };
        Ok(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{class}\" role=\"img\" \
             aria-labelledby=\"shown-{shown}\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\"><title id=\"shown-{shown}\">{name}</title>\
             <use href=\"#picture-{at}\"/></svg>"
        ))
    }

    /// All images that were taken: what the drawings refer to.
    pub(crate) fn images(&self) -> String {
        if self.images.is_empty() {
            return String::new();
        }
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"defs\" width=\"0\" height=\"0\" \
             aria-hidden=\"true\"><defs>{}</defs></svg>",
            self.images
        )
    }

    /// Whether an image of the page is smaller or less exact than that of the run directory.
    pub(crate) fn is_lesser(&self) -> bool {
        self.lesser
    }

    /// Takes an image; as many as `expected` still share what room is left.
    fn take(&mut self, path: &str, room: Room, expected: usize) -> Result<Kept, &'static str> {
        let file = self.find(path)?;
        let meta = fs::metadata(&file).map_err(|_| UNREADABLE)?;
        if !meta.is_file() {
            return Err("the image is no file");
        }
        if meta.len() > MOST_FILE {
            return Err("left out, because its file is too large");
        }
        let png = fs::read(&file).map_err(|_| UNREADABLE)?;
        let original = Original::read(png).ok_or("the file is no PNG image")?;
        let share = self.left / expected.max(1);
        let mut best = None;
        for edition in original.editions(room.width()) {
            let fits = encoded(edition.bytes.len()) <= share;
            best = Some(edition);
            if fits {
                break;
            }
        }
        // The least that there is may take more than its share; others may need less.
        let edition = best.filter(|best| encoded(best.bytes.len()) <= self.left).ok_or(FULL)?;
        self.left -= encoded(edition.bytes.len());
        self.lesser |= edition.lesser;
        let (width, height) = original.size();
        let tiny = original.is_tiny();
        let at = self.known.len();
        let _ = write!(
            self.images,
            "<image id=\"picture-{at}\" width=\"{width}\" height=\"{height}\" \
             preserveAspectRatio=\"none\" href=\"data:image/{};base64,{}\"/>",
            edition.kind,
            base64(&edition.bytes)
        );
        Ok(Kept { at, width, height, tiny })
    }

    fn find(&self, path: &str) -> Result<PathBuf, &'static str> {
        const OUTSIDE: &str = "left out, because its path leads out of the run directory";
        let relative = Path::new(path);
        if !relative.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(OUTSIDE);
        }
        let root = self.root.as_deref().ok_or(MISSING)?;
        let file = fs::canonicalize(root.join(relative)).map_err(|_| MISSING)?;
        if file.starts_with(root) { Ok(file) } else { Err(OUTSIDE) }
    }
}

/// How many letters so many bytes take in the page.
fn encoded(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{Rgb, RgbImage};

    fn save(path: &Path, image: &RgbImage) {
        image.save_with_format(path, image::ImageFormat::Png).unwrap();
    }

    /// An image that no lossless file makes smaller.
    fn noise(width: u32, height: u32, seed: u32) -> RgbImage {
        let mut state = seed;
        RgbImage::from_fn(width, height, |_, _| {
            Rgb([(); 3].map(|()| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            }))
        })
    }

    #[test]
    fn only_images_of_the_run_directory() {
        let outside = tempfile::tempdir().unwrap();
        let dir = outside.path().join("run");
        fs::create_dir(&dir).unwrap();
        save(&dir.join("a.png"), &RgbImage::new(7, 5));
        save(&outside.path().join("secret.png"), &RgbImage::new(7, 5));
        fs::write(dir.join("text.png"), "no image").unwrap();
        let mut album = Album::new(&dir);
        let mut show = |path: &str| {
            album.load(&[(path, Room::Card)]);
            album.show(path, "it")
        };
        assert!(show("a.png").unwrap().contains("viewBox=\"0 0 7 5\""));
        let absolute = outside.path().join("secret.png");
        for hostile in ["../secret.png", "./../secret.png", absolute.to_str().unwrap()] {
            assert!(show(hostile).unwrap_err().contains("leads out"), "{hostile}");
        }
        for missing in ["b.png", "a\0.png", "a.png/x"] {
            assert!(show(missing).unwrap_err().contains("not in"), "{missing:?}");
        }
        assert_eq!(show("text.png"), Err("the file is no PNG image"));
        assert_eq!(show(""), Err("the image is no file"));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&absolute, dir.join("link.png")).unwrap();
            assert!(show("link.png").unwrap_err().contains("leads out"));
        }
    }

    #[test]
    fn an_image_stands_in_the_page_once() {
        let dir = tempfile::tempdir().unwrap();
        save(&dir.path().join("a.png"), &noise(300, 200, 1));
        save(&dir.path().join("b.png"), &RgbImage::new(3, 3));
        let mut album = Album::new(dir.path());
        let wanted = ["a.png", "b.png", "a.png"];
        album.load(&wanted.map(|path| (path, Room::Stamp)));
        let shown: Vec<String> =
            wanted.map(|path| album.show(path, "<one> & \"two\"").unwrap()).into();
        assert!(shown[0].contains("class=\"picture\"") && shown[1].contains("picture tiny"));
        for (drawing, (id, picture)) in shown.iter().zip([("1", "0"), ("2", "1"), ("3", "0")]) {
            assert!(drawing.contains(&format!("aria-labelledby=\"shown-{id}\"")));
            assert!(drawing.contains(&format!("href=\"#picture-{picture}\"")));
            assert!(drawing.contains("&lt;one&gt; &amp; &quot;two&quot;"));
        }
        let images = album.images();
        assert_eq!(images.matches("<image ").count(), 2);
        assert!(images.contains("data:image/jpeg;base64,/9j/"));
        assert!(images.contains("data:image/png;base64,iVBORw0KGgo"));
        assert!(album.is_lesser());
        assert_eq!(Album::new(dir.path()).images(), "");
    }

    #[test]
    fn all_that_are_expected_find_room() {
        let dir = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..40).map(|at| format!("{at}.png")).collect();
        for (at, name) in (0..).zip(&names) {
            save(&dir.path().join(name), &noise(600, 400, at));
        }
        let mut album = Album::new(dir.path());
        let wanted: Vec<(&str, Room)> = names.iter().map(|name| (&**name, Room::Card)).collect();
        album.load(&wanted);
        for name in &names {
            album.show(name, "it").unwrap();
        }
        assert!(album.images().len() < MOST + 10_000);
        assert!(album.images().len() > MOST / 2, "room is used");
    }

    #[test]
    fn a_full_page_takes_no_more() {
        let dir = tempfile::tempdir().unwrap();
        save(&dir.path().join("large.png"), &noise(600, 400, 1));
        save(&dir.path().join("small.png"), &RgbImage::new(7, 5));
        let mut album = Album::new(dir.path());
        album.left = 2000;
        album.load(&[("large.png", Room::Card), ("small.png", Room::Card)]);
        assert_eq!(album.show("large.png", "it"), Err(FULL));
        assert!(album.show("small.png", "it").is_ok());
        assert_eq!(album.show("other.png", "it"), Err(MISSING), "what was not loaded");
    }
}
