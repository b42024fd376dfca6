//! Links between pages, to their headings and to other files.

use super::page::{Page, book, root};
use std::path::Path;

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let mut pages = book();
    for name in ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        pages.push(Page::read(&root().join(name)));
    }
    let mut broken = Vec::new();
    for page in &pages {
        for (line, text) in page.prose() {
            for target in links(&text) {
                if let Err(why) = follow(page, target) {
                    broken.push(format!("{}:{line}: {target}: {why}", page.name));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let contents = Page::read(&root().join("docs/SUMMARY.md"));
    let prose = contents.prose();
    let listed: Vec<&str> = prose.iter().flat_map(|(_, line)| links(line)).collect();
    for page in book() {
        let Some(name) = page.name.strip_prefix("docs/") else { continue };
        let times = listed.iter().filter(|target| **target == name).count();
        let wanted = usize::from(name != "SUMMARY.md");
        assert_eq!(times, wanted, "docs/SUMMARY.md lists {name} {times} times");
    }
}

/// What `[text](target)` and `![text](target)` point to. `code` may hold brackets that are no link.
fn links(line: &str) -> Vec<&str> {
    let mut targets = Vec::new();
    let mut rest = line;
    while let Some((_, after)) = rest.split_once("](") {
        let Some((target, after)) = after.split_once(')') else { break };
        targets.push(target);
        rest = after;
    }
    targets
}

fn follow(page: &Page, target: &str) -> Result<(), String> {
    if target.starts_with("https://") || target.starts_with("http://") {
        return Ok(());
    }
    let (file, anchor) = match target.split_once('#') {
        Some((file, anchor)) => (file, Some(anchor)),
        None => (target, None),
    };
    let here = root().join(&page.name);
    let path = if file.is_empty() {
        here.clone()
    } else {
        here.parent().unwrap_or(Path::new("")).join(file)
    };
    let path = path.canonicalize().map_err(|_| "there is no such file".to_owned())?;
    // A book that is published alone must not point out of itself.
    if page.name.starts_with("docs/") && !path.starts_with(root().join("docs")) {
        return Err("it leads out of the book; name the file instead".to_owned());
    }
    match anchor {
        Some(anchor) if !Page::read(&path).anchors().iter().any(|one| one == anchor) => {
            Err(format!("the page has no heading #{anchor}"))
        }
        _ => Ok(()),
    }
}

#[test]
fn links_that_lead_nowhere_are_found() {
    let page = Page { name: "docs/page.md".to_owned(), text: String::new() };
    assert_eq!(links("a [b](c.md#d), ![e](f.jpg)"), ["c.md#d", "f.jpg"]);
    assert!(follow(&page, "campaign.md#faults").is_ok());
    assert!(follow(&page, "campaign.md#falts").is_err());
    assert!(follow(&page, "missing.md").is_err());
    assert!(follow(&page, "../README.md").is_err());
}
