//! The shape of the code base: crates depend downwards only, and no modules of a crate form a
//! cycle, so that any file can be read with what stands below it alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates from the bottom up. Each may depend on crates of lower layers only.
const LAYERS: &[&[&str]] = &[
    &["core", "files", "stats"],
    &["data", "engine", "judge", "world"],
    &["faults", "vision"],
    &["targets", "train"],
    &["record", "serve", "spec"],
    &["analysis", "campaign"],
    &["human_study", "protect", "report", "retrain", "sweep"],
    &["faultlens"],
    &["cli"],
];

fn crates_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn crates_depend_downwards_only() {
    let mut layer_of = BTreeMap::new();
    for (layer, names) in LAYERS.iter().enumerate() {
        for name in *names {
            layer_of.insert(name.replace('_', "-"), layer);
        }
    }
    let mut wrong = Vec::new();
    for entry in fs::read_dir(crates_dir()).unwrap() {
        let folder = entry.unwrap().file_name().into_string().unwrap();
        let name = folder.replace('_', "-");
        let Some(&layer) = layer_of.get(&name) else {
            wrong.push(format!("crates/{folder} has no place in LAYERS"));
            continue;
        };
        let manifest = fs::read_to_string(crates_dir().join(&folder).join("Cargo.toml")).unwrap();
        for dependency in own_dependencies(&manifest) {
            match layer_of.get(&dependency) {
                Some(&below) if below < layer => {}
                _ => wrong.push(format!("{name} must not depend on {dependency}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The crates of this workspace that a manifest's `[dependencies]` name, without the prefix.
fn own_dependencies(manifest: &str) -> Vec<String> {
    let mut section = "";
    let mut found = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        }
        if section != "[dependencies]" {
            continue;
        }
        let key = line.split(['.', '=', ' ']).next().unwrap_or_default();
        if key == "faultlens" {
            found.push(key.to_owned());
        } else if let Some(name) = key.strip_prefix("faultlens-") {
            found.push(name.to_owned());
        }
    }
    found
}

#[test]
fn no_modules_form_a_cycle() {
    let mut cycles = Vec::new();
    for entry in fs::read_dir(crates_dir()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        for cycle in Modules::read(&path.join("src")).cycles() {
            cycles.push(format!("{name}: {cycle}"));
        }
    }
    cycles.sort();
    assert!(cycles.is_empty(), "{} cycles:\n{}", cycles.len(), cycles.join("\n"));
}

/// The modules of a crate by path, such as `["trial", "image"]`; the crate's root is the empty one.
struct Modules {
    sources: BTreeMap<Vec<String>, String>,
}

impl Modules {
    fn read(src: &Path) -> Self {
        let mut sources = BTreeMap::new();
        read_folder(src, &mut Vec::new(), &mut sources);
        Self { sources }
    }

    /// Cycles among the children of any one module. An edge stands for a path in the source that
    /// leads from one child, or anything below it, to another.
    fn cycles(&self) -> Vec<String> {
        let mut edges: BTreeMap<Vec<String>, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
        for (module, source) in &self.sources {
            for path in self.paths(module, source) {
                let common = module.iter().zip(&path).take_while(|(a, b)| a == b).count();
                if common < module.len() && common < path.len() {
                    let children = edges.entry(module[..common].to_vec()).or_default();
                    children
                        .entry(module[common].clone())
                        .or_default()
                        .insert(path[common].clone());
                }
            }
        }
        let mut found = Vec::new();
        for (parent, children) in &edges {
            let names: BTreeSet<&String> =
                children.keys().chain(children.values().flatten()).collect();
            let mut done = BTreeSet::new();
            for name in names {
                if done.contains(name) {
                    continue;
                }
                // Who can be reached from here and leads back here is in the same cycle.
                let reached = reachable(children, name);
                let cycle: Vec<&String> = reached
                    .iter()
                    .filter(|other| reachable(children, other).contains(name))
                    .collect();
                if cycle.len() > 1 || (cycle.len() == 1 && cycle[0] != name) {
                    let at =
                        if parent.is_empty() { "the root".to_owned() } else { parent.join("::") };
                    let cycle: Vec<&str> = cycle.iter().map(|name| name.as_str()).collect();
                    found.push(format!("in {at}: {}", cycle.join(", ")));
                    done.extend(
                        reached.iter().filter(|name| cycle.contains(&name.as_str())).cloned(),
                    );
                }
            }
        }
        found
    }

    /// The modules that a source names by `crate::` and `super::`.
    fn paths(&self, module: &[String], source: &str) -> Vec<Vec<String>> {
        let mut found = Vec::new();
        let bytes = source.as_bytes();
        for keyword in ["crate::", "super::"] {
            for (at, _) in source.match_indices(keyword) {
                let before = at.checked_sub(1).map(|at| bytes[at]);
                // A longer path such as `super::super::` was followed from its start.
                if before.is_some_and(|byte| {
                    byte == b':' || byte == b'_' || byte.is_ascii_alphanumeric()
                }) {
                    continue;
                }
                let mut base = module.to_vec();
                let mut rest = &source[at..];
                if let Some(after) = rest.strip_prefix("crate::") {
                    base.clear();
                    rest = after;
                } else {
                    while let Some(after) = rest.strip_prefix("super::") {
                        base.pop();
                        rest = after;
                    }
                }
                for segments in use_tree(rest) {
                    found.push(self.resolve(&base, &segments));
                }
            }
        }
        found
    }

    /// The module that holds what `segments` name below `base`; names that `base` re-exports lead
    /// to the child that they come from.
    fn resolve(&self, base: &[String], segments: &[String]) -> Vec<String> {
        let mut at = base.to_vec();
        for segment in segments {
            at.push(segment.clone());
            if self.sources.contains_key(&at) {
                continue;
            }
            at.pop();
            if let Some(child) = self.origin(&at, segment) {
                at.push(child);
            }
            break;
        }
        at
    }

    /// The child from which a module re-exports a name.
    fn origin(&self, module: &[String], name: &str) -> Option<String> {
        let source = self.sources.get(module)?;
        for (at, _) in source.match_indices("use ") {
            let statement = source[at + 4..].split(';').next()?;
            let statement = statement.strip_prefix("self::").unwrap_or(statement);
            for segments in use_tree(statement) {
                let mut child = module.to_vec();
                child.push(segments.first()?.clone());
                if segments.last().is_some_and(|last| last == name)
                    && self.sources.contains_key(&child)
                {
                    return segments.first().cloned();
                }
            }
        }
        None
    }
}

fn reachable(edges: &BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(name) = open.pop() {
        for next in edges.get(&name).into_iter().flatten() {
            if reached.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    reached
}

/// The paths of a use tree: `a::{b, c::D}` has `a::b` and `a::c::D`. The text may go on behind it.
fn use_tree(text: &str) -> Vec<Vec<String>> {
    let mut prefix = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if let Some(inside) = rest.strip_prefix('{') {
            return branches(inside)
                .into_iter()
                .flat_map(use_tree)
                .map(|branch| prefix.iter().cloned().chain(branch).collect())
                .collect();
        }
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        if end == 0 {
            return vec![prefix];
        }
        prefix.push(rest[..end].to_owned());
        match rest[end..].strip_prefix("::") {
            Some(after) => rest = after,
            None => return vec![prefix],
        }
    }
}

/// The parts between commas up to the brace that closes the list.
fn branches(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut depth = 0;
    let mut start = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                parts.push(&text[start..at]);
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}

fn read_folder(
    folder: &Path,
    module: &mut Vec<String>,
    sources: &mut BTreeMap<Vec<String>, String>,
) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            module.push(stem);
            read_folder(&path, module, sources);
            module.pop();
        } else if path.extension().is_some_and(|extension| extension == "rs") && stem != "tests" {
            let source = product_code(&fs::read_to_string(&path).unwrap());
            let is_own = ["lib", "main", "mod"].contains(&stem.as_str());
            if !is_own {
                module.push(stem);
            }
            sources.insert(module.clone(), source);
            if !is_own {
                module.pop();
            }
        }
    }
}

/// A source without its comments and its tests, which may look wherever they like.
fn product_code(source: &str) -> String {
    let product = source.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = product.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn cycles_are_found_through_re_exports_and_groups() {
    let module = |path: &str| -> Vec<String> {
        path.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    let modules = |sources: &[(&str, &str)]| Modules {
        sources: sources.iter().map(|(path, text)| (module(path), product_code(text))).collect(),
    };
    let clean = modules(&[
        ("", "pub use a::A;"),
        ("a", ""),
        ("b", "use crate::A; // crate::c::C"),
        ("c", "use crate::{A, b::B};"),
    ]);
    assert_eq!(clean.cycles(), Vec::<String>::new());
    let circular = modules(&[
        ("", "pub use a::A;"),
        ("a", "use super::b::{C, D};"),
        ("b", "fn f(_: crate::A) {}"),
    ]);
    assert_eq!(circular.cycles(), ["in the root: a, b"]);
    let nested = modules(&[
        ("", ""),
        ("x", ""),
        ("x::a", "use super::b::B;"),
        ("x::b", "use crate::x::a::A;"),
    ]);
    assert_eq!(nested.cycles(), ["in x: a, b"]);
}

/// Files that are written otherwise than as a whole, and why.
const WRITTEN_PIECEMEAL: &[(&str, &str)] = &[
    ("cli/src/command/run/events.rs", "programs follow the events while they are written"),
    ("human_study/src/desk.rs", "a lock"),
    ("human_study/src/journal.rs", "lines are added, each one synced"),
    ("record/src/store/directory.rs", "a lock"),
    ("targets/src/service/call/log.rs", "lines are added before and after every call"),
];

#[test]
fn files_are_written_whole_by_one_crate() {
    let mut wrong = Vec::new();
    let mut excused = BTreeSet::new();
    for entry in fs::read_dir(crates_dir()).unwrap() {
        let root = entry.unwrap().path();
        let name = root.file_name().unwrap().to_string_lossy().into_owned();
        let mut sources = BTreeMap::new();
        source_files(&root.join("src"), &mut sources);
        for (path, source) in sources {
            let path = format!("{name}/src/{path}");
            let Some(how) = writes(&source) else { continue };
            if name == "files" {
                continue;
            }
            match WRITTEN_PIECEMEAL.iter().find(|(excused, _)| *excused == path) {
                Some((path, _)) => drop(excused.insert(*path)),
                None => wrong.push(format!("{path}: {how}")),
            }
        }
    }
    wrong.sort();
    assert!(wrong.is_empty(), "not by faultlens_files:\n{}", wrong.join("\n"));
    assert_eq!(excused.len(), WRITTEN_PIECEMEAL.len(), "an excuse without a file: {excused:?}");
}

/// What a source writes files with, its tests and comments left out.
fn writes(source: &str) -> Option<&'static str> {
    let product = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let code: Vec<&str> =
        product.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let means = ["fs::write(", "File::create", "OpenOptions", "fs::rename(", "fs::hard_link("];
    means.into_iter().find(|how| code.contains(how))
}

/// All Rust files below a folder by path, but those that hold nothing but tests.
fn source_files(folder: &Path, found: &mut BTreeMap<String, String>) {
    fn read(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                read(root, &path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs")
                && path.file_stem().is_some_and(|stem| stem != "tests" && stem != "scratch")
            {
                let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
                found.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    read(folder, folder, found);
}
