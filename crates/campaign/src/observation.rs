//! What a target did under a fault, before anybody judges it.

use faultlens_core::{Bounds, Detection, Image, Motion, Reason, Response, TargetError};
use faultlens_record::{Cost, Measures, Site};

/// What a target did under a fault.
pub struct Observation {
    /// The answer; `None` where it is the golden one, bit for bit, or where the target was not asked.
    pub answer: Result<Option<Response>, TargetError>,
    /// Why the trial says nothing, whatever was answered.
    pub skipped: Option<Reason>,
    /// Where a model fault landed.
    pub site: Option<Site>,
    /// The changed image that the target was shown; `None` for faults inside a model.
    pub shown: Option<Box<ShownImage>>,
    /// Queries and time.
    pub cost: Cost,
    /// What the kind of fault measures itself; what follows from the answer is added when the trial
    /// is recorded.
    pub measures: Measures,
}

/// A changed image, and what follows from the change.
pub struct ShownImage {
    /// The image.
    pub image: Image,
    /// The name of the fault in it.
    pub fault: &'static str,
    /// How much people notice of the change, where that was measured.
    pub visual_change: Option<f64>,
    /// The answer that is expected instead of the golden one: things have moved or left the scene,
    /// or the target sees the image at another size.
    pub expected: Option<Response>,
    /// Where the fault has moved what stands in the image.
    pub motion: Option<Motion>,
    /// The box of what came into the scene or went out of it.
    pub touched: Option<Bounds>,
    /// What was found of that object, which is no part of the answer.
    pub touched_found: Vec<Detection>,
}

impl Observation {
    /// An answer, after one query.
    pub fn answered(answer: Result<Option<Response>, TargetError>) -> Self {
        Self {
            answer,
            skipped: None,
            site: None,
            shown: None,
            cost: Cost { queries: 1, micros: 0 },
            measures: Measures::default(),
        }
    }

    /// A trial that ended before the target was asked.
    pub fn skipped(reason: Reason) -> Self {
        Self { skipped: Some(reason), cost: Cost::default(), ..Self::answered(Ok(None)) }
    }

    /// The changed image, where there is one.
    pub fn image(&self) -> Option<&Image> {
        self.shown.as_ref().map(|shown| &shown.image)
    }

    /// The answer that is expected instead of the golden one, where that is another.
    pub fn expected(&self) -> Option<&Response> {
        self.shown.as_ref()?.expected.as_ref()
    }
}

impl ShownImage {
    /// An image under a fault that leaves everything where it stands.
    pub fn new(image: Image, fault: &'static str, visual_change: Option<f64>) -> Self {
        Self {
            image,
            fault,
            visual_change,
            expected: None,
            motion: None,
            touched: None,
            touched_found: Vec::new(),
        }
    }
}
