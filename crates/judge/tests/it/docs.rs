//! The tables of oracles and guards in docs/campaign.md follow from the registries.

#[path = "../../../../tests/docs_block.rs"]
mod docs_block;

use faultlens_core::{Parameter, Plugin, Unset};
use faultlens_judge::{GUARDS, ORACLES};
use std::fmt::Write as _;

// One test, since both blocks stand in one page that it may write.
#[test]
fn the_documentation_lists_every_oracle_and_guard() {
    docs_block::check("campaign.md", "oracles", &table("oracle", "requirement", ORACLES));
    docs_block::check("campaign.md", "guards", &table("guard", "what it does", GUARDS));
}

fn table<T: ?Sized>(first: &str, second: &str, plugins: &[Plugin<T>]) -> String {
    let mut table =
        format!("| {first} | {second} | use it for | parameters |\n|---|---|---|---|\n");
    for Plugin { name, about, when, parameters, .. } in plugins {
        let parameters: Vec<String> = parameters.iter().map(parameter).collect();
        let parameters = parameters.join("<br>");
        writeln!(table, "| `{name}` | {about} | {when} | {parameters} |").unwrap();
    }
    table
}

/// The name of a parameter with its default, and what it means.
fn parameter(parameter: &Parameter) -> String {
    let Parameter { name, about, .. } = parameter;
    match &parameter.unset {
        Unset::Is(setting) => format!("`{name}` ({setting}): {about}"),
        Unset::Required => format!("`{name}` (required): {about}"),
        Unset::Absent => format!("`{name}`: {about}"),
    }
}
