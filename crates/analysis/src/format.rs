//! Numbers as people read them: one way for all commands and reports, so that a rate reads the same
//! everywhere.

use crate::estimate::{Mean, Rate};
use faultlens_core::Reason;

/// What stands where there is no number.
pub const NONE: &str = "–";

/// More decimals than any rate of a run needs; less is noise of the arithmetic.
const MOST_DECIMALS: i32 = 10;

/// A share in percent, without the sign: one decimal, or two significant digits where the share
/// is close to nothing or to all. `0` and `100` stand for exactly that.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if !percent.is_finite() {
        return NONE.into();
    }
    let edge = percent.abs().min((100.0 - percent).abs());
    if edge < 10f64.powi(-MOST_DECIMALS) {
        return if percent < 50.0 { "0".into() } else { "100".into() };
    }
    if edge >= 0.995 {
        return format!("{percent:.1}");
    }
    let decimals = (1 - edge.log10().floor() as i32).clamp(1, MOST_DECIMALS) as usize;
    let text = format!("{percent:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}

/// A limit in percent, as its author wrote it: `5%`, not `5.0%`.
pub fn limit(share: f64) -> String {
    let text = percent(share);
    let text = text.strip_suffix(".0").unwrap_or(&text);
    format!("{text}%")
}

/// A sentence starts with a capital letter, whatever it starts with.
pub fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => String::new(),
    }
}

/// The rate alone: `3.1%`.
pub fn value(rate: &Rate) -> String {
    match rate.value {
        None => NONE.into(),
        Some(value) => format!("{}%", percent(value)),
    }
}

/// The interval alone: `[2.8, 3.5]`, or `exact` where chance has no part in the rate.
pub fn interval(rate: &Rate) -> String {
    let (low, high) = ends(rate);
    match rate.value {
        None => NONE.into(),
        Some(_) if rate.is_exact() => "exact".into(),
        Some(_) => format!("[{}, {}]", percent(low), percent(high)),
    }
}

/// A rate with its interval: `3.1% [2.8, 3.5]`.
pub fn rate(rate: &Rate) -> String {
    match rate.value {
        None => "no trials".into(),
        Some(_) => format!("{} {}", value(rate), interval(rate)),
    }
}

/// A mean of shares with its interval: `74.5% [71.0, 77.9]`.
pub fn mean_share(mean: &Mean) -> String {
    match mean.value {
        None => NONE.into(),
        Some(value) if mean.low == mean.high => format!("{}%", percent(value)),
        Some(value) => {
            format!("{}% [{}, {}]", percent(value), percent(mean.low), percent(mean.high))
        }
    }
}

/// A mean with its interval: `3.2 [2.9, 3.5]`.
pub fn mean(mean: &Mean) -> String {
    match mean.value {
        None => NONE.into(),
        Some(value) => {
            let [value, low, high] = [value, mean.low, mean.high].map(|value| number(value, 3));
            format!("{value} [{low}, {high}]")
        }
    }
}

/// "+3.2": a difference of shares in percentage points.
pub fn points(share: f64) -> String {
    let text = format!("{:+.1}", 100.0 * share);
    if text == "-0.0" { "+0.0".to_owned() } else { text.replace('-', "−") }
}

/// The interval's ends, without the arithmetic's noise where nothing or everything happened.
pub fn ends(rate: &Rate) -> (f64, f64) {
    let low = if rate.value == Some(0.0) { 0.0 } else { rate.low };
    let high = if rate.value == Some(1.0) { 1.0 } else { rate.high };
    (low.clamp(0.0, 1.0), high.clamp(0.0, 1.0))
}

/// A number of things, with commas: `12,480`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with its noun: `1 trial`, `2 trials`.
pub fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(number))
}

/// A p-value with two significant digits; tiny ones only say that they are.
pub fn p_value(p: f64) -> String {
    if !p.is_finite() {
        NONE.into()
    } else if p < 0.0001 {
        "< 0.0001".into()
    } else {
        number(p, 2)
    }
}

/// A score of an answer.
pub fn score(score: Option<f64>) -> String {
    match score {
        Some(score) if score.is_finite() => number(score, 3),
        _ => "no number".into(),
    }
}

