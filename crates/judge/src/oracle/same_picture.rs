//! The generated picture must stay close to the undisturbed one.

use crate::psnr;
use faultlens_core::{
    Comparison, Measurement, Oracle, Outcome, Parameter, ParameterKind, Picture, Plugin, Reason,
    Response, Setting, Unset,
};

/// # What it does
/// Unchanged where the peak signal-to-noise ratio (PSNR) to the undisturbed picture is high enough.
/// # When to use it
/// Generators, denoisers and everything else that answers with an image. From about 40 dB nobody
/// sees a difference; below 20 dB everybody does.
pub(super) const SAME_PICTURE: Plugin<dyn Oracle> = Plugin {
    name: "same_picture",
    about: "the peak signal-to-noise ratio to the undisturbed picture must be at least psnr",
    when: "generators, denoisers and other models that answer with an image; records the ratio as \
           psnr",
    parameters: &[PSNR],
    build: |settings| Ok(Box::new(SamePicture { min_psnr: settings.number(PSNR.name)? })),
};

const PSNR: Parameter = Parameter {
    name: "psnr",
    about: "the smallest ratio in decibels that counts as unchanged; identical pictures have 100",
    kind: ParameterKind::Number { min: 1.0, max: 100.0 },
    unset: Unset::Is(Setting::Number(30.0)),
};

struct SamePicture {
    min_psnr: f64,
}

fn both<'a>(comparison: &Comparison<'a>) -> Option<(&'a Picture, &'a Picture)> {
    match (comparison.golden, comparison.observed) {
        (Response::Picture(golden), Response::Picture(observed)) => Some((golden, observed)),
        _ => None,
    }
}

fn ratio(golden: &Picture, observed: &Picture) -> Option<f64> {
    let same_size = golden.width == observed.width
        && golden.height == observed.height
        && golden.channels == observed.channels;
    if same_size { psnr(&golden.values, &observed.values) } else { None }
}

impl Oracle for SamePicture {
    fn judge(&self, comparison: &Comparison<'_>) -> Outcome {
        let Some((golden, observed)) = both(comparison) else {
            return Outcome::Skipped(Reason::UnsupportedAnswer);
        };
        match ratio(golden, observed) {
            Some(ratio) if ratio >= self.min_psnr => Outcome::Unchanged,
            _ => Outcome::Changed,
        }
    }

    fn measure(&self, comparison: &Comparison<'_>) -> Option<Measurement> {
        let (golden, observed) = both(comparison)?;
        Some(Measurement { name: "psnr", value: ratio(golden, observed)? })
    }
}
