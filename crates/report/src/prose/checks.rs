//! Requirements and pinned trials: what was measured, what is allowed, and why a verdict is what it
//! is.

use faultlens_analysis::format::{ends, limit, number, rate};
use faultlens_analysis::{Checked, Pinned, Verdict};

/// What a requirement measured: `3.1% [2.8, 3.5]`, or `FIT 3.2 (2.9 to 3.5)`.
pub fn measured(checked: &Checked) -> String {
    match (&checked.fit, checked.rate.value) {
        (Some(fit), Some(value)) => {
            let (low, high) = ends(&checked.rate);
            let [value, low, high] = [value, low, high].map(|rate| failures(rate * fit.each()));
            format!("FIT {value} ({low} to {high})")
        }
        _ => rate(&checked.rate),
    }
}

/// What a requirement allows: `5%`, or `10` failures in time.
pub(crate) fn allowed(checked: &Checked) -> String {
    match &checked.fit {
        Some(fit) => number(fit.at_most, 6),
        None => limit(checked.limit),
    }
}

/// Failures in time: one decimal from 1 to 100, else as many significant digits as matter.
fn failures(fit: f64) -> String {
    match fit {
        1.0..100.0 => format!("{fit:.1}"),
        _ => number(fit, if fit < 1.0 { 2 } else { 3 }),
    }
}

/// Why a requirement has its verdict, and what to do where it is inconclusive.
pub fn requirement_reason(checked: &Checked) -> String {
    if !checked.complete {
        return "the run is not complete".to_owned();
    }
    let unit = if checked.fit.is_some() { " FIT" } else { "" };
    let limit = allowed(checked) + unit;
    match checked.verdict {
        Verdict::Met => format!("the whole interval lies at or below {limit}"),
        Verdict::NotMet => format!("the whole interval lies above {limit}"),
        Verdict::Inconclusive if checked.rate.n == 0 => "no judged trial is concerned".to_owned(),
        Verdict::Inconclusive => {
            format!("the interval straddles {limit}; more trials would narrow it")
        }
    }
}

/// Why a pinned trial has its verdict.
pub fn pin_reason(pin: &Pinned) -> String {
    match pin.verdict {
        Verdict::Met => "the fault does not go unnoticed into the answer".to_owned(),
        Verdict::NotMet => "the fault still breaks the answer".to_owned(),
        Verdict::Inconclusive => {
            pin.reason.clone().unwrap_or_else(|| "it could not be judged".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_analysis::{Fit, Rate};

    fn checked(low: f64, high: f64, verdict: Verdict) -> Checked {
        let rate = Rate { events: 32, n: 1000, value: Some(0.032), low, high };
        let requirement = String::new();
        Checked { requirement, rate, limit: 0.1, verdict, complete: true, fit: None }
    }

    #[test]
    fn failures_in_time_read_as_such() {
        let mut checked = checked(0.029, 0.035, Verdict::Met);
        assert_eq!([measured(&checked), allowed(&checked)], ["3.2% [2.9, 3.5]", "10%"]);
        checked.fit = Some(Fit { raw: 200.0, share: 0.5, at_most: 10.0 });
        let line = format!("{}, limit {}", measured(&checked), allowed(&checked));
        assert_eq!(line, "FIT 3.2 (2.9 to 3.5), limit 10");
        assert_eq!(requirement_reason(&checked), "the whole interval lies at or below 10 FIT");
    }

    #[test]
    fn an_unfinished_run_says_so_first() {
        let mut checked = checked(0.02, 0.2, Verdict::Inconclusive);
        let reason = "the interval straddles 10%; more trials would narrow it";
        assert_eq!(requirement_reason(&checked), reason);
        checked.rate.n = 0;
        assert_eq!(requirement_reason(&checked), "no judged trial is concerned");
        checked.complete = false;
        assert_eq!(requirement_reason(&checked), "the run is not complete");
    }
}
