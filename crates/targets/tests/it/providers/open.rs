//! Specs and credentials, before anything is request.

use super::*;
use faultlens_targets::service::credential::Signed;
use std::time::SystemTime;

fn open_with(text: &str, variables: &[(&str, &str)]) -> Result<Connector, ServiceError> {
    let spec: ServiceSpec = serde_json::from_str(text).unwrap();
    open_in(&spec, Path::new("."), &Environment::of(variables.iter().copied()))
}

fn signed(connector: &Connector) -> Signed {
    let request = request_for(connector, &image(100, 100)).unwrap();
    connector.credential.sign(&request, "host.example", SystemTime::now()).unwrap()
}

fn header_names(connector: &Connector) -> Vec<String> {
    signed(connector).headers.into_iter().map(|(name, _)| name).collect()
}

#[test]
fn specs_are_checked() {
    for (of, wanted) in [
        (r#"{"provider": "recognition"}"#, "did you mean \"rekognition\"?"),
        (r#"{"provider": "sagemaker"}"#, "known: rekognition, google"),
        (r#"{"provider": "google", "task": "celebrities"}"#, "only for labels, objects, text"),
        (r#"{"provider": "google", "max_labels": 0}"#, "max_labels is 0"),
        (
            r#"{"provider": "google", "task": "moderation", "labels": ["voilence"]}"#,
            "did you mean \"violence\"?",
        ),
        (
            r#"{"provider": "azure", "task": "moderation", "labels": ["violence"]}"#,
            "it has adult, racy, gory",
        ),
        (r#"{"provider": "google", "labels": "names.txt"}"#, "must be a list"),
        (r#"{"provider": "google", "min_confidence": 70}"#, "min_confidence is 70"),
        (r#"{"provider": "google", "codec": {"jpeg": 0}}"#, "quality 0"),
        (r#"{"provider": "google", "limits": {"concurrency": 0}}"#, "limits.concurrency"),
        (r#"{"provider": "google", "limits": {"rate": 0}}"#, "limits.rate"),
        (r#"{"provider": "google", "endpoint": "vision"}"#, "endpoint"),
        (r#"{"provider": "google", "profile": "x"}"#, "no profiles"),
    ] {
        let error = open_error(of);
        assert!(error.contains(wanted), "{error}");
    }
    let error = open_with(r#"{"provider": "azure"}"#, &[]).err().unwrap().to_string();
    assert!(error.contains("set endpoint"), "{error}");
}

#[test]
fn keys_come_from_the_usual_places() {
    let aws = [("AWS_ACCESS_KEY_ID", "AKIDHUNTER"), ("AWS_SECRET_ACCESS_KEY", "hunter2")];
    let rekognition = r#"{"provider": "rekognition", "region": "eu-west-1"}"#;
    let connector = open_with(rekognition, &aws).unwrap();
    assert_eq!(connector.endpoint, "https://rekognition.eu-west-1.amazonaws.com");
    assert_eq!(
        (header_names(&connector), connector.rate),
        (vec!["x-amz-date".to_owned(), "authorization".to_owned()], Some(5.0))
    );
    let google = open_with(r#"{"provider": "google"}"#, &[("GOOGLE_API_KEY", "hunter2")]).unwrap();
    assert_eq!(google.endpoint, "https://vision.googleapis.com");
    assert_eq!(header_names(&google), ["x-goog-api-key"]);
    let token =
        open_with(r#"{"provider": "google"}"#, &[("GOOGLE_OAUTH_ACCESS_TOKEN", "t")]).unwrap();
    assert_eq!(header_names(&token), ["authorization"]);
    let azure = [("VISION_KEY", "hunter2"), ("VISION_ENDPOINT", "https://me.example/")];
    let azure = open_with(r#"{"provider": "azure"}"#, &azure).unwrap();
    assert_eq!(azure.endpoint, "https://me.example");
    assert_eq!(header_names(&azure), ["ocp-apim-subscription-key"]);
    let token = [("FAULTLENS_SERVICE_TOKEN", "hunter2")];
    let ibm =
        open_with(r#"{"provider": "ibm", "endpoint": "http://127.0.0.1:5000"}"#, &token).unwrap();
    assert_eq!(header_names(&ibm), ["authorization"]);
    assert!(header_names(&open(r#"{"provider": "ibm"}"#)).is_empty());
    for connector in [&connector, &google, &azure, &ibm] {
        assert!(!format!("{:?}", signed(connector).headers).to_lowercase().contains("hunter"));
    }
}

#[test]
fn missing_keys_are_reported() {
    for (of, wanted) in [
        (r#"{"provider": "rekognition"}"#, "AWS_REGION"),
        (r#"{"provider": "rekognition", "region": "us-east-1"}"#, "AWS_ACCESS_KEY_ID"),
        (r#"{"provider": "google"}"#, "GOOGLE_API_KEY"),
        (r#"{"provider": "azure", "endpoint": "https://me.example"}"#, "AZURE_VISION_KEY"),
        (
            r#"{"provider": "azure", "task": "faces", "endpoint": "https://me.example"}"#,
            "FACE_APIKEY",
        ),
    ] {
        let error = open_with(of, &[]).err().unwrap();
        assert!(
            matches!(&error, ServiceError::Credentials(why) if why.contains(wanted)),
            "{error}"
        );
    }
    let gone = [("GOOGLE_APPLICATION_CREDENTIALS", "/no/such/account.json")];
    let error = open_with(r#"{"provider": "google"}"#, &gone).err().unwrap().to_string();
    assert!(error.contains("does not exist: /no/such/account.json"), "{error}");
}

#[test]
fn a_rehearsal_meets_no_limit_and_no_real_key() {
    let real = [
        ("AWS_ACCESS_KEY_ID", "AKIDHUNTER"),
        ("AWS_SECRET_ACCESS_KEY", "hunter2"),
        ("AWS_SESSION_TOKEN", "hunter3"),
        ("GOOGLE_API_KEY", "hunter2"),
        ("VISION_KEY", "hunter2"),
    ];
    for provider in ["rekognition", "google", "azure"] {
        let spec = format!(r#"{{"provider": "{provider}", "endpoint": "http://localhost:8080"}}"#);
        let with_keys = open_with(&spec, &real).unwrap();
        let without = open_with(&spec, &[]).unwrap();
        let request = request_for(&with_keys, &image(100, 100)).unwrap();
        let [with_keys_headers, without_headers] = [&with_keys, &without].map(|connector| {
            connector.credential.sign(&request, "h", SystemTime::UNIX_EPOCH).unwrap().headers
        });
        // Secrets compare equal, and are not shown.
        assert_eq!(with_keys_headers, without_headers, "{provider}");
        assert_eq!(with_keys.rate, None);
    }
}
