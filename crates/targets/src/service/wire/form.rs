//! Forms with a file in them.

use super::Picture;
use sha2::{Digest, Sha256};

/// A form with the picture in a field: the value of its content type, and its body. What divides
/// the parts follows from the picture, so that the same one makes the same request.
pub(super) fn with_picture(field: &str, picture: &Picture<'_>) -> (String, Vec<u8>) {
    let hash = Sha256::digest(picture.bytes);
    let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let boundary = format!("faultlens-{digits}");
    let ending = picture.media.rsplit('/').next().unwrap_or("bin");
    let mut body = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"{field}\"; \
         filename=\"image.{ending}\"\r\nContent-Type: {}\r\n\r\n",
        picture.media
    )
    .into_bytes();
    body.extend_from_slice(picture.bytes);
    body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={boundary}"), body)
}
