//! ARCHITECTURE.md walks the path of a trial: the files that it lists are as short as it says.

use std::fs;
use std::path::Path;

#[test]
fn the_path_of_a_trial_has_less_than_a_thousand_lines() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let path = text.split("## The path of a trial").nth(1).unwrap();
    let path = path.split("\n## ").next().unwrap();
    let mut files = 0;
    let mut total = 0;
    for row in path.lines().filter(|line| line.contains("`crates/")) {
        let file = row.split('`').find(|part| part.starts_with("crates/")).unwrap();
        let stated: usize =
            row.trim_end_matches([' ', '|']).rsplit(' ').next().unwrap().parse().unwrap();
        let code = fs::read_to_string(root.join(file)).unwrap();
        let lines = code.split("#[cfg(test)]").next().unwrap().lines().count();
        assert!(lines.abs_diff(stated) <= 10, "{file} has {lines} lines, not {stated}");
        files += 1;
        total += lines;
    }
    assert!(files >= 12 && total < 1000, "{files} files, {total} lines");
}
