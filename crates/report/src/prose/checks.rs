//! Requirements and pinned trials: what was measured, what is allowed, and why a verdict is what it
//! is.

use faultlens_analysis::format::{count, counted, ends, limit, number, percent, rate};
use faultlens_analysis::{Checked, Missing, Pinned, Verdict};
use faultlens_spec::Population;
use faultlens_stats::MIN_IMAGES;

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
    if checked.missing.is_too_much() {
        return too_many_missing(&checked.missing);
    }
    let unit = if checked.fit.is_some() { " FIT" } else { "" };
    let limit = allowed(checked) + unit;
    let images = counted(checked.rate.images, "image");
    let whose = match checked.population {
        Population::NewImages => format!("for new images, based on {images},"),
        Population::TheseImages => format!("for these {images}"),
    };
    let (within, beyond) =
        if checked.at_least { ("at or above", "below") } else { ("at or below", "above") };
    let whose = match &checked.group {
        Some(group) if checked.groups > 1 => {
            format!("of {group}, the worst of {}, {whose}", checked.groups)
        }
        _ => whose,
    };
    match checked.verdict {
        Verdict::Met => format!("the whole interval {whose} is {within} {limit}"),
        Verdict::NotMet => format!("the whole interval {whose} is {beyond} {limit}"),
        Verdict::Inconclusive if checked.rate.n == 0 => "no judged trial is concerned".to_owned(),
        Verdict::Inconclusive if checked.rate.population != checked.population => format!(
            "{images} say nothing about new images, which takes {MIN_IMAGES}; show more, or \
             require it with population: these_images"
        ),
        Verdict::Inconclusive => {
            format!("the interval {whose} includes {limit}; {}", what_would_decide(checked))
        }
    }
}

/// What to do about an interval that includes its limit. The width falls with the square root of the
/// number of images; a rate that lies at its limit is never told apart from it.
fn what_would_decide(checked: &Checked) -> String {
    if checked.population == Population::TheseImages {
        return "more trials would narrow it".to_owned();
    }
    let rate = &checked.rate;
    let value = rate.value.unwrap_or(checked.limit);
    let reach = if value < checked.limit { rate.high - value } else { value - rate.low };
    let needed = rate.images as f64 * (reach / (checked.limit - value)).powi(2);
    if !(needed.is_finite() && needed < MOST_IMAGES) {
        return "it takes far more images to decide, or a rate further from the limit".to_owned();
    }
    let scale = 10_f64.powf(needed.log10().floor() - 1.0).max(1.0);
    let needed = ((needed / scale).ceil() * scale) as u64;
    format!(
        "about {} would decide it if the rate stays the same (more trials on the same images help \
         little)",
        counted(needed, "image")
    )
}

/// More images than anybody is asked for.
const MOST_IMAGES: f64 = 1e6;

/// Why nothing can be said: too many trials were skipped, or are open.
pub(crate) fn too_many_missing(missing: &Missing) -> String {
    let Missing { skipped, open, of, max_skipped } = *missing;
    let (which, what_to_do) = match (skipped, open) {
        (_, 0) => (format!("{} were skipped", count(skipped)), ""),
        (0, _) => (format!("{} are open", count(open)), "; run the same command to do them"),
        _ => (
            format!("{} were skipped and {} are open", count(skipped), count(open)),
            "; run the same command to do the open ones",
        ),
    };
    let share = percent(missing.share());
    let most = limit(max_skipped);
    format!("of {} trials {which} ({share}%), max_skipped is {most}{what_to_do}", count(of))
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
        let value = Some(0.032);
        let rate = Rate { events: 32, n: 1000, value, low, high, images: 100, ..Rate::default() };
        Checked {
            requirement: String::new(),
            rate,
            limit: 0.1,
            verdict,
            at_least: false,
            group: None,
            groups: 1,
            population: Population::NewImages,
            complete: true,
            missing: Missing { max_skipped: 0.05, ..Missing::default() },
            fit: None,
        }
    }

    #[test]
    fn failures_in_time_read_as_such() {
        let mut checked = checked(0.029, 0.035, Verdict::Met);
        assert_eq!([measured(&checked), allowed(&checked)], ["3.2% [2.9, 3.5]", "10%"]);
        checked.fit = Some(Fit { raw: 200.0, share: 0.5, at_most: 10.0 });
        let line = format!("{}, limit {}", measured(&checked), allowed(&checked));
        assert_eq!(line, "FIT 3.2 (2.9 to 3.5), limit 10");
        let reason =
            "the whole interval for new images, based on 100 images, is at or below 10 FIT";
        assert_eq!(requirement_reason(&checked), reason);
    }

    #[test]
    fn missing_trials_are_said_to_be_missing() {
        let mut checked = checked(0.02, 0.2, Verdict::Inconclusive);
        let skipped = Missing { skipped: 90, of: 1500, ..checked.missing };
        for (missing, wanted) in [
            (skipped, "of 1,500 trials 90 were skipped (6.0%), max_skipped is 5%"),
            (
                Missing { open: 90, skipped: 0, ..skipped },
                "of 1,500 trials 90 are open (6.0%), max_skipped is 5%; run the same command to do \
                 them",
            ),
            (
                Missing { open: 60, ..skipped },
                "of 1,500 trials 90 were skipped and 60 are open (10.0%), max_skipped is 5%; run \
                 the same command to do the open ones",
            ),
        ] {
            checked.missing = missing;
            assert_eq!(requirement_reason(&checked), wanted);
        }
        checked.missing = Missing { skipped: 75, ..skipped };
        assert!(requirement_reason(&checked).contains("includes"), "5% are allowed");
    }

    #[test]
    fn an_unfinished_run_says_so_first() {
        let mut checked = checked(0.02, 0.2, Verdict::Inconclusive);
        let reason = "the interval for new images, based on 100 images, includes 10%; about 620 \
                      images would decide it if the rate stays the same (more trials on the same \
                      images help little)";
        assert_eq!(requirement_reason(&checked), reason);
        checked.rate.population = Population::TheseImages;
        assert!(requirement_reason(&checked).contains("say nothing about new images"));
        checked.population = Population::TheseImages;
        assert!(requirement_reason(&checked).contains("more trials would narrow it"));
        checked.rate.n = 0;
        assert_eq!(requirement_reason(&checked), "no judged trial is concerned");
        checked.complete = false;
        assert_eq!(requirement_reason(&checked), "the run is not complete");
    }
}
