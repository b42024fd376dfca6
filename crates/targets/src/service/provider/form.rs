//! Multipart forms with an image in them (RFC 7578).

use super::super::wire_format::EncodedImage;
use crate::hex::hex;
use sha2::{Digest, Sha256};

/// The content type and the body of a form with the image in a field. The boundary is a hash of the
/// image, so that the same image makes the same request, and no image contains its own boundary.
pub(super) fn with_image(field: &str, encoded: &EncodedImage<'_>) -> (String, Vec<u8>) {
    let boundary = format!("faultlens-{}", hex(&Sha256::digest(encoded.bytes)));
    let extension = encoded.media_type.rsplit('/').next().unwrap_or("bin");
    let mut body = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"{field}\"; \
         filename=\"image.{extension}\"\r\nContent-Type: {}\r\n\r\n",
        encoded.media_type
    )
    .into_bytes();
    body.extend_from_slice(encoded.bytes);
    body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={boundary}"), body)
}
