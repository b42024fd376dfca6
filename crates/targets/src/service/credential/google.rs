//! Tokens of Google, exchanged for what an account's file holds and kept while they last.

use super::super::wire::Request;
use super::{Credential, Secret, Signed};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const SCOPE: &str = "https://www.googleapis.com/auth/cloud-vision";
const USUAL_PLACE: &str = "https://oauth2.googleapis.com/token";
/// Seconds that an account's own word is good for.
const WORD_LASTS: u64 = 3600;
/// A token that has less left is not sent any more.
const LEAST_LEFT: Duration = Duration::from_secs(60);
/// Seconds until an exchange counts as not answered, and the longest answer to one.
const PATIENCE: Duration = Duration::from_secs(30);
const MOST_BYTES: u64 = 1 << 20;

/// Sends a form to an address and hands back the body of a success; an error says what went
/// wrong without what was sent.
pub type Exchange = fn(&str, &[(&str, &str)]) -> Result<String, String>;

/// What an account's file holds, to be exchanged for tokens.
pub struct Grant {
    place: String,
    kind: Kind,
}

enum Kind {
    /// An account of a service speaks for itself, with its key.
    Service { email: String, key_id: Option<String>, key: Box<RsaKeyPair> },
    /// A person has spoken before.
    Person { id: String, secret: Secret, refresh: Secret },
}

impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grant").field("place", &self.place).finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct Written {
    r#type: String,
    client_email: Option<String>,
    private_key_id: Option<String>,
    private_key: Option<String>,
    token_uri: Option<String>,
    client_id: Option<String>,
    client_secret: Option<String>,
    refresh_token: Option<String>,
}

impl Grant {
    /// Reads an account's file; what is wrong is said without what it holds.
    pub fn parse(text: &str) -> Result<Self, String> {
        let unread = |_| "the credentials are no JSON of a Google account".to_owned();
        let written: Written = serde_json::from_str(text).map_err(unread)?;
        let place = written.token_uri.unwrap_or_else(|| USUAL_PLACE.to_owned());
        if !place.starts_with("https://") {
            return Err("token_uri of the credentials is no https address".to_owned());
        }
        let missing = |key: &str| format!("the credentials lack {key}");
        let kind = match written.r#type.as_str() {
            "service_account" => Kind::Service {
                email: written.client_email.ok_or_else(|| missing("client_email"))?,
                key_id: written.private_key_id,
                key: Box::new(key(&written.private_key.ok_or_else(|| missing("private_key"))?)?),
            },
            "authorized_user" => Kind::Person {
                id: written.client_id.ok_or_else(|| missing("client_id"))?,
                secret: Secret::new(written.client_secret.ok_or_else(|| missing("client_secret"))?),
                refresh: Secret::new(
                    written.refresh_token.ok_or_else(|| missing("refresh_token"))?,
                ),
            },
            _ => {
                return Err("the credentials are neither a service_account nor an \
                            authorized_user: set GOOGLE_OAUTH_ACCESS_TOKEN to the output of \
                            `gcloud auth print-access-token`"
                    .to_owned());
            }
        };
        Ok(Self { place, kind })
    }

    fn exchanged(&self, exchange: Exchange, now: SystemTime) -> Result<String, String> {
        match &self.kind {
            Kind::Service { .. } => {
                let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
                let word = self.word(now)?;
                exchange(&self.place, &[("grant_type", grant), ("assertion", &word)])
            }
            Kind::Person { id, secret, refresh } => exchange(
                &self.place,
                &[
                    ("grant_type", "refresh_token"),
                    ("client_id", id),
                    ("client_secret", secret.reveal()),
                    ("refresh_token", refresh.reveal()),
                ],
            ),
        }
    }

    /// The signed word of an account of a service, as RFC 7523 has it.
    fn word(&self, now: SystemTime) -> Result<String, String> {
        let Kind::Service { email, key_id, key } = &self.kind else {
            return Err("a person's account has no key".to_owned());
        };
        let seconds = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let head = Head { alg: "RS256", typ: "JWT", kid: key_id.as_deref() };
        let claims = Claims {
            iss: email,
            scope: SCOPE,
            aud: &self.place,
            iat: seconds,
            exp: seconds + WORD_LASTS,
        };
        let (head, claims) = (encoded(&head)?, encoded(&claims)?);
        let text = format!("{head}.{claims}");
        let mut signature = vec![0; key.public().modulus_len()];
        let signed =
            key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature);
        signed.map_err(|_| "the account's key cannot sign".to_owned())?;
        Ok(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

/// What says how a word is signed.
#[derive(Serialize)]
struct Head<'a> {
    alg: &'a str,
    typ: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kid: Option<&'a str>,
}

