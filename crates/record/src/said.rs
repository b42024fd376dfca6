//! What records say of trials in scenes.

/// What came or went.
pub const LABEL: &str = "object_label";
/// Which object of the pool came.
pub const OBJECT: &str = "object";
/// Where it stands or stood: left, top, right and bottom.
pub const BOX: &str = "object_box";
/// Where the thing stands that it was put beside.
pub const BESIDE: &str = "beside";
/// How many things the target finds in the undisturbed image.
pub const FOUND: &str = "objects_found";
/// How much of the undisturbed image's gradients the changed one has.
pub const NATURALNESS: &str = "naturalness";
/// How much of the way to its destination the object came, the answer still disturbed.
pub const MOVED: &str = "moved";
/// Every place on the way at which the answer was disturbed: left and top, the last one
/// furthest.
pub const MOVED_TO: &str = "moved_to";
/// The naturalness at the furthest place.
pub const MOVED_NATURALNESS: &str = "moved_naturalness";
