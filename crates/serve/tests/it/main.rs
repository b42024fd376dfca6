//! Every wire format over real HTTP, valid requests and invalid ones; misbehaviour; the server itself.
#![expect(clippy::unwrap_used, reason = "tests")]

mod azure;
mod google;
mod ibm;
mod kserve;
mod misbehaviour;
mod rekognition;
mod running_server;
mod server;