/// What a word says: who asks whom for what, from when until when.
#[derive(Serialize)]
struct Claims<'a> {
    iss: &'a str,
    scope: &'a str,
    aud: &'a str,
    iat: u64,
    exp: u64,
}

fn encoded(part: &impl Serialize) -> Result<String, String> {
    let text = serde_json::to_string(part);
    text.map(|text| URL_SAFE_NO_PAD.encode(text)).map_err(|error| error.to_string())
}

/// The key in a PEM text.
fn key(pem: &str) -> Result<RsaKeyPair, String> {
    let unread = || "private_key of the credentials is no RSA key in PEM".to_owned();
    let body: String = pem.lines().map(str::trim).filter(|line| !line.starts_with('-')).collect();
    let bytes = STANDARD.decode(body).map_err(|_| unread())?;
    RsaKeyPair::from_pkcs8(&bytes).map_err(|_| unread())
}

/// A bearer's token that is exchanged anew before it expires.
pub struct GoogleToken {
    grant: Grant,
    exchange: Exchange,
    kept: Mutex<Option<(Secret, SystemTime)>>,
}

#[derive(Deserialize)]
struct Token {
    access_token: String,
    expires_in: u64,
}

impl GoogleToken {
    /// Tokens for this account.
    pub fn new(grant: Grant) -> Self {
        Self::exchanged_by(grant, over_http)
    }

    /// The same, exchanged in another way.
    pub fn exchanged_by(grant: Grant, exchange: Exchange) -> Self {
        Self { grant, exchange, kept: Mutex::new(None) }
    }

    /// The token that is good now. Who comes second waits, so that one exchange serves all.
    fn token(&self, now: SystemTime) -> Result<Secret, String> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((token, until)) = kept.as_ref()
            && *until > now
        {
            return Ok(token.clone());
        }
        let body = self.grant.exchanged(self.exchange, now)?;
        let unread = |_| "Google's answer holds no token".to_owned();
        let Token { access_token, expires_in } = serde_json::from_str(&body).map_err(unread)?;
        let lasts = Duration::from_secs(expires_in.min(WORD_LASTS)).saturating_sub(LEAST_LEFT);
        let token = Secret::new(access_token);
        *kept = Some((token.clone(), now + lasts));
        Ok(token)
    }
}

impl Credential for GoogleToken {
    fn sign(&self, _: &Request, _: &str, now: SystemTime) -> Result<Signed, String> {
        let bearer = Secret::new(format!("Bearer {}", self.token(now)?.reveal()));
        Ok(Signed { headers: vec![("authorization".to_owned(), bearer)], query: None })
    }
}

