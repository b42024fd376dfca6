//! Changed images beside the undisturbed one. What the undisturbed image needs for that is computed
//! once for all trials of the case.

use super::GoldenCase;
use faultlens_core::Image;
use faultlens_judge::visual::Reference;
use faultlens_judge::{HogSettings, hog, hog_intersection};
use faultlens_spec::change_of;
use std::cell::OnceCell;

/// The undisturbed image as comparisons need it, each part made at its first use; `None` for images
/// that cannot be compared.
#[derive(Default)]
pub(super) struct PreparedImage {
    /// For measures of visual change.
    reference: OnceCell<Option<Reference>>,
    /// The histogram of oriented gradients, for the naturalness of changed scenes.
    gradients: OnceCell<Option<Vec<f64>>>,
}

impl GoldenCase<'_> {
    /// The image prepared for visual comparisons; `None` where it cannot be compared.
    pub(crate) fn reference(&self) -> Option<&Reference> {
        self.prepared.reference.get_or_init(|| Reference::new(&self.case.image).ok()).as_ref()
    }

    /// How much people notice of the change from the undisturbed image to this one.
    pub(crate) fn visual_change(&self, image: &Image) -> Option<f64> {
        change_of(self.reference()?, image)
    }

    /// How natural an image looks beside the undisturbed one: the intersection of their histograms
    /// of oriented gradients. `None` for images that are too small.
    pub(crate) fn naturalness(&self, image: &Image) -> Option<f64> {
        let own = self.prepared.gradients.get_or_init(|| gradients(&self.case.image)).as_ref()?;
        hog_intersection(own, &gradients(image)?)
    }
}

fn gradients(image: &Image) -> Option<Vec<f64>> {
    hog(image, &HogSettings::default()).ok()
}
