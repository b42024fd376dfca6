//! Every wire format over real HTTP, good requests and bad ones.
#![expect(clippy::unwrap_used, reason = "tests")]

mod azure;
mod google;
mod ibm;
mod kserve;
mod manners;
mod rekognition;
mod serving;
