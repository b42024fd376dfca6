//! Credentials from the providers' usual places, and how requests are signed with them.

mod aws_keys;
mod azure;
mod environment;
mod google_default;
mod google_token;
mod headers;
mod rehearsal;
mod secret;
mod sigv4;

pub(super) use aws_keys::{keys as aws_keys, region as aws_region};
pub(super) use azure::{azure, default_endpoint as azure_endpoint};
pub use environment::Environment;
pub(super) use google_default::google;
pub use google_token::{GoogleAccount, GoogleToken, TokenExchange};
pub use headers::Headers;
pub(super) use rehearsal::is_rehearsal;
pub use secret::{Credential, Secret, Signed};
pub use sigv4::{Keys, SigV4};
