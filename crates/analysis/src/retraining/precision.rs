//! How good a detector is, in the numbers that papers report.

use serde::{Deserialize, Serialize};

/// Mean average precision over the classes, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Precision {
    /// COCO's: the mean over overlaps from 0.5 to 0.95.
    pub ap: f64,
    /// COCO's at an overlap of 0.5.
    pub ap50: f64,
    /// PASCAL VOC's since 2010, at an overlap of 0.5.
    pub voc: f64,
}

/// Which of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// [`Precision::ap`].
    Ap,
    /// [`Precision::ap50`].
    Ap50,
    /// [`Precision::voc`].
    Voc,
}

impl Metric {
    /// All of them, the one that is looked at first before the others.
    pub const ALL: [Self; 3] = [Self::Ap, Self::Ap50, Self::Voc];

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ap => "COCO AP",
            Self::Ap50 => "COCO AP50",
            Self::Voc => "VOC AP",
        }
    }

    /// Its number.
    pub fn of(self, precision: &Precision) -> f64 {
        match self {
            Self::Ap => precision.ap,
            Self::Ap50 => precision.ap50,
            Self::Voc => precision.voc,
        }
    }
}
