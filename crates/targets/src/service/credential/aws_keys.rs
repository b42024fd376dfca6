//! Keys and regions, from where Amazon's own tools keep them.

use super::super::error::ServiceError;
use super::super::spec::ServiceSpec;
use super::environment::{Environment, read};
use super::rehearsal::DUMMY_KEY;
use super::secret::Secret;
use super::sigv4::Keys;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What a profile may hold instead of keys; Amazon's own command turns it into keys.
const INDIRECT: &[&str] = &["sso_session", "sso_start_url", "role_arn", "credential_process"];

/// The keys to sign with: of the profile that the spec names, else from the environment, else of
/// the profile that the environment names. In a rehearsal without a profile, dummies.
pub(crate) fn keys(
    spec: &ServiceSpec,
    environment: &Environment,
    rehearsal: bool,
) -> Result<Keys, ServiceError> {
    if rehearsal && spec.profile.is_none() {
        let dummy = Secret::new(DUMMY_KEY);
        return Ok(Keys { id: dummy.clone(), secret: dummy, token: None });
    }
    if spec.profile.is_none() {
        let found = keys_of(
            environment.get("AWS_ACCESS_KEY_ID"),
            environment.get("AWS_SECRET_ACCESS_KEY"),
            environment.get("AWS_SESSION_TOKEN"),
        );
        if let Some(keys) = found {
            return Ok(keys);
        }
    }
    let profile = profile(spec, environment);
    let path = environment.path("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials");
    let own = section(path, &profile)?;
    let config = section(config_path(environment), &config_section(&profile))?;
    for entries in [&own, &config] {
        let entry = |name: &str| entries.get(name).map(String::as_str);
        let found = keys_of(
            entry("aws_access_key_id"),
            entry("aws_secret_access_key"),
            entry("aws_session_token"),
        );
        if let Some(keys) = found {
            return Ok(keys);
        }
    }
    let mut indirect = INDIRECT.iter();
    let indirect = indirect.find(|name| own.contains_key(**name) || config.contains_key(**name));
    Err(ServiceError::Credentials(match indirect {
        Some(how) => format!(
            "the profile {profile:?} has {how} instead of keys: run `aws configure \
             export-credentials --profile {profile} --format env` and set the variables it prints"
        ),
        None => format!(
            "no keys for Amazon: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the \
             profile {profile:?} of ~/.aws/credentials both"
        ),
    }))
}

/// The region: the spec's, the environment's, or the profile's; in a rehearsal any will do.
pub(crate) fn region(
    spec: &ServiceSpec,
    environment: &Environment,
    rehearsal: bool,
) -> Result<String, ServiceError> {
    let variable = environment.first(&["AWS_REGION", "AWS_DEFAULT_REGION"]);
    let region = match spec.region.as_deref().or(variable) {
        Some(region) => Some(region.to_owned()),
        None if rehearsal => Some("us-east-1".to_owned()),
        None => {
            let section_name = config_section(&profile(spec, environment));
            section(config_path(environment), &section_name)?.remove("region")
        }
    };
    let missing = "no region for Amazon: set region, or AWS_REGION";
    let region = region.ok_or_else(|| ServiceError::Credentials(missing.to_owned()))?;
    // It becomes part of a host name, so that nothing else may slip in.
    if region.is_empty() || !region.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
        let why = format!("region {region:?} is not a region such as us-east-1");
        return Err(ServiceError::Setting(why));
    }
    Ok(region)
}

fn keys_of(id: Option<&str>, secret: Option<&str>, token: Option<&str>) -> Option<Keys> {
    let token = token.map(Secret::new);
    Some(Keys { id: Secret::new(id?), secret: Secret::new(secret?), token })
}

fn profile(spec: &ServiceSpec, environment: &Environment) -> String {
    let named = spec.profile.as_deref().or_else(|| environment.get("AWS_PROFILE"));
    named.unwrap_or("default").to_owned()
}

/// The section of a profile in `~/.aws/config`, which has a word before it that
/// `~/.aws/credentials` has not.
fn config_section(profile: &str) -> String {
    if profile == "default" { profile.to_owned() } else { format!("profile {profile}") }
}

fn config_path(environment: &Environment) -> Option<PathBuf> {
    environment.path("AWS_CONFIG_FILE", ".aws/config")
}

