//! OAuth 2.0 access tokens of Google, exchanged for the credentials of an account and kept until
//! they expire.
//!
//! Service accounts sign a JSON Web Token (RFC 7523, "JWT bearer grant"); people have a refresh
//! token (RFC 6749, section 6).

use super::super::message::Request;
use super::super::sync::lock;
use super::secret::{Credential, Secret, Signed};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const SCOPE: &str = "https://www.googleapis.com/auth/cloud-vision";
const DEFAULT_TOKEN_URI: &str = "https://oauth2.googleapis.com/token";
/// Seconds that a signed assertion is valid for: the most that Google accepts.
const ASSERTION_SECONDS: u64 = 3600;
/// A token that expires sooner is exchanged anew.
const MIN_LIFETIME: Duration = Duration::from_secs(60);
/// How long an exchange may take, and the longest response to one.
const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(30);
const MAX_BYTES: u64 = 1 << 20;

/// Posts a form to an address and returns the body of a success; an error message does not repeat
/// what was sent.
pub type TokenExchange = fn(&str, &[(&str, &str)]) -> Result<String, String>;

/// The credentials of an account, to be exchanged for tokens.
pub struct GoogleAccount {
    token_uri: String,
    kind: AccountKind,
}

enum AccountKind {
    /// A service account, with its private key.
    Service { email: String, key_id: Option<String>, key: Box<RsaKeyPair> },
    /// A person who has logged in before.
    User { id: String, secret: Secret, refresh_token: Secret },
}

impl fmt::Debug for GoogleAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GoogleAccount").field("token_uri", &self.token_uri).finish_non_exhaustive()
    }
}

/// The credentials file as Google writes it.
#[derive(Deserialize)]
struct AccountFile {
    r#type: String,
    client_email: Option<String>,
    private_key_id: Option<String>,
    private_key: Option<String>,
    token_uri: Option<String>,
    client_id: Option<String>,
    client_secret: Option<String>,
    refresh_token: Option<String>,
}

impl GoogleAccount {
    /// Reads a credentials file; error messages do not repeat its contents.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: AccountFile = serde_json::from_str(text)
            .map_err(|_| "the credentials are not the JSON of a Google account".to_owned())?;
        let token_uri = file.token_uri.unwrap_or_else(|| DEFAULT_TOKEN_URI.to_owned());
        if !token_uri.starts_with("https://") {
            return Err("token_uri of the credentials is not an https address".to_owned());
        }
        let kind = match file.r#type.as_str() {
            "service_account" => AccountKind::Service {
                email: required("client_email", file.client_email)?,
                key_id: file.private_key_id,
                key: Box::new(private_key(&required("private_key", file.private_key)?)?),
            },
            "authorized_user" => AccountKind::User {
                id: required("client_id", file.client_id)?,
                secret: Secret::new(required("client_secret", file.client_secret)?),
                refresh_token: Secret::new(required("refresh_token", file.refresh_token)?),
            },
            _ => {
                return Err("the credentials are neither a service_account nor an \
                            authorized_user: set GOOGLE_OAUTH_ACCESS_TOKEN to the output of \
                            `gcloud auth print-access-token`"
                    .to_owned());
            }
        };
        Ok(Self { token_uri, kind })
    }

    /// The response to an exchange of these credentials for a token.
    fn exchange(&self, exchange: TokenExchange, now: SystemTime) -> Result<String, String> {
        match &self.kind {
            AccountKind::Service { .. } => {
                let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
                let assertion = self.assertion(now)?;
                exchange(&self.token_uri, &[("grant_type", grant), ("assertion", &assertion)])
            }
            AccountKind::User { id, secret, refresh_token } => exchange(
                &self.token_uri,
                &[
                    ("grant_type", "refresh_token"),
                    ("client_id", id),
                    ("client_secret", secret.reveal()),
                    ("refresh_token", refresh_token.reveal()),
                ],
            ),
        }
    }

    /// The signed JSON Web Token of a service account (RFC 7523, section 2.1): header and claims in
    /// base64url, and their RS256 signature.
    fn assertion(&self, now: SystemTime) -> Result<String, String> {
        let AccountKind::Service { email, key_id, key } = &self.kind else {
            return Err("a person's account has no key".to_owned());
        };
        let seconds = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let header = base64url(&Header { alg: "RS256", typ: "JWT", kid: key_id.as_deref() })?;
        let claims = base64url(&Claims {
            iss: email,
            scope: SCOPE,
            aud: &self.token_uri,
            iat: seconds,
            exp: seconds + ASSERTION_SECONDS,
        })?;
        let text = format!("{header}.{claims}");
        let mut signature = vec![0; key.public().modulus_len()];
        let signed =
            key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature);
        signed.map_err(|_| "the account's key cannot sign".to_owned())?;
        Ok(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

/// The header of a JSON Web Token.
#[derive(Serialize)]
struct Header<'a> {
    alg: &'a str,
    typ: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kid: Option<&'a str>,
}

