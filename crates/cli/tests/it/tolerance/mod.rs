//! `faultlens tolerance` as users run it, each time in a fresh folder.

mod input;
mod output;
mod published;

use crate::folder::{Folder, json};
use serde_json::Value;

/// Answers of a made-up study: 900 images under one fault, with three answers each on the original
/// and on the changed image. People are right nine times of ten up to a visual change of 0.5, and
/// guess from 0.6 on.
pub(crate) fn study(fault: &str) -> String {
    let mut text = "image,kind,fault,visual_change,truth,answer,participant\n".to_owned();
    let mut state = 1_u64;
    let mut chance = |rate: f64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as f64) < rate * (1_u64 << 31) as f64
    };
    for image in 0..900 {
        let change = f64::from(image % 90 + 1) / 100.0 - 0.004;
        let rate = if change <= 0.5 { 0.95 } else { (0.95 - 4.5 * (change - 0.5)).max(0.5) };
        let (truth, other) = if image % 3 == 0 { ("car", "not car") } else { ("not car", "car") };
        for one in 0..3 {
            let answer = if chance(0.95) { truth } else { other };
            text += &format!("{image},original,,0,{truth},{answer},p{one}\n");
            let answer = if chance(rate) { truth } else { other };
            text += &format!("{image},changed,{fault},{change:.4},{truth},{answer},q{one}\n");
        }
    }
    text
}

/// A table of right answers with a drop at 0.6.
pub(crate) fn table(hits: &str, rate: &str) -> String {
    let mut text = format!("IQA,{rate},Count,{hits}\n");
    for hundredths in 3..=95 {
        let right = if hundredths <= 60 { 49 - hundredths % 3 } else { 30 + hundredths % 5 };
        text +=
            &format!("{},{},50,{right}\n", f64::from(hundredths) / 100.0, f64::from(right) / 50.0);
    }
    text
}

/// A folder with one file.
pub(crate) fn with(test: &str, file: &str, text: &str) -> Folder {
    let folder = Folder::new(&format!("tolerance_{test}"));
    folder.text(file, text);
    folder
}

/// The JSON object of a run that succeeds.
pub(crate) fn object(folder: &Folder, args: &str) -> Value {
    let run = folder.run(&format!("tolerance {args} --json"));
    assert_eq!(run.status, 0, "{args}: {}", run.stderr);
    json(&run.stdout).remove(0)
}

/// What a run that is refused says.
pub(crate) fn refused(folder: &Folder, args: &str) -> String {
    let run = folder.run(&format!("tolerance {args}"));
    assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{args}: {}", run.stderr);
    assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
    run.stderr
}

/// A number somewhere in the object.
pub(crate) fn number(of: &Value, path: &str) -> f64 {
    of.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path}: {of}"))
}
