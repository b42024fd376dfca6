//! The images that a service accepts.

use super::super::definition::Service;
use super::super::wire_format::EncodedImage;
use faultlens_core::TargetError;

/// The images that a service accepts.
#[derive(Debug, Clone, Copy)]
pub(super) struct ImageLimits {
    pub(super) service: &'static str,
    pub(super) min_side: usize,
    pub(super) max_bytes: usize,
}

impl ImageLimits {
    /// Those of a service as it is listed.
    pub(super) fn of(service: &Service) -> Self {
        Self { service: service.name, min_side: service.min_side, max_bytes: service.max_bytes }
    }

    /// Rejects an image that the service would not accept, before it costs a call.
    pub(super) fn check(&self, encoded: &EncodedImage<'_>) -> Result<(), TargetError> {
        let Self { service, min_side, max_bytes } = *self;
        let width = encoded.image.width();
        let height = encoded.image.height();
        if width.min(height) < min_side {
            return Err(TargetError::Rejected(format!(
                "{service} takes images of {min_side} pixels a side and more, not {width}×{height}"
            )));
        }
        let bytes = encoded.bytes.len();
        if bytes > max_bytes {
            return Err(TargetError::Rejected(format!(
                "{service} takes files of up to {max_bytes} bytes, not {bytes}: set codec to jpeg, \
                 or shrink the images"
            )));
        }
        Ok(())
    }
}
