//! One file per parametric model.

mod exponential;
mod generalised_gamma;
mod log_logistic;
mod log_normal;
mod weibull;

pub use exponential::Exponential;
pub use generalised_gamma::GeneralisedGamma;
pub use log_logistic::LogLogistic;
pub use log_normal::LogNormal;
pub use weibull::Weibull;
