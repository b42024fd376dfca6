//! Rehearsals: a service that is played by this machine, which must not see real keys.

use super::super::endpoint::Endpoint;

/// The dummy that is sent instead of a key in a rehearsal, where any key will do.
pub(super) const DUMMY_KEY: &str = "rehearsal";

/// Whether an endpoint is on this machine and unencrypted, as `faultlens serve` is.
pub(in super::super) fn is_rehearsal(endpoint: &Endpoint) -> bool {
    endpoint.is_loopback() && endpoint.address().starts_with("http://")
}
