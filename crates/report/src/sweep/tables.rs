//! Tables of the sweep's report.

use super::{ratio, standing};
use crate::document::{Block, Cell, Column, Reach, Row, Table};
use crate::survival::{SurvivalRow, models as survival_models};
use faultlens_analysis::format::{NONE, count, number, p_value};
use faultlens_analysis::sweep::{
    Basis, Durations, Effect, Findings, Group, Grouping, Measured, OfConfiguration, OfModel, Scale,
};

/// Configurations at each end of the ranking.
const MOST: usize = 12;

/// `3.2 [2.9, 3.5]`; `∞` where nothing bounds it.
fn measured(of: &Measured) -> String {
    let value = unbounded(of.value);
    format!("{value} [{}, {}]", number(of.low, 3), unbounded(of.high))
}

fn unbounded(value: Option<f64>) -> String {
    value.map_or("∞".to_owned(), |value| number(value, 3))
}

/// The models of a clock side by side; `None` where nothing was fitted.
pub(super) fn models(of: &Durations) -> Option<Block> {
    if of.models.is_empty() {
        return None;
    }
    let rows = match &of.split {
        Some(split) => format!(
            "Fitted on {} rows ({} changed), tested on {} others ({} changed).",
            count(split.train_rows),
            count(split.train_events),
            count(split.test_rows),
            count(split.test_events)
        ),
        None => format!("Fitted on all {} rows.", count(of.rows)),
    };
    // Cox's likelihood leaves the baseline hazard out, so that its AIC ranks no other model.
    let mut note =
        format!("{rows} Cox's likelihood is a partial one, not comparable with the others.");
    for model in &of.models {
        if let Some(why) = &model.refused {
            note.push_str(&format!(" {} is not used: {why}.", model.model));
        }
    }
    let rows: Vec<SurvivalRow> = of.models.iter().map(model).collect();
    let table = survival_models::table(&rows, "used");
    let blocks = vec![Block::note(note), Block::Table(table)];
    Some(Block::titled(format!("In {}", of.clock.unit()), blocks))
}

fn model(of: &OfModel) -> SurvivalRow {
    SurvivalRow {
        model: of.model.clone(),
        chosen: of.chosen,
        values: [
            of.aic,
            of.bic,
            of.concordance,
            of.test_concordance,
            of.ici,
            of.test_ici,
            of.e50,
            of.test_e50,
        ],
        error: of.error.clone(),
    }
}

/// What the covariates do on a clock, in numbers.
pub(super) fn coefficients(of: &Durations) -> Option<Block> {
    let chosen = of.chosen.as_ref()?;
    let table = Table {
        caption: "Covariates with their factors, coefficients, standard errors and p-values".into(),
        columns: vec![
            Column::name("Covariate"),
            Column::text("One step"),
            Column::number(match chosen.scale {
                Scale::Duration => "Factor",
                Scale::Hazard => "Factor on the chance of a change",
            }),
            Column::number("Coefficient"),
            Column::number("Standard error"),
            Column::number("p"),
            Column::number("p, Holm-adjusted"),
            Column::text("Why nothing is stated"),
        ],
        rows: chosen.effects.iter().map(effect).collect(),
        sortable: true,
        ..Table::default()
    };
    let title = format!("All coefficients of {}, in {}", chosen.model, of.clock.unit());
    Some(Block::folded(title, vec![Block::Table(table)]))
}

fn effect(of: &Effect) -> Row {
    let name = Cell::text(&of.covariate.name);
    let unit = Cell::text(&of.covariate.unit);
    let none = || Cell::number(NONE, None);
    if let Some(why) = &of.withheld {
        return vec![name, unit, none(), none(), none(), none(), none(), Cell::text(why)].into();
    }
    let [value, low, high] = of.ratio.map(|factor| number(factor, 3));
    vec![
        name,
        unit,
        Cell::number(format!("×{value} [{low}, {high}]"), Some(of.ratio[0])),
        Cell::number(number(of.estimate, 4), Some(of.estimate)),
        Cell::number(number(of.se, 3), Some(of.se)),
        Cell::number(p_value(of.p), Some(of.p)),
        Cell::number(p_value(of.adjusted_p), Some(of.adjusted_p)),
        Cell::text(""),
    ]
    .into()
}

