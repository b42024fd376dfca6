//! A server with a self-signed certificate.
//!
//! `fixtures/*.pem` are from `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes
//! -days 36500 -keyout key.pem -out certificate.pem -subj "/CN=faultlens test" -addext
//! "subjectAltName=IP:127.0.0.1" -addext "basicConstraints=critical,CA:FALSE"`.

use super::number_wire::{KEY, MaybeKey, connector, image, limits, number_body, spec};
use faultlens_core::{Response, Target, TargetError};
use faultlens_targets::service::ServiceTarget;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

struct TlsServer {
    endpoint: String,
    connections: Arc<AtomicUsize>,
    heads: Arc<Mutex<Vec<String>>>,
}

/// Answers one request per connection.
fn server() -> TlsServer {
    let chain = vec![CertificateDer::from_pem_file(fixture("certificate.pem")).unwrap()];
    let key = PrivateKeyDer::from_pem_file(fixture("key.pem")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.unwrap().with_no_client_auth().with_single_cert(chain, key).unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("https://{}", listener.local_addr().unwrap());
    let connections = Arc::new(AtomicUsize::new(0));
    let heads = Arc::new(Mutex::new(Vec::new()));
    let server =
        TlsServer { endpoint, connections: Arc::clone(&connections), heads: Arc::clone(&heads) };
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            connections.fetch_add(1, Ordering::SeqCst);
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            serve(StreamOwned::new(connection, stream), &heads);
        }
    });
    server
}

/// Answers a request, whose head is noted before the client has the answer.
fn serve(stream: impl Read + Write, heads: &Mutex<Vec<String>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    let mut line = String::new();
    let mut length = 0;
    while line != "\r\n" {
        line.clear();
        reader.read_line(&mut line).ok().filter(|&bytes| bytes > 0)?;
        head.push_str(&line);
        if let Some(text) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = text.trim().parse().ok()?;
        }
    }
    reader.read_exact(&mut vec![0; length]).ok()?;
    heads.lock().unwrap().push(head);
    let body = number_body(4.0);
    let text = format!(
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    reader.get_mut().write_all(text.as_bytes()).ok()?;
    reader.get_mut().flush().ok()
}

#[test]
fn a_self_signed_certificate_is_trusted_only_where_it_is_configured() {
    let server = server();
    let mut spec = spec(limits());
    let untrusting =
        ServiceTarget::new(&spec, connector(&server.endpoint, MaybeKey(true))).unwrap();
    let answer = untrusting.ask(&image(1));
    let Err(TargetError::Closed(why)) = answer else { panic!("{answer:?}") };
    assert!(why.contains("set `certificate` to the file"), "{why}");
    assert_eq!(server.connections.load(Ordering::SeqCst), 1, "it is not tried again");
    assert!(server.heads.lock().unwrap().is_empty(), "nothing was sent");
    assert_eq!(untrusting.call_stats().process.calls, 0);
    spec.certificate = Some(fixture("certificate.pem"));
    let trusting = ServiceTarget::new(&spec, connector(&server.endpoint, MaybeKey(true))).unwrap();
    assert_eq!(trusting.ask(&image(1)), Ok(Response::Values(vec![4.0])));
    assert!(server.heads.lock().unwrap()[0].contains(KEY));
}
