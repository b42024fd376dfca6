//! Every operator against ONNX Runtime, non-finite values included.

mod rules;

use crate::common::{Fixture, mismatch, operator_fixtures};
use faultlens_core::Tensor;
use faultlens_engine::Model;
use rules::Rule;

/// Relative to the larger number: the operators' sums run in another order than ONNX Runtime's.
const TOLERANCE: f64 = 2e-5;

/// A fixture that is answered otherwise than by ONNX Runtime.
struct Deviation {
    fixture: &'static str,
    reason: &'static str,
    /// What holds instead.
    rule: Rule,
}

/// Every deliberate deviation. A fixture that agrees again must leave this table.
const DEVIATIONS: &[Deviation] = &[
    Deviation {
        fixture: "GRU__nonfinite",
        reason: "NaN stays NaN, as in PyTorch; ONNX Runtime makes a number of it where a layer has \
                 biases, and NaN where it has none",
        rule: rules::nan_stays_from_its_step_on,
    },
    Deviation {
        fixture: "LRN__nonfinite",
        reason: "each channel sums its own neighbours, as ONNX defines; ONNX Runtime carries one sum \
                 along, so that infinity minus infinity spoils all later channels",
        rule: rules::local_response_by_definition,
    },
    Deviation {
        fixture: "LSTM__nonfinite",
        reason: "as GRU",
        rule: rules::nan_stays_from_its_step_on,
    },
    Deviation {
        fixture: "MaxPool__nonfinite_all_nan",
        reason: "a window that holds NaN answers NaN, as in PyTorch; ONNX Runtime overlooks it \
                 depending on where it stands",
        rule: rules::largest_or_nan,
    },
    Deviation {
        fixture: "ReduceMean__nonfinite_rows",
        reason: "3e38 and -3e38 swallow what was summed before them, so the order decides; ONNX \
                 Runtime has one for rows and one for columns, here columns' serves both",
        rule: rules::as_onnx_runtime_on_columns,
    },
    Deviation {
        fixture: "ReduceSum__nonfinite_rows",
        reason: "as ReduceMean",
        rule: rules::as_onnx_runtime_on_columns,
    },
];

fn is_unsettled(fixture: &Fixture) -> bool {
    fixture.name.contains("__unsettled_")
}

/// Our answers by output name.
fn answers(fixture: &Fixture) -> Result<Vec<(String, Tensor)>, String> {
    let model = Model::from_proto(&fixture.model).map_err(|e| format!("error: {e}"))?;
    let outputs = model.run(&fixture.feeds()).map_err(|e| format!("error: {e}"))?;
    let names = model.graph().outputs().iter().map(|&id| model.graph().value_name(id).to_owned());
    Ok(names.zip(outputs).collect())
}

/// How our answers differ from ONNX Runtime's.
fn difference(fixture: &Fixture, answers: &[(String, Tensor)]) -> Option<String> {
    answers.iter().zip(&fixture.expected).find_map(|((name, got), (expected, want))| {
        assert_eq!(name, expected, "{}", fixture.name);
        mismatch(got, want, TOLERANCE).map(|why| format!("{name}: {why}"))
    })
}

fn check(fixture: &Fixture) -> Result<(), String> {
    let answers = answers(fixture)?;
    let deviation = DEVIATIONS.iter().find(|d| d.fixture == fixture.name);
    match (difference(fixture, &answers), deviation) {
        (None, None) => Ok(()),
        (Some(why), None) => Err(why),
        (Some(_), Some(deviation)) => (deviation.rule)(fixture, &answers)
            .map_err(|why| format!("{why}, though {}", deviation.reason)),
        (None, Some(_)) => Err("agrees again: take it out of the table of deviations".into()),
    }
}

/// All failures in one message, since one change often breaks many fixtures.
fn assert_all(fixtures: &[Fixture], check: impl Fn(&Fixture) -> Result<(), String>) {
    let failed: Vec<String> = fixtures
        .iter()
        .filter_map(|f| check(f).err().map(|why| format!("{}: {why}", f.name)))
        .collect();
    let (count, all) = (failed.len(), fixtures.len());
    assert!(failed.is_empty(), "{count} of {all} differ:\n{}", failed.join("\n"));
}

fn fixtures(unsettled: bool) -> Vec<Fixture> {
    let all = operator_fixtures().into_iter().map(|path| Fixture::read(&path));
    all.filter(|f| is_unsettled(f) == unsettled).collect()
}

#[test]
fn operators_answer_as_onnx_runtime() {
    let fixtures = fixtures(false);
    assert!(fixtures.len() >= 1025, "{} fixtures", fixtures.len());
    assert_all(&fixtures, check);
}

/// Where runtimes disagree, or ONNX Runtime with itself, there is one rule per operator here.
#[test]
fn unsettled_cases_follow_our_rule() {
    let fixtures = fixtures(true);
    assert!(fixtures.len() >= 39, "{} fixtures", fixtures.len());
    assert_all(&fixtures, |fixture| {
        let rule = rules::for_unsettled(&fixture.name).ok_or("there is no rule for it")?;
        rule(fixture, &answers(fixture)?)
    });
}

#[test]
fn deviations_name_fixtures_that_exist() {
    let names: Vec<String> = fixtures(false).into_iter().map(|f| f.name).collect();
    for deviation in DEVIATIONS {
        assert!(names.iter().any(|name| name == deviation.fixture), "{}", deviation.fixture);
    }
}