/// A number with so many significant digits, without trailing zeros; very large and very small
/// ones with an exponent.
pub fn number(number: f64, digits: i32) -> String {
    if number == 0.0 || !number.is_finite() {
        return if number == 0.0 { "0".into() } else { NONE.into() };
    }
    let size = number.abs().log10().floor() as i32;
    if !(-5..9).contains(&size) {
        return format!("{number:.*e}", digits.max(1) as usize - 1);
    }
    let decimals = (digits - 1 - size).max(0) as usize;
    let text = format!("{number:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// A time in words: `4.2 s`, `3 min 10 s`, `2 h 5 min`.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.round().max(0.0) as u64;
    match whole {
        _ if !seconds.is_finite() || seconds < 0.0 => NONE.into(),
        0..60 => format!("{} s", number(seconds, 2)),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", count(whole / 3600), whole % 3600 / 60),
    }
}

/// An outcome's name in words: `timed out`.
pub fn outcome(name: &str) -> String {
    name.replace('_', " ")
}

/// A layer of a model as people read it: number and name.
pub fn layer(layer: u32, name: &str) -> String {
    match name {
        "" => layer.to_string(),
        name => format!("{layer} {name}"),
    }
}

/// Why trials were skipped, in words; `code` is the reason's name in records.
pub fn reason(code: &str) -> String {
    Reason::from_code(code).map_or_else(|| code.to_owned(), |reason| reason.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_keep_what_matters() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (1e-17, "0"),
            (-1e-17, "0"),
            (0.000_000_012, "0.0000012"),
            (0.000_12, "0.012"),
            (0.000_4, "0.04"),
            (0.000_996, "0.1"),
            (0.005_2, "0.52"),
            (0.009_949, "0.99"),
            (0.009_96, "1.0"),
            (0.031, "3.1"),
            (0.5, "50.0"),
            (0.989, "98.9"),
            (0.999_6, "99.96"),
            (0.999_999_9, "99.99999"),
            (1.0, "100"),
            (f64::NAN, NONE),
        ];
        for (share, text) in cases {
            assert_eq!(percent(share), text, "{share}");
        }
    }

    #[test]
    fn rates_read_the_same_everywhere() {
        let of =
            |events, n, value, low, high| Rate { events, n, value, low, high, ..Rate::default() };
        let cases = [
            (of(31, 1000, Some(0.031), 0.028, 0.035), "3.1% [2.8, 3.5]"),
            (of(0, 9600, Some(0.0), 1.3e-19, 0.0004), "0% [0, 0.04]"),
            (of(40, 40, Some(1.0), 0.912, 0.999_999_999_999), "100% [91.2, 100]"),
            (of(9999, 10_000, Some(0.9999), 0.9994, 0.999_98), "99.99% [99.94, 99.998]"),
            (of(0, 0, None, 0.0, 1.0), "no trials"),
        ];
        for (given, text) in cases {
            assert_eq!(rate(&given), text);
        }
        assert_eq!(limit(0.05), "5%");
        assert_eq!(limit(0.001), "0.1%");
        assert_eq!(limit(0.125), "12.5%");
    }

    #[test]
    fn other_numbers() {
        assert_eq!([count(0), count(999), count(1000)], ["0", "999", "1,000"]);
        assert_eq!(count(12_345_678), "12,345,678");
        assert_eq!(counted(1, "trial") + &counted(0, "trial"), "1 trial0 trials");
        assert_eq!([p_value(1e-9), p_value(0.0321), p_value(1.0)], ["< 0.0001", "0.032", "1"]);
        assert_eq!([score(None), score(Some(0.9731)), score(Some(-12.0))].join(" "), {
            "no number 0.973 -12"
        });
        assert_eq!([number(3.4e38, 3), number(150.0, 2), number(1e-7, 2)].join(" "), {
            "3.40e38 150 1.0e-7"
        });
        assert_eq!(
            [duration(4.21), duration(59.99), duration(190.0)],
            ["4.2 s", "1 min 0 s", "3 min 10 s"]
        );
        assert_eq!(
            [duration(7500.0), duration(f64::NAN), duration(0.0)],
            ["2 h 5 min", NONE, "0 s"]
        );
    }
}
