//! Google's application default credentials: where its own tools keep keys and tokens.

use super::super::endpoint::Endpoint;
use super::super::error::ServiceError;
use super::super::spec::ServiceSpec;
use super::environment::{Environment, read};
use super::google_token::{GoogleAccount, GoogleToken};
use super::headers::Headers;
use super::rehearsal::{DUMMY_KEY, is_rehearsal};
use super::secret::Credential;

const KEY: &str = "x-goog-api-key";

/// The key, the token or the account in the environment; in a rehearsal, a dummy.
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
        return Ok(Box::new(Headers::one(KEY, DUMMY_KEY)));
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
    if let Some(path) = &path {
        if let Some(text) = read(path)? {
            let account = GoogleAccount::parse(&text)
                .map_err(|why| ServiceError::Credentials(format!("{why}: {}", path.display())))?;
            return Ok(Box::new(GoogleToken::new(account)));
        }
        if environment.get(VARIABLE).is_some() {
            let path = path.display();
            let why = format!("{VARIABLE} names a file that does not exist: {path}");
            return Err(ServiceError::Credentials(why));
        }
    }
    Err(ServiceError::Credentials(format!(
        "no key for Google: set GOOGLE_API_KEY, GOOGLE_OAUTH_ACCESS_TOKEN or {VARIABLE}, or run \
         `gcloud auth application-default login`"
    )))
}
