//! A model behind a service's wire format, as users type it.

use std::net::IpAddr;
use std::path::PathBuf;

use faultlens::serve::{Format, Misbehaviour, MisbehaviourError, UnknownFormat};

use super::at_least_one;

/// Serve an ONNX model behind the API of a vision service, to rehearse campaigns
///
/// Responses have the provider's format, limits and errors, so that the provider's own clients
/// accept them. The server can misbehave on purpose: throttle, fail, hang up, truncate responses,
/// drift.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  faultlens serve model.onnx --as rekognition
  faultlens serve world:detector --as google --port 0 --key secret
  faultlens serve world:signs-deep --as azure --misbehave throttle=0.1,error=0.05,drop=0.02
Formats:  azure, google, ibm, kserve, rekognition
Misbehaviour:  shares of calls for throttle, error, drop, truncate, nonsense or stall (never
  answered), such as drop=0.02; latency=20ms..80ms; drift=200, the call from which another model
  seems to answer. Counts of calls: GET /faultlens/account")]
pub(crate) struct ServeArgs {
    /// The model, an ONNX file or world:NAME
    pub(crate) model: PathBuf,
    /// The wire format: azure, google, ibm, kserve or rekognition
    #[arg(long = "as", value_name = "FORMAT", value_parser = format)]
    pub(crate) format: &'static Format,
    /// The address to listen on; whoever can reach it can query the model
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) host: IpAddr,
    /// The port; 0 takes any free one
    #[arg(long, value_name = "N", default_value_t = 8080)]
    pub(crate) port: u16,
    /// How many calls are computed at the same time [default: all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) threads: Option<usize>,
    /// How images become the model's input, and what its output means, as for `ask`
    #[arg(long, value_name = "FILE.yaml")]
    pub(crate) input: Option<PathBuf>,
    /// Names of the classes, as for `ask`
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
    /// Require this key (ACCESS_KEY_ID:SECRET for rekognition); can be repeated
    #[arg(long, value_name = "SECRET")]
    pub(crate) key: Vec<String>,
    /// How to misbehave, such as throttle=0.1,drop=0.02,latency=20ms..80ms
    #[arg(long, value_name = "WHAT=HOW,…", value_parser = misbehaviour)]
    pub(crate) misbehave: Option<Misbehaviour>,
    /// The seed of the misbehaviour
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Write a line to standard error for every call
    #[arg(long)]
    pub(crate) log: bool,
    /// Print one JSON object when it listens: {"address", "format", "model", "version"}; and one
    /// when it ends: {"calls"}
    #[arg(long)]
    pub(crate) json: bool,
}

fn format(name: &str) -> Result<&'static Format, UnknownFormat> {
    Format::find(name)
}

fn misbehaviour(text: &str) -> Result<Misbehaviour, MisbehaviourError> {
    text.parse()
}
