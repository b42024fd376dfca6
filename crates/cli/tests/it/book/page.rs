//! Markdown pages as the checks read them: code blocks with the remarks above them, headings, links.

use std::path::{Path, PathBuf};

/// A Markdown file, named from the root of the repository.
pub(super) struct Page {
    pub(super) name: String,
    pub(super) text: String,
}

/// A fenced block of code, or the commands of a `<!-- setup … -->` comment.
pub(super) struct Block {
    /// The number of its first line, from 1.
    pub(super) line: usize,
    pub(super) language: String,
    pub(super) code: String,
    /// What a comment right above it says, without the marks of a comment.
    pub(super) remark: Option<String>,
}

pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The README and every page below `docs`, in alphabetical order.
pub(super) fn book() -> Vec<Page> {
    let mut files = vec![root().join("README.md")];
    markdown_below(&root().join("docs"), &mut files);
    files.sort();
    files.iter().map(|file| Page::read(file)).collect()
}

fn markdown_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            markdown_below(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            files.push(path);
        }
    }
}

impl Page {
    pub(super) fn read(file: &Path) -> Self {
        let name = file.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
        Self { name, text: std::fs::read_to_string(file).unwrap() }
    }

    /// Every block of code in the order of the page. The commands of a setup comment come as a block
    /// of the language `setup`.
    pub(super) fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut remark = None;
        let mut lines = self.text.lines().enumerate();
        while let Some((index, line)) = lines.next() {
            let line = line.trim_start();
            let (language, end) = if let Some(language) = line.strip_prefix("```") {
                (language.trim(), "```")
            } else if line == "<!-- setup" {
                ("setup", "-->")
            } else {
                if let Some(text) = comment(line) {
                    remark = Some(text.to_owned());
                } else if !line.is_empty() {
                    remark = None;
                }
                continue;
            };
            let mut code = String::new();
            for (_, line) in lines.by_ref().take_while(|(_, line)| line.trim_start() != end) {
                code.push_str(line);
                code.push('\n');
            }
            let language = language.to_owned();
            blocks.push(Block { line: index + 2, language, code, remark: remark.take() });
        }
        blocks
    }

    /// Lines outside code blocks and comments, with their numbers and without `code` in them.
    pub(super) fn prose(&self) -> Vec<(usize, String)> {
        let mut prose = Vec::new();
        let mut end = None;
        for (index, line) in self.text.lines().enumerate() {
            let start = line.trim_start();
            if let Some(mark) = end {
                if start == mark {
                    end = None;
                }
            } else if start.starts_with("```") {
                end = Some("```");
            } else if start == "<!-- setup" {
                end = Some("-->");
            } else {
                prose.push((index + 1, line.to_owned()));
            }
        }
        prose
    }

    /// The anchors of its headings, as GitHub and mdBook make them.
    pub(super) fn anchors(&self) -> Vec<String> {
        let mut anchors: Vec<String> = Vec::new();
        for (_, line) in self.prose() {
            let text = line.trim_start_matches('#');
            if !line.starts_with('#') || !text.starts_with(' ') {
                continue;
            }
            let anchor = anchor(text.trim());
            let again = anchors.iter().filter(|other| **other == anchor).count();
            anchors.push(if again == 0 { anchor } else { format!("{anchor}-{again}") });
        }
        anchors
    }
}

fn comment(line: &str) -> Option<&str> {
    Some(line.strip_prefix("<!--")?.strip_suffix("-->")?.trim())
}

/// Letters, digits, `-` and `_` stay, in lower case; blanks become `-`, all else goes.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>().to_lowercase()
}

#[test]
fn blocks_come_with_their_remarks() {
    let text = "# A `b`: c-d\n<!-- setup\nx\n-->\n\n<!-- exits with 1 -->\n```sh\nfaultlens y\n```\n\
                text\n```text\nz\n```\n# A b c-d\n";
    let page = Page { name: "page.md".to_owned(), text: text.to_owned() };
    let blocks: Vec<_> = page
        .blocks()
        .into_iter()
        .map(|block| (block.line, block.language, block.code, block.remark))
        .collect();
    let sh = |line, language: &str, code: &str, remark: Option<&str>| {
        (line, language.to_owned(), code.to_owned(), remark.map(str::to_owned))
    };
    assert_eq!(
        blocks,
        [
            sh(3, "setup", "x\n", None),
            sh(8, "sh", "faultlens y\n", Some("exits with 1")),
            sh(12, "text", "z\n", None),
        ]
    );
    assert_eq!(page.anchors(), ["a-b-c-d", "a-b-c-d-1"]);
}
