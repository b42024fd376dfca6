//! The commands of the README and the book, run as they are printed.
//!
//! All `sh` blocks of a page run in one scratch folder, in their order, each in a shell that stops
//! at the first failure. A comment right above a block changes that:
//!
//! - `<!-- not run: REASON -->`: the block is left out; `not_run.txt` lists all of these
//! - `<!-- exits with N -->`: the block ends with this exit status instead of 0
//! - `<!-- setup` … `-->`: shell commands that readers do not see, such as making `photo.jpg`

use super::page::{Block, Page, book, root};
use crate::folder::Folder;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;

#[test]
fn every_command_of_the_book_runs() {
    let tools = Folder::new("book-tools");
    tools_of_readers(&tools);
    let pages = Mutex::new(VecDeque::from(book()));
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, |cores| cores.get().min(4)) {
            scope.spawn(|| {
                while let Some(page) = next(&pages) {
                    if let Err(failure) = run_page(&page, &tools.path("")) {
                        failures.lock().unwrap().push(failure);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// A page that nobody has taken; the lock is given back before the page is run.
fn next(pages: &Mutex<VecDeque<Page>>) -> Option<Page> {
    pages.lock().unwrap().pop_front()
}

/// `faultlens`, and a `cargo` that knows `cargo run --release --` alone: the binary is built already.
fn tools_of_readers(tools: &Folder) {
    let binary = env!("CARGO_BIN_EXE_faultlens");
    tools.text("faultlens", &format!("#!/bin/sh\nexec '{binary}' \"$@\"\n"));
    let cargo = format!(
        "#!/bin/sh\n[ \"$1 $2 $3\" = 'run --release --' ] || {{ echo \"not run here: cargo $*\" >&2; exit 99; }}\n\
         shift 3\nexec '{binary}' \"$@\"\n"
    );
    tools.text("cargo", &cargo);
    for tool in ["faultlens", "cargo"] {
        let status = Command::new("chmod").arg("+x").arg(tools.path(tool)).status().unwrap();
        assert!(status.success());
    }
}

fn run_page(page: &Page, tools: &Path) -> Result<(), String> {
    let blocks: Vec<Block> = page.blocks().into_iter().filter(runs).collect();
    if blocks.is_empty() {
        return Ok(());
    }
    let folder = Folder::new(&format!("book-{}", page.name.replace('/', "-")));
    for block in blocks {
        run_block(&block, &folder.path(""), tools).map_err(|why| {
            format!("{}:{}:\n{}\n{why}", page.name, block.line, block.code.trim_end())
        })?;
    }
    Ok(())
}

fn runs(block: &Block) -> bool {
    ["sh", "setup"].contains(&block.language.as_str()) && reason_not_to_run(block).is_none()
}

fn reason_not_to_run(block: &Block) -> Option<&str> {
    block.remark.as_deref()?.strip_prefix("not run:").map(str::trim)
}

fn run_block(block: &Block, folder: &Path, tools: &Path) -> Result<(), String> {
    let wanted: i32 =
        match block.remark.as_deref().and_then(|text| text.strip_prefix("exits with ")) {
            Some(status) => status.parse().map_err(|_| format!("no exit status: {status}"))?,
            None => 0,
        };
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", &block.code])
        .current_dir(folder)
        // No credentials or settings of whoever runs the tests.
        .env("HOME", folder)
        .env("PATH", path)
        .env("REPOSITORY", root())
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("bash: {error}"))?;
    if output.status.code() == Some(wanted) {
        return Ok(());
    }
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(format!("ended with {}, not {wanted}\n{stdout}{stderr}", output.status))
}

#[test]
fn blocks_that_are_not_run_are_listed_with_their_reasons() {
    let mut list = String::new();
    for page in book() {
        for block in page.blocks().iter().filter(|block| block.language == "sh") {
            if let Some(reason) = reason_not_to_run(block) {
                assert!(!reason.is_empty(), "{}:{}: say why", page.name, block.line);
                let first = block.code.lines().next().unwrap_or_default();
                writeln!(list, "{}: {first}\n    {reason}", page.name).unwrap();
            }
        }
    }
    let file = root().join("crates/cli/tests/it/book/not_run.txt");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, &list).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(written == list, "run this test with UPDATE_DOCS=1; it should hold:\n{list}");
}

/// Commands in blocks of another language would not be run.
#[test]
fn commands_stand_in_blocks_that_are_run() {
    for page in book() {
        for block in page.blocks() {
            if ["sh", "setup"].contains(&block.language.as_str()) {
                continue;
            }
            for line in block.code.lines() {
                let command = line.trim_start_matches("$ ");
                let is_one =
                    ["faultlens ", "cargo run "].iter().any(|start| command.starts_with(start));
                assert!(!is_one, "{}:{}: make it a block of sh: {line}", page.name, block.line);
            }
        }
    }
}
