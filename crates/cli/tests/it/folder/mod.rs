//! A fresh folder for one test, and the command run inside it.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use image::{Rgb, RgbImage};
use serde_json::Value;

/// An empty folder that only one test uses.
pub(crate) struct Folder(PathBuf);

/// What a command left behind.
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    pub(crate) fn new(test: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
        if path.exists() {
            std::fs::remove_dir_all(&path).unwrap();
        }
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn bytes(&self, name: &str, bytes: &[u8]) -> &Self {
        std::fs::write(self.path(name), bytes).unwrap();
        self
    }

    pub(crate) fn text(&self, name: &str, text: &str) -> &Self {
        self.bytes(name, text.as_bytes())
    }

    /// An image of one colour.
    pub(crate) fn image(&self, name: &str, colour: [u8; 3]) -> &Self {
        RgbImage::from_pixel(16, 16, Rgb(colour)).save(self.path(name)).unwrap();
        self
    }

    /// Runs `faultlens` with arguments that are separated by spaces.
    pub(crate) fn run(&self, args: &str) -> Run {
        finished(self.command(args).output().unwrap())
    }

    /// Runs it with a reader of its results, or of its notes, that is gone before the first line.
    pub(crate) fn run_without(&self, reader: fn(&mut Child), args: &str) -> Run {
        let mut command = self.command(args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        reader(&mut child);
        finished(child.wait_with_output().unwrap())
    }

    fn command(&self, args: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_faultlens"));
        command.current_dir(&self.0).args(args.split_whitespace());
        command
    }
}

fn finished(output: std::process::Output) -> Run {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run {
        status: output.status.code().unwrap(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// Every line as JSON.
pub(crate) fn json(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
