//! The study as a comment: what it comes to, and the models beside each other.

use std::fmt::Write as _;

use faultlens_sweep::analysis::{Findings, OfModel};

use super::words::rate;
use crate::escape::markdown as escape;

/// The study as Markdown: conclusions, cautions, shares by attack and defence, models.
pub fn grid_markdown(title: &str, of: &Findings) -> String {
    let mut out = format!("## {}\n\n", escape(title));
    for conclusion in &of.conclusions {
        let _ = writeln!(out, "- {}", escape(&conclusion.text));
    }
    if !of.cautions.is_empty() {
        out.push_str("\n**Before you trust the numbers**\n\n");
        for caution in &of.cautions {
            let _ = writeln!(out, "- {}", escape(caution));
        }
    }
    for grouping in of.groups.iter().filter(|one| ["attack", "defence"].contains(&one.axis)) {
        let _ = write!(
            out,
            "\n| {} | benign accuracy | adversarial accuracy | changed |\n|---|--:|--:|--:|\n",
            grouping.axis
        );
        for group in &grouping.groups {
            let counts = &group.counts;
            let [benign, adversarial, changed] =
                [&counts.benign, &counts.adversarial, &counts.changed]
                    .map(|one| escape(&rate(one)));
            let level = escape(&group.level);
            let _ = writeln!(out, "| {level} | {benign} | {adversarial} | {changed} |");
        }
    }
    models(&mut out, &of.seconds.models);
    out
}

fn models(out: &mut String, models: &[OfModel]) {
    if models.is_empty() {
        return;
    }
    out.push_str(
        "\n| model | AIC | concordance, test | ICI, test | E50, test |\n|---|--:|--:|--:|--:|\n",
    );
    let told = |value: Option<f64>, digits: usize| {
        value.map_or("–".to_owned(), |value| format!("{value:.digits$}"))
    };
    for one in models {
        let name = if one.chosen { format!("**{}**", one.model) } else { one.model.clone() };
        let _ = writeln!(
            out,
            "| {name} | {} | {} | {} | {} |",
            told(one.aic, 1),
            told(one.test_concordance, 3),
            told(one.test_ici, 3),
            told(one.test_e50, 3)
        );
    }
}