/// Exchanges over HTTP, without following anybody elsewhere.
fn over_http(place: &str, form: &[(&str, &str)]) -> Result<String, String> {
    let settings = ureq::Agent::config_builder()
        .timeout_global(Some(PATIENCE))
        .max_redirects(0)
        .http_status_as_error(false)
        .build();
    let agent = ureq::Agent::new_with_config(settings);
    let failed = |error: ureq::Error| format!("cannot get a token from {place}: {error}");
    let mut answer = agent.post(place).send_form(form.iter().copied()).map_err(failed)?;
    let status = answer.status().as_u16();
    let body =
        answer.body_mut().with_config().limit(MOST_BYTES).read_to_string().map_err(failed)?;
    match status {
        200 => Ok(body),
        _ => Err(refused(status, &body)),
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Refusal {
    error: String,
    error_description: String,
}

fn refused(status: u16, body: &str) -> String {
    let Refusal { error, error_description } = serde_json::from_str(body).unwrap_or_default();
    let why = match error.as_str() {
        "invalid_grant" => {
            "; the account's key or login is no longer good, or this machine's \
                            clock is wrong: log in again, or set the clock"
        }
        _ => "",
    };
    let words: String = error_description.chars().filter(|c| !c.is_control()).take(200).collect();
    format!("Google gives no token, HTTP {status} {error} {words}{why}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;

    /// Made by `google_word.py` beside them, with OpenSSL.
    const ACCOUNT: &str = include_str!("../../../tests/wires/fixtures/google_account.json");
    const WORD: &str = include_str!("../../../tests/wires/fixtures/google_word.txt");

    const PERSON: &str = r#"{"type": "authorized_user", "client_id": "id",
        "client_secret": "hunter2", "refresh_token": "r3fresh"}"#;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn an_account_signs_as_openssl_does() {
        assert_eq!(Grant::parse(ACCOUNT).unwrap().word(at(1_700_000_000)).unwrap(), WORD);
    }

    #[test]
    fn a_token_is_kept_until_a_minute_before_its_end() {
        static CALLS: AtomicU64 = AtomicU64::new(0);
        fn exchange(place: &str, form: &[(&str, &str)]) -> Result<String, String> {
            assert_eq!((place, form.len()), (USUAL_PLACE, 4));
            assert!(form.contains(&("refresh_token", "r3fresh")));
            let call = CALLS.fetch_add(1, Ordering::Relaxed);
            Ok(format!(r#"{{"access_token": "t{call}", "expires_in": 600}}"#))
        }
        let tokens = GoogleToken::exchanged_by(Grant::parse(PERSON).unwrap(), exchange);
        for (seconds, wanted) in [(0, "t0"), (539, "t0"), (540, "t1"), (1079, "t1"), (1081, "t2")] {
            let token = tokens.token(at(1_700_000_000 + seconds)).unwrap();
            assert_eq!(token.reveal(), wanted, "after {seconds} s");
        }
    }

    /// What an exchange makes of an answer over a real connection.
    fn exchanged(answer: &'static str) -> Result<String, String> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = format!("http://{}/token", listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let (mut asked, mut part) = (Vec::new(), [0; 1024]);
            while !asked.ends_with(b"assertion=a%2Bb") {
                let count = stream.read(&mut part).unwrap();
                asked.extend_from_slice(&part[..count]);
            }
            stream.write_all(answer.as_bytes()).unwrap();
        });
        let exchanged = over_http(&place, &[("grant_type", "g"), ("assertion", "a+b")]);
        server.join().unwrap();
        exchanged
    }

    #[test]
    fn an_exchange_sends_a_form_and_follows_nobody() {
        let token = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
        assert_eq!(exchanged(token), Ok("{}".to_owned()));
        let on = "HTTP/1.1 307 Go\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n";
        let error = exchanged(on).unwrap_err();
        assert!(error.contains("HTTP 307"), "{error}");
        let error = exchanged("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}").unwrap_err();
        assert!(error.contains("cannot get a token"), "{error}");
    }

    #[test]
    fn what_is_wrong_is_said_without_secrets() {
        let nothing = |_: &str, _: &[(&str, &str)]| Ok("<html>".to_owned());
        let tokens = GoogleToken::exchanged_by(Grant::parse(PERSON).unwrap(), nothing);
        assert!(tokens.token(at(0)).unwrap_err().contains("no token"));
        let elsewhere = PERSON.replace('{', r#"{"token_uri": "http://evil.example", "#);
        let external = r#"{"type": "external_account"}"#.to_owned();
        let no_key = ACCOUNT.replace("BEGIN", "").replace("MII", "hunter2");
        for text in [elsewhere, external, no_key, "hunter2".to_owned(), "{}".to_owned()] {
            let error = Grant::parse(&text).unwrap_err();
            assert!(!error.contains("hunter2"), "{error}");
        }
        assert!(!format!("{:?}", Grant::parse(PERSON).unwrap()).contains("hunter2"));
        let stale = refused(400, r#"{"error": "invalid_grant", "error_description": "Bad"}"#);
        assert!(stale.contains("log in again"), "{stale}");
    }
}
