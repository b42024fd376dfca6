//! Every operator against ONNX Runtime, non-finite values included.

mod common;

use common::{Fixture, mismatch, operator_fixtures};
use faultlens_engine::Model;

fn run(fixture: &Fixture, tolerance: f64) -> Result<(), String> {
    let model = Model::from_proto(&fixture.model).map_err(|e| format!("error: {e}"))?;
    let outputs = model.run(&fixture.feeds()).map_err(|e| format!("error: {e}"))?;
    let names = model.graph().outputs().iter().map(|&id| model.graph().value_name(id));
    for (name, got) in names.zip(&outputs) {
        let Some((_, want)) = fixture.expected.iter().find(|(n, _)| n == name) else { continue };
        if let Some(why) = mismatch(got, want, tolerance) {
            return Err(format!("{name}: {why}"));
        }
    }
    Ok(())
}

#[test]
fn operators_answer_as_onnx_runtime() {
    let mut failed = Vec::new();
    let mut ran = 0;
    for path in operator_fixtures() {
        let fixture = Fixture::read(&path);
        if fixture.name.contains("__unsettled_") {
            continue;
        }
        ran += 1;
        if let Err(why) = run(&fixture, 2e-5) {
            failed.push(format!("{}: {why}", fixture.name));
        }
    }
    assert!(failed.is_empty(), "{} of {ran} differ:\n{}", failed.len(), failed.join("\n"));
}
