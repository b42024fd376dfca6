//! What an object that came into a scene or went out of it did.

use super::number;
use faultlens_core::Bounds;
use serde::{Deserialize, Serialize};

/// How a trial changed what stands in the scene.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SceneChange {
    /// How many objects the target finds in the undisturbed image.
    pub objects_found: u64,
    /// The object that was inserted or removed; `None` where the trial was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<SceneObject>,
    /// How much of the undisturbed image's edges the changed image has: the intersection of their
    /// histograms of oriented gradients. `None` for images too small to have one.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "number::optional")]
    pub naturalness: Option<f64>,
    /// How far the object could be moved on; `None` where it was not moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relocation: Option<Relocation>,
}

/// An object that was inserted or removed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SceneObject {
    /// What it is.
    pub label: String,
    /// Its id in the object pool; `None` for an object that was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Where it stands or stood.
    #[serde(with = "number::bounds")]
    pub bounds: Bounds,
    /// The box of the object that it was put beside.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "number::optional_bounds")]
    pub beside: Option<Bounds>,
}

/// The way of an inserted object towards its destination, as far as the answer stays disturbed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Relocation {
    /// The share of the way that it came, 0 to 1.
    #[serde(with = "number::exact")]
    pub share: f64,
    /// Left and top of every place on the way at which the answer is disturbed; the last is the
    /// furthest.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "number::points")]
    pub places: Vec<[f32; 2]>,
    /// The naturalness at the furthest place.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "number::optional")]
    pub naturalness: Option<f64>,
}