/// The claims of a JSON Web Token: who asks whom for what, from when until when.
#[derive(Serialize)]
struct Claims<'a> {
    iss: &'a str,
    scope: &'a str,
    aud: &'a str,
    iat: u64,
    exp: u64,
}

fn required(key: &str, value: Option<String>) -> Result<String, String> {
    value.ok_or_else(|| format!("the credentials lack {key}"))
}

fn base64url(part: &impl Serialize) -> Result<String, String> {
    let text = serde_json::to_string(part).map_err(|error| error.to_string())?;
    Ok(URL_SAFE_NO_PAD.encode(text))
}

/// The RSA key in a PEM text (PKCS #8).
fn private_key(pem: &str) -> Result<RsaKeyPair, String> {
    let body: String = pem.lines().map(str::trim).filter(|line| !line.starts_with('-')).collect();
    let bytes = STANDARD.decode(body).ok();
    let key = bytes.and_then(|bytes| RsaKeyPair::from_pkcs8(&bytes).ok());
    key.ok_or_else(|| "private_key of the credentials is not an RSA key in PEM".to_owned())
}

/// A bearer token that is exchanged anew before it expires.
pub struct GoogleToken {
    account: GoogleAccount,
    exchange: TokenExchange,
    /// The current token, and when it is to be replaced.
    current: Mutex<Option<(Secret, SystemTime)>>,
}

/// The response to a successful exchange.
#[derive(Deserialize)]
struct TokenResponse {
    access_token: String,
    expires_in: u64,
}

impl GoogleToken {
    /// Tokens for an account.
    pub fn new(account: GoogleAccount) -> Self {
        Self::exchanged_by(account, exchange_over_http)
    }

    /// Tokens that another function exchanges.
    pub fn exchanged_by(account: GoogleAccount, exchange: TokenExchange) -> Self {
        Self { account, exchange, current: Mutex::new(None) }
    }

    /// A token that is valid now. The lock is held during an exchange, so that one serves all
    /// threads.
    fn token(&self, now: SystemTime) -> Result<Secret, String> {
        let mut current = lock(&self.current);
        if let Some((token, until)) = current.as_ref()
            && *until > now
        {
            return Ok(token.clone());
        }
        let body = self.account.exchange(self.exchange, now)?;
        let response: TokenResponse = serde_json::from_str(&body)
            .map_err(|_| "Google's response contains no token".to_owned())?;
        let lifetime = Duration::from_secs(response.expires_in.min(ASSERTION_SECONDS));
        let token = Secret::new(response.access_token);
        *current = Some((token.clone(), now + lifetime.saturating_sub(MIN_LIFETIME)));
        Ok(token)
    }
}

impl Credential for GoogleToken {
    fn sign(&self, _: &Request, _: &str, now: SystemTime) -> Result<Signed, String> {
        let bearer = Secret::new(format!("Bearer {}", self.token(now)?.reveal()));
        Ok(Signed { headers: vec![("authorization".to_owned(), bearer)], query: None })
    }
}

/// Exchanges over HTTP. Redirects are not followed: they would carry the credentials elsewhere.
fn exchange_over_http(token_uri: &str, form: &[(&str, &str)]) -> Result<String, String> {
    let settings = ureq::Agent::config_builder()
        .timeout_global(Some(EXCHANGE_TIMEOUT))
        .max_redirects(0)
        .http_status_as_error(false)
        .build();
    let agent = ureq::Agent::new_with_config(settings);
    let failed = |error: ureq::Error| format!("cannot get a token from {token_uri}: {error}");
    let mut response = agent.post(token_uri).send_form(form.iter().copied()).map_err(failed)?;
    let body = response.body_mut().with_config().limit(MAX_BYTES).read_to_string();
    let body = body.map_err(failed)?;
    match response.status().as_u16() {
        200 => Ok(body),
        status => Err(refused(status, &body)),
    }
}

