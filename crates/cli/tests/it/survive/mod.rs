//! `faultlens survive` as users run it, each time in a fresh folder.

mod input;
mod models;
mod output;
mod parity;
mod reference;

use crate::folder::{Folder, json};
use serde_json::Value;

/// Seconds until an attack succeeds on models with and without a defence, with another unit or
/// other covariates where a test needs them.
pub(crate) const ATTACKS: &str = "\
seconds,succeeded,layers,defence
0.8,1,18,none
2.0,0,50,noise
1.1,1,34,none
0.3,1,18,none
2.0,0,34,noise
0.9,1,50,none
1.7,1,50,noise
0.5,1,34,none
1.4,1,18,noise
2.0,0,50,noise
0.7,1,18,noise
1.2,1,50,none
";

/// A folder with this table.
pub(crate) fn table(test: &str, text: &str) -> Folder {
    let folder = Folder::new(&format!("survive_{test}"));
    folder.text("data.csv", text);
    folder
}

/// The JSON object of a run that succeeds.
pub(crate) fn object(folder: &Folder, args: &str) -> Value {
    let run = folder.run(&format!("survive {args} --json"));
    assert_eq!(run.status, 0, "{args}: {}", run.stderr);
    json(&run.stdout).remove(0)
}

/// What a run that is refused says.
pub(crate) fn refused(folder: &Folder, args: &str) -> String {
    let run = folder.run(&format!("survive {args}"));
    assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{args}: {}", run.stderr);
    assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
    run.stderr
}

/// The estimate of a covariate.
pub(crate) fn estimate(of: &Value, parameter: &str, covariate: &str) -> f64 {
    let lines = of["coefficients"].as_array().unwrap();
    let wanted = |line: &&Value| line["parameter"] == parameter && line["covariate"] == covariate;
    lines.iter().find(wanted).unwrap()["estimate"].as_f64().unwrap()
}

/// The names of the covariates, as the table has them.
pub(crate) fn covariates(of: &Value) -> Vec<String> {
    let lines = of["coefficients"].as_array().unwrap();
    lines.iter().map(|line| line["covariate"].as_str().unwrap().to_owned()).collect()
}