/// The configurations that cost least compared with training and those that cost most; all of them
/// where they are few.
pub(super) fn configurations(of: &Findings) -> Vec<Block> {
    let mut ranked: Vec<(&OfConfiguration, f64)> =
        of.configurations.iter().filter_map(|one| Some((one, ratio(one)?))).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.index.cmp(&b.0.index)));
    let ranked: Vec<&OfConfiguration> = ranked.into_iter().map(|(one, _)| one).collect();
    if ranked.is_empty() {
        return Vec::new();
    }
    if ranked.len() <= 2 * MOST {
        return vec![cost_table("All configurations", &ranked)];
    }
    let least: Vec<&OfConfiguration> = ranked.iter().rev().take(MOST).copied().collect();
    vec![cost_table("Most broken", &ranked[..MOST]), cost_table("Least broken", &least)]
}

fn cost_table(title: &str, ranked: &[&OfConfiguration]) -> Block {
    let table = Table {
        caption: format!("{title}: verdicts, changed answers, expected seconds and ratios"),
        columns: vec![
            Column::name("Attack"),
            Column::text("Model and defence"),
            Column::text("Verdict"),
            Column::number("Clean accuracy"),
            Column::number("Answers changed"),
            Column::number("Seconds of attack"),
            Column::number("TRASH"),
            Column::number("TRASH by the model"),
            Column::number("Model over observed"),
        ],
        rows: ranked.iter().filter_map(|one| cost_row(one)).collect(),
        sortable: true,
        class: Some("costs"),
        ..Table::default()
    };
    Block::titled(title, vec![Block::Table(table)])
}

fn cost_row(of: &OfConfiguration) -> Option<Row> {
    let costs = of.costs.as_ref()?;
    let own = costs.own.as_ref()?;
    let reached = costs.verdict?;
    let (verdict, word) = standing(reached.standing);
    let word = match reached.basis {
        Basis::OwnSamples => word.to_owned(),
        Basis::Pooled => format!("{word} (pooled)"),
        Basis::FewImages => format!("{word} (too few images)"),
    };
    let model =
        format!("{} on {}, {} epochs, {}", of.architecture, of.data, of.epochs, of.defence_label);
    let off = costs.off.map_or(Cell::number(NONE, None), |off| {
        Cell::number(format!("×{}", number(off.ratio, 3)), Some(off.ratio))
    });
    let mut seconds = measured_cell(Some(&own.seconds));
    let mut ratio = measured_cell(Some(&own.ratio));
    if own.beyond {
        seconds.text.push_str(" †");
        ratio.text.push_str(" †");
    }
    Some(
        vec![
            Cell::text(&of.attack_label),
            Cell::text(model),
            Cell::verdict_as(verdict, word),
            Cell::rate(&of.counts.benign),
            Cell::rate(&of.counts.changed),
            seconds,
            ratio,
            measured_cell(costs.model.as_ref().map(|cost| &cost.ratio)),
            off,
        ]
        .into(),
    )
}

fn measured_cell(of: Option<&Measured>) -> Cell {
    match of {
        Some(of) => Cell::number(measured(of), Some(of.value.unwrap_or(f64::INFINITY))),
        None => Cell::number(NONE, None),
    }
}

/// Counts of each level of an axis.
pub(super) fn counts(of: &Grouping) -> Block {
    let on_page = |title: &str| Column::number(title).reaching(Reach::Page);
    let table = Table {
        caption: format!("Accuracies, shares and failure rates by {}", of.axis),
        columns: vec![
            Column::name(of.axis),
            on_page("Configurations"),
            on_page("Samples"),
            Column::number("Benign accuracy"),
            Column::number("Adversarial accuracy"),
            Column::number("Changed"),
            on_page("Rejected"),
            on_page("Benign failures/s"),
            on_page("Adversarial failures/s"),
        ],
        rows: of.groups.iter().map(counts_row).collect(),
        sortable: true,
        ..Table::default()
    };
    Block::titled(format!("By {}", of.axis), vec![Block::Table(table)])
}

fn counts_row(of: &Group) -> Row {
    let counts = &of.counts;
    vec![
        Cell::text(&of.level),
        Cell::count(of.configurations),
        Cell::count(counts.rows),
        Cell::rate(&counts.benign),
        Cell::rate(&counts.adversarial),
        Cell::rate(&counts.changed),
        Cell::rate(&counts.rejected),
        measured_cell(counts.benign_failures.as_ref()),
        measured_cell(counts.adversarial_failures.as_ref()),
    ]
    .into()
}