/// An error response (RFC 6749, section 5.2).
#[derive(Deserialize, Default)]
#[serde(default)]
struct ErrorResponse {
    error: String,
    error_description: String,
}

fn refused(status: u16, body: &str) -> String {
    let response: ErrorResponse = serde_json::from_str(body).unwrap_or_default();
    let error = response.error;
    let hint = if error == "invalid_grant" {
        "; the account's key or login is no longer valid, or this machine's clock is wrong: log in \
         again, or correct the clock"
    } else {
        ""
    };
    let description = response.error_description.chars().filter(|c| !c.is_control());
    let description: String = description.take(200).collect();
    format!("Google gives no token, HTTP {status} {error} {description}{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;

    /// Made by `google_word.py` beside them, with OpenSSL.
    const ACCOUNT: &str = include_str!("../../../tests/fixtures/google_account.json");
    const ASSERTION: &str = include_str!("../../../tests/fixtures/google_word.txt");

    const USER: &str = r#"{"type": "authorized_user", "client_id": "id",
        "client_secret": "hunter2", "refresh_token": "r3fresh"}"#;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn an_account_signs_as_openssl_does() {
        let account = GoogleAccount::parse(ACCOUNT).unwrap();
        assert_eq!(account.assertion(at(1_700_000_000)).unwrap(), ASSERTION);
    }

    #[test]
    fn a_token_is_kept_until_a_minute_before_its_end() {
        static CALLS: AtomicU64 = AtomicU64::new(0);
        fn exchange(token_uri: &str, form: &[(&str, &str)]) -> Result<String, String> {
            assert_eq!((token_uri, form.len()), (DEFAULT_TOKEN_URI, 4));
            assert!(form.contains(&("refresh_token", "r3fresh")));
            let call = CALLS.fetch_add(1, Ordering::Relaxed);
            Ok(format!(r#"{{"access_token": "t{call}", "expires_in": 600}}"#))
        }
        let tokens = GoogleToken::exchanged_by(GoogleAccount::parse(USER).unwrap(), exchange);
        for (seconds, wanted) in [(0, "t0"), (539, "t0"), (540, "t1"), (1079, "t1"), (1081, "t2")] {
            let token = tokens.token(at(1_700_000_000 + seconds)).unwrap();
            assert_eq!(token.reveal(), wanted, "after {seconds} s");
        }
    }

    /// What an exchange makes of a response over a real connection.
    fn exchanged(response: &'static str) -> Result<String, String> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let token_uri = format!("http://{}/token", listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            let mut buffer = [0; 1024];
            while !request.ends_with(b"assertion=a%2Bb") {
                let count = stream.read(&mut buffer).unwrap();
                request.extend_from_slice(&buffer[..count]);
            }
            stream.write_all(response.as_bytes()).unwrap();
        });
        let exchanged =
            exchange_over_http(&token_uri, &[("grant_type", "g"), ("assertion", "a+b")]);
        server.join().unwrap();
        exchanged
    }

    #[test]
    fn an_exchange_sends_a_form_and_follows_no_redirect() {
        let token = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
        assert_eq!(exchanged(token), Ok("{}".to_owned()));
        let redirect =
            "HTTP/1.1 307 Go\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n";
        let error = exchanged(redirect).unwrap_err();
        assert!(error.contains("HTTP 307"), "{error}");
        let error = exchanged("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}").unwrap_err();
        assert!(error.contains("cannot get a token"), "{error}");
    }

    #[test]
    fn errors_are_reported_without_secrets() {
        let account = GoogleAccount::parse(USER).unwrap();
        let tokens = GoogleToken::exchanged_by(account, |_, _| Ok("<html>".to_owned()));
        assert!(tokens.token(at(0)).unwrap_err().contains("no token"));
        let elsewhere = USER.replace('{', r#"{"token_uri": "http://evil.example", "#);
        let external = r#"{"type": "external_account"}"#.to_owned();
        let no_key = ACCOUNT.replace("BEGIN", "").replace("MII", "hunter2");
        for text in [elsewhere, external, no_key, "hunter2".to_owned(), "{}".to_owned()] {
            let error = GoogleAccount::parse(&text).unwrap_err();
            assert!(!error.contains("hunter2"), "{error}");
        }
        assert!(!format!("{:?}", GoogleAccount::parse(USER).unwrap()).contains("hunter2"));
        let stale = refused(400, r#"{"error": "invalid_grant", "error_description": "Bad"}"#);
        assert!(stale.contains("log in again"), "{stale}");
    }
}
