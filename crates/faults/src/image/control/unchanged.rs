//! No fault.

use crate::doc::described;
use crate::image::facts::Facts;
use crate::image::fault::Fault;
use faultlens_core::{Image, ImageFault, SettingError, Settings, Stream};

described! {
    /// # What it does
    /// Changes nothing, as a control for targets whose answers vary on their own.
    /// # When it happens
    /// To measure how repeatable a target is, a service above all. The failure rate under this
    /// control is contained in the rate under every other fault.
    pub struct Unchanged;
}

impl Fault for Unchanged {
    const FACTS: Facts = Facts { name: "unchanged", doc: Self::DOC, ..Facts::DEFAULT };

    fn build(_settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self)
    }
}

impl ImageFault for Unchanged {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        image.clone()
    }

    fn draws(&self) -> bool {
        false
    }
}
