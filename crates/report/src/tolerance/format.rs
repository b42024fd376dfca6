//! Thresholds as people read them, on the page and in a terminal.

use faultlens_stats::tolerance::{Ending, FoundThreshold, Interval};

/// A visual change in hundredths, as bins are named; 1 is 1.
pub fn edge(visual_change: f64) -> String {
    if visual_change == 1.0 { "1".to_owned() } else { format!("{visual_change:.2}") }
}

/// A threshold, with a mark where it is the end of the data.
pub fn threshold(found: &FoundThreshold) -> String {
    let mark = if found.ending == Ending::EndOfData { "*" } else { "" };
    format!("{}{mark}", edge(found.value))
}

/// "[0.50, 1]".
pub fn interval(of: &Interval) -> String {
    format!("[{}, {}]", edge(of.low), edge(of.high))
}
