//! Images of the run directory, to stand inside the page.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// How much all images of a page may take, in bytes of the page. More makes a page that mail and
/// code hosts refuse.
const MOST: usize = 4 << 20;

/// Up to this width or height an image is shown with its pixels as squares.
const TINY: u32 = 128;

/// An image inside the page.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Embedded {
    /// The `data:` address.
    pub(crate) uri: String,
    /// Its width in pixels.
    pub(crate) width: u32,
    /// Its height in pixels.
    pub(crate) height: u32,
}

impl Embedded {
    /// Whether smoothing would blur away what there is to see.
    pub(crate) fn tiny(&self) -> bool {
        self.width.max(self.height) <= TINY
    }
}

/// Takes images from one run directory until the page is full.
pub(crate) struct Album {
    root: Option<PathBuf>,
    left: usize,
}

impl Album {
    /// The images below `dir`.
    pub(crate) fn new(dir: &Path) -> Self {
        Self { root: fs::canonicalize(dir).ok(), left: MOST }
    }

    /// The image at a path below the run directory, or why it is not in the page. The path is from
    /// a file that others may have written, so it must not lead out of the directory.
    pub(crate) fn take(&mut self, path: &str) -> Result<Embedded, &'static str> {
        let file = self.find(path)?;
        let meta = fs::metadata(&file).map_err(|_| "the image cannot be read")?;
        if !meta.is_file() {
            return Err("the image is no file");
        }
        let encoded = usize::try_from(meta.len().div_ceil(3).saturating_mul(4));
        if encoded.is_ok_and(|encoded| encoded > self.left) || encoded.is_err() {
            return Err("left out, because the page holds enough images already");
        }
        let bytes = fs::read(&file).map_err(|_| "the image cannot be read")?;
        let (width, height) = size(&bytes).ok_or("the file is no PNG image")?;
        let uri = format!("data:image/png;base64,{}", base64(&bytes));
        self.left = self.left.saturating_sub(uri.len());
        Ok(Embedded { uri, width, height })
    }

    fn find(&self, path: &str) -> Result<PathBuf, &'static str> {
        const OUTSIDE: &str = "left out, because its path leads out of the run directory";
        const MISSING: &str = "the image is not in the run directory";
        let relative = Path::new(path);
        if !relative.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(OUTSIDE);
        }
        let root = self.root.as_deref().ok_or(MISSING)?;
        let file = fs::canonicalize(root.join(relative)).map_err(|_| MISSING)?;
        if file.starts_with(root) { Ok(file) } else { Err(OUTSIDE) }
    }
}

/// Width and height from a PNG's first chunk; `None` where the bytes are no PNG.
fn size(bytes: &[u8]) -> Option<(u32, u32)> {
    let rest = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n")?;
    let number = |at: usize| Some(u32::from_be_bytes(rest.get(at..at + 4)?.try_into().ok()?));
    (rest.get(4..8)? == b"IHDR").then_some(())?;
    Some((number(8)?, number(12)?))
}

/// Bytes in base 64, as `data:` addresses and the page's content policy want them.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let three = [chunk[0], *chunk.get(1).unwrap_or(&0), *chunk.get(2).unwrap_or(&0)];
        let bits = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        for digit in 0..4 {
            let index = (bits >> (18 - 6 * digit)) & 63;
            let shown = digit <= chunk.len();
            text.push(if shown { char::from(DIGITS[index as usize]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_as_in_its_standard() {
        let cases = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (bytes, text) in cases {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xbf]), "+/+/");
    }

    fn png(path: &Path, padding: usize) {
        image::RgbImage::new(7, 5).save_with_format(path, image::ImageFormat::Png).unwrap();
        let mut bytes = fs::read(path).unwrap();
        bytes.resize(bytes.len() + padding, 0);
        fs::write(path, bytes).unwrap();
    }

    #[test]
    fn only_images_of_the_run_directory() {
        let outside = tempfile::tempdir().unwrap();
        let dir = outside.path().join("run");
        fs::create_dir(&dir).unwrap();
        png(&dir.join("a.png"), 0);
        png(&outside.path().join("secret.png"), 0);
        fs::write(dir.join("text.png"), "no image").unwrap();
        let mut album = Album::new(&dir);
        let taken = album.take("a.png").unwrap();
        assert_eq!((taken.width, taken.height, taken.tiny()), (7, 5, true));
        assert!(taken.uri.starts_with("data:image/png;base64,iVBORw0KGgo"));
        let absolute = outside.path().join("secret.png");
        for hostile in ["../secret.png", "./../secret.png", absolute.to_str().unwrap()] {
            assert!(album.take(hostile).unwrap_err().contains("leads out"), "{hostile}");
        }
        for missing in ["b.png", "a\0.png", "a.png/x"] {
            assert!(album.take(missing).unwrap_err().contains("not in"), "{missing:?}");
        }
        assert_eq!(album.take("text.png"), Err("the file is no PNG image"));
        assert_eq!(album.take(""), Err("the image is no file"));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&absolute, dir.join("link.png")).unwrap();
            assert!(album.take("link.png").unwrap_err().contains("leads out"));
        }
    }

    #[test]
    fn a_full_page_takes_no_more() {
        let dir = tempfile::tempdir().unwrap();
        png(&dir.path().join("large.png"), MOST / 2);
        png(&dir.path().join("small.png"), 0);
        let mut album = Album::new(dir.path());
        assert!(album.take("large.png").is_ok());
        assert!(album.take("large.png").unwrap_err().contains("enough"));
        assert!(album.take("small.png").is_ok());
    }
}
