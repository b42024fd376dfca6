//! The trait of wire formats: what a service is sent, and what its responses mean.

use super::message::{HttpResponse, Request};
use faultlens_core::{Image, Response, TargetError};

/// An image as it is sent.
#[derive(Debug, Clone, Copy)]
pub struct EncodedImage<'a> {
    /// The file.
    pub bytes: &'a [u8],
    /// Its media type, such as `image/png`.
    pub media_type: &'static str,
    /// The pixels that are in it.
    pub image: &'a Image,
}

/// A prediction that a service returned.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The prediction itself.
    pub response: Response,
    /// The version of the model that made it, where the service reports one.
    pub version: Option<String>,
}

/// Why an HTTP response is not a prediction. The variant decides what happens next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WireError {
    /// Too many calls. Retried, after as many seconds as the service asks for.
    Throttled(Option<u64>),
    /// An error inside the service. Retried.
    Unavailable(String),
    /// The service does not accept these credentials or this address, whatever is sent.
    /// No further call is made.
    Denied(String),
    /// The service does not accept this image. Counts as an answer.
    Rejected(String),
    /// The response cannot be understood. Counts as lost.
    Malformed(String),
}

/// A wire format. Both directions are pure functions, so that cached responses can be read again.
pub trait Wire: Send + Sync {
    /// The request that asks about an image; an error for one that the service would not accept.
    fn request(&self, image: &EncodedImage<'_>) -> Result<Request, TargetError>;

    /// The prediction in a response. Errors of the service are told apart from predictions here.
    fn read(&self, response: &HttpResponse, image: &Image) -> Result<Prediction, WireError>;
}
