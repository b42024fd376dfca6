//! Where a model says itself what it sees and answers.

/// Where a model's metadata describes its input, as JSON.
pub const INPUT_KEY: &str = "faultlens.input";
/// Where a model's metadata describes its output, as JSON.
pub const OUTPUT_KEY: &str = "faultlens.output";
/// Where a model's metadata names its classes, as a JSON list.
pub const LABELS_KEY: &str = "faultlens.labels";