/// The entries of one section of an INI file; none where there is no such file or section.
fn section(path: Option<PathBuf>, wanted: &str) -> Result<BTreeMap<String, String>, ServiceError> {
    let text = path.map_or(Ok(None), |path| read(&path))?.unwrap_or_default();
    let mut entries = BTreeMap::new();
    let mut inside = false;
    for line in text.trim_start_matches('\u{feff}').lines() {
        let line = line.trim();
        match line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            Some((name, _)) => inside = name.trim() == wanted,
            None if inside && !line.starts_with(['#', ';']) => {
                if let Some((name, value)) = line.split_once('=') {
                    entries.insert(name.trim().to_ascii_lowercase(), value.trim().to_owned());
                }
            }
            None => {}
        }
    }
    entries.retain(|_, value| !value.is_empty());
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const CREDENTIALS: &str = "[default]\naws_access_key_id = ID0\naws_secret_access_key=S0\n\
        # a note\n[ci]\nAWS_ACCESS_KEY_ID=ID1\naws_secret_access_key = S1=\n\
        aws_session_token = T1\n[half]\naws_access_key_id=ID2\n";
    const CONFIG: &str = "[default]\nregion = eu-west-1\n[profile ci]\nregion=eu-north-1\n\
        [profile sso]\nsso_session = work\n";

    fn spec(profile: Option<&str>) -> ServiceSpec {
        let mut spec = ServiceSpec::new("rekognition");
        spec.profile = profile.map(str::to_owned);
        spec
    }

    fn home() -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join(".aws")).unwrap();
        fs::write(home.path().join(".aws/credentials"), CREDENTIALS).unwrap();
        fs::write(home.path().join(".aws/config"), CONFIG).unwrap();
        home
    }

    fn shown(keys: &Keys) -> (&str, &str, Option<&str>) {
        let token = keys.token.as_ref().map(|token| token.reveal());
        (keys.id.reveal(), keys.secret.reveal(), token)
    }

    #[test]
    fn keys_come_from_the_usual_places_in_the_usual_order() {
        let home = home();
        let home = ("HOME", home.path().to_str().unwrap());
        let own = [("AWS_ACCESS_KEY_ID", "IDE"), ("AWS_SECRET_ACCESS_KEY", "SE"), home];
        let file = Environment::of([home]);
        let both = Environment::of(own);
        let named = Environment::of([home, ("AWS_PROFILE", "ci")]);
        let first = ("ID0", "S0", None);
        let ci = ("ID1", "S1=", Some("T1"));
        for (environment, profile, wanted) in [
            (&file, None, first),
            (&file, Some("ci"), ci),
            (&named, None, ci),
            (&both, None, ("IDE", "SE", None)),
            (&both, Some("ci"), ci),
        ] {
            let keys = keys(&spec(profile), environment, false).unwrap();
            assert_eq!(shown(&keys), wanted);
        }
        let variable = Environment::of([home, ("AWS_DEFAULT_REGION", "ap-south-1")]);
        for (environment, profile, wanted) in [
            (&file, None, "eu-west-1"),
            (&file, Some("ci"), "eu-north-1"),
            (&variable, None, "ap-south-1"),
        ] {
            assert_eq!(region(&spec(profile), environment, false).unwrap(), wanted);
        }
    }

    #[test]
    fn what_is_missing_is_said_and_no_secret_is() {
        let home = home();
        let home = Environment::of([("HOME", home.path().to_str().unwrap())]);
        for (environment, profile, wanted) in [
            (&Environment::default(), None, "set AWS_ACCESS_KEY_ID"),
            (&home, Some("half"), "the profile \"half\""),
            (&home, Some("sso"), "export-credentials --profile sso"),
        ] {
            let error = keys(&spec(profile), environment, false).unwrap_err().to_string();
            assert!(error.contains(wanted) && !error.contains("ID2"), "{error}");
        }
        let error = region(&spec(None), &Environment::default(), false).unwrap_err();
        assert!(error.to_string().contains("AWS_REGION"));
        let mut odd = spec(None);
        odd.region = Some("evil.example/".to_owned());
        assert!(region(&odd, &Environment::default(), false).is_err());
    }

    #[test]
    fn a_rehearsal_has_no_real_key() {
        let real = [("AWS_ACCESS_KEY_ID", "IDE"), ("AWS_SECRET_ACCESS_KEY", "SE")];
        let dummy = keys(&spec(None), &Environment::of(real), true).unwrap();
        assert_eq!(shown(&dummy), (DUMMY_KEY, DUMMY_KEY, None));
        assert!(!format!("{dummy:?}").contains(DUMMY_KEY));
    }
}
