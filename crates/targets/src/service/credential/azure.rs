//! Keys of Azure AI services.

use super::super::endpoint::Endpoint;
use super::super::error::ServiceError;
use super::super::spec::ServiceSpec;
use super::super::task::Task;
use super::environment::Environment;
use super::headers::Headers;
use super::rehearsal::{DUMMY_KEY, is_rehearsal};
use super::secret::Credential;

const KEY: &str = "ocp-apim-subscription-key";

/// The variables of the keys and addresses of vision, and of faces.
const VISION: [&[&str]; 2] =
    [&["AZURE_VISION_KEY", "VISION_KEY"], &["AZURE_VISION_ENDPOINT", "VISION_ENDPOINT"]];
const FACE: [&[&str]; 2] =
    [&["AZURE_FACE_KEY", "FACE_APIKEY", "FACE_KEY"], &["AZURE_FACE_ENDPOINT", "FACE_ENDPOINT"]];

fn variables(task: Task) -> [&'static [&'static str]; 2] {
    if task == Task::Faces { FACE } else { VISION }
}

/// The endpoint in the environment: every account has its own.
pub(crate) fn default_endpoint(task: Task, environment: &Environment) -> Option<String> {
    environment.first(variables(task)[1]).map(str::to_owned)
}

/// The key or the token in the environment; in a rehearsal, a dummy.
pub(crate) fn azure(
    spec: &ServiceSpec,
    task: Task,
    environment: &Environment,
    endpoint: &Endpoint,
) -> Result<Box<dyn Credential>, ServiceError> {
    if spec.profile.is_some() {
        let why = "azure has no profiles: leave profile out";
        return Err(ServiceError::Setting(why.to_owned()));
    }
    if is_rehearsal(endpoint) {
        return Ok(Box::new(Headers::one(KEY, DUMMY_KEY)));
    }
    let [keys, _] = variables(task);
    if let Some(key) = environment.first(keys) {
        return Ok(Box::new(Headers::one(KEY, key)));
    }
    if let Some(token) = environment.get("AZURE_ACCESS_TOKEN") {
        return Ok(Box::new(Headers::bearer(token)));
    }
    let why = format!("no key for Azure: set {}, or AZURE_ACCESS_TOKEN", keys.join(" or "));
    Err(ServiceError::Credentials(why))
}
