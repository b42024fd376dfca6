//! Where Google's own tools keep keys and tokens.

use super::super::endpoint::Endpoint;
use super::super::{ServiceError, ServiceSpec};
use super::environment::read;
use super::google::{GoogleToken, Grant};
use super::header::REHEARSAL;
use super::{Credential, Environment, Headers, is_rehearsal};

const KEY: &str = "x-goog-api-key";

/// The key, the token or the account of the environment; in a rehearsal, a key that means
/// nothing.
pub(crate) fn google(
    spec: &ServiceSpec,
    environment: &Environment,
    endpoint: &Endpoint,
) -> Result<Box<dyn Credential>, ServiceError> {
    if spec.profile.is_some() {
        let why = "google has no profiles: leave profile out";
        return Err(ServiceError::Setting(why.to_owned()));
    }
    if is_rehearsal(endpoint) {
        return Ok(Box::new(Headers::one(KEY, REHEARSAL)));
    }
    if let Some(key) = environment.get("GOOGLE_API_KEY") {
        return Ok(Box::new(Headers::one(KEY, key)));
    }
    if let Some(token) = environment.get("GOOGLE_OAUTH_ACCESS_TOKEN") {
        return Ok(Box::new(Headers::bearer(token)));
    }
    account(environment)
}

/// The account in the file that the environment names, or that Google's own command has written.
fn account(environment: &Environment) -> Result<Box<dyn Credential>, ServiceError> {
    const VARIABLE: &str = "GOOGLE_APPLICATION_CREDENTIALS";
    let path = environment.path(VARIABLE, ".config/gcloud/application_default_credentials.json");
    let text = path.as_deref().map_or(Ok(None), read)?;
    let wrong = |why: String| ServiceError::Credentials(why);
    match (text, path) {
        (Some(text), Some(path)) => {
            let grant = Grant::parse(&text);
            let grant = grant.map_err(|why| wrong(format!("{why}: {}", path.display())))?;
            Ok(Box::new(GoogleToken::new(grant)))
        }
        (None, Some(path)) if environment.get(VARIABLE).is_some() => {
            Err(wrong(format!("{VARIABLE} names a file that is not there: {}", path.display())))
        }
        _ => Err(wrong(format!(
            "no key for Google: set GOOGLE_API_KEY, GOOGLE_OAUTH_ACCESS_TOKEN or {VARIABLE}, or \
             run `gcloud auth application-default login`"
        ))),
    }
}
