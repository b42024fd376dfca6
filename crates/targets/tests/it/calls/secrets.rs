//! Where secrets are sent, and where they must not go.

use super::number_wire::{KEY, MaybeKey, QUERY, connector, image, limits, number_body, spec};
use super::server::{Reply, Server};
use faultlens_core::{Target, TargetError};
use faultlens_targets::service::{ServiceError, ServiceSpec, ServiceTarget};
use std::path::Path;

fn keyed(endpoint: &str) -> ServiceTarget {
    ServiceTarget::new(&spec(limits()), connector(endpoint, MaybeKey(true))).unwrap()
}

fn closed(target: &ServiceTarget, number: u8) -> String {
    match target.ask(&image(number)) {
        Err(TargetError::Closed(why)) => why,
        other => panic!("{other:?}"),
    }
}

fn has_secret(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    [KEY, QUERY, "query-secret-987654321"].iter().any(|secret| text.contains(secret))
}

/// How many files a folder has; none of them contains a secret.
fn files_without_secrets(folder: &Path) -> u32 {
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files += files_without_secrets(&path);
        } else {
            assert!(!has_secret(&std::fs::read(&path).unwrap()), "{}", path.display());
            files += 1;
        }
    }
    files
}

#[test]
fn secrets_reach_the_service_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    // A server that echoes all it receives, in answers and errors alike.
    let server = Server::start(|number, request| {
        let echo = serde_json::json!({ "value": 1, "echo": request.head, "version": KEY });
        match number {
            0 => Reply::With(200, "", echo.to_string()),
            1 => Reply::With(400, "", request.head.clone()),
            _ => Reply::With(403, "", request.head.clone()),
        }
    });
    let target = keyed(&server.address);
    target.attach(&folder.path().join("answers"), &folder.path().join("calls.jsonl")).unwrap();
    target.ask(&image(0)).unwrap();
    let texts = [1, 2, 3].map(|number| format!("{:?}", target.ask(&image(number)).unwrap_err()));
    assert!(texts[0].contains("Rejected") && texts[1].contains("Closed"), "{texts:?}");
    let shown = format!("{texts:?} {:?} {:?}", target.call_stats(), target.versions());
    assert!(!has_secret(shown.as_bytes()), "{shown}");
    assert_eq!(files_without_secrets(folder.path()), 3, "two answers and the call log");
    let head = &server.received()[0].head;
    assert!(head.starts_with(&format!("POST /ask?{QUERY} HTTP/1.1\r\n")), "{head}");
    assert!(head.contains(&format!("authorization: Bearer {KEY}\r\n")), "{head}");
    let host = server.address.trim_start_matches("http://");
    assert_eq!(head.to_ascii_lowercase().matches(&format!("host: {host}\r\n")).count(), 1);
}

#[test]
fn a_redirect_is_not_followed() {
    let other = Server::start(|_, _| Reply::With(200, "", number_body(1.0)));
    let location: &'static str =
        Box::leak(format!("Location: {}/steal?x=1\r\n", other.address).into_boxed_str());
    for status in [301, 302, 307, 308] {
        let server = Server::start(move |_, _| Reply::With(status, location, String::new()));
        let target = keyed(&server.address);
        let why = closed(&target, 1);
        let to = other.address.trim_start_matches("http://");
        assert!(
            why.contains(&format!("redirects to {to}, where credentials are not sent")),
            "{why}"
        );
        assert_eq!(closed(&target, 2), why);
        assert_eq!(server.count(), 1);
    }
    assert_eq!(other.count(), 0);
}

#[test]
fn secrets_are_not_sent_unencrypted() {
    let why = closed(&keyed("http://192.0.2.1:9"), 1);
    assert!(why.contains("192.0.2.1:9 would be sent unencrypted"), "{why}");
}

/// The error of a changed spec, if there is one.
fn error_of(change: impl Fn(&mut ServiceSpec)) -> Option<String> {
    let mut spec = spec(limits());
    change(&mut spec);
    // Calls on this machine are free, others may not be.
    let mut connector = connector("https://192.0.2.1", MaybeKey(true));
    connector.price = None;
    ServiceTarget::new(&spec, connector).err().map(|error| error.to_string())
}

#[test]
fn bad_settings_are_reported_before_any_call() {
    for (error, wanted) in [
        (error_of(|spec| spec.limits.concurrency = 0), "concurrency"),
        (error_of(|spec| spec.limits.timeout = f64::NAN), "timeout"),
        (error_of(|spec| spec.limits.timeout = 0.0), "timeout"),
        (error_of(|spec| spec.limits.rate = Some(-1.0)), "rate"),
        (error_of(|spec| spec.limits.money = Some(1.0)), "limits.price"),
        (error_of(|spec| spec.limits.price = Some(-1.0)), "limits.price"),
        (error_of(|spec| spec.certificate = Some("missing.pem".into())), "certificate"),
        (error_of(|spec| spec.certificate = Some("Cargo.toml".into())), "PEM"),
    ] {
        assert!(error.as_ref().is_some_and(|error| error.contains(wanted)), "{wanted}: {error:?}");
    }
    let spec = spec(limits());
    let unknown = ServiceTarget::open(&spec, Path::new("."));
    assert!(matches!(unknown.err(), Some(ServiceError::Unknown { .. })));
}
