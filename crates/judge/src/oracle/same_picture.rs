//! The picture must stay as it was.

use crate::psnr;
use faultlens_core::{
    Comparison, Measurement, Oracle, Outcome, Parameter, ParameterKind, Picture, Plugin, Reason,
    Response, Setting, Unset,
};

/// # What it does
/// Unchanged where the picture is as near to the undisturbed one as the least peak signal-to-noise
/// ratio asks.
/// # When to use it
/// Generators, denoisers and everything else that answers with an image. From about 40 dB nobody
/// sees a difference; below 20 dB everybody does.
pub(super) const SAME_PICTURE: Plugin<dyn Oracle> = Plugin {
    name: "same_picture",
    about: "the picture's peak signal-to-noise ratio against the undisturbed one must be high",
    when: "generators and whatever else answers with an image; measures the ratio in decibels",
    parameters: &[PSNR],
    build: |settings| Ok(Box::new(SamePicture { least: settings.number(PSNR.name)? })),
};

const PSNR: Parameter = Parameter {
    name: "psnr",
    about: "the least ratio in decibels; the same picture has 100",
    kind: ParameterKind::Number { min: 1.0, max: 100.0 },
    unset: Unset::Is(Setting::Number(30.0)),
};

struct SamePicture {
    least: f64,
}

fn both<'a>(comparison: &Comparison<'a>) -> Option<(&'a Picture, &'a Picture)> {
    match (comparison.golden, comparison.observed) {
        (Response::Picture(golden), Response::Picture(observed)) => Some((golden, observed)),
        _ => None,
    }
}

fn ratio(golden: &Picture, observed: &Picture) -> Option<f64> {
    let size = |one: &Picture| (one.width, one.height, one.channels);
    let same_size = size(golden) == size(observed);
    if same_size { psnr(&golden.values, &observed.values) } else { None }
}

impl Oracle for SamePicture {
    fn judge(&self, comparison: &Comparison<'_>) -> Outcome {
        let Some((golden, observed)) = both(comparison) else {
            return Outcome::Skipped(Reason::UnsupportedAnswer);
        };
        match ratio(golden, observed) {
            Some(ratio) if ratio >= self.least => Outcome::Unchanged,
            _ => Outcome::Changed,
        }
    }

    fn measure(&self, comparison: &Comparison<'_>) -> Option<Measurement> {
        let (golden, observed) = both(comparison)?;
        Some(Measurement { name: "psnr", value: ratio(golden, observed)? })
    }
}
