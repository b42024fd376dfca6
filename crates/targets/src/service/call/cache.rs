//! Raw responses on disk, one file each, under the hash of the request.

use super::super::error::ServiceError;
use super::super::message::HttpResponse;
use super::hash::RequestHash;
use crate::hex::hex;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// The largest file that is read: more than the largest response in base64.
const MAX_BYTES: u64 = 32 << 20;

/// Headers that are kept: those that wire formats need to read a response again, and those that a
/// provider's support asks for.
const KEPT_HEADERS: [&str; 6] = [
    "content-type",
    "inference-header-content-length",
    "x-amzn-errortype",
    "x-amzn-requestid",
    "apim-request-id",
    "date",
];

/// The file of a response.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CacheFile {
    service: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    status: u16,
    headers: BTreeMap<String, String>,
    /// Of the body as it was received, so that a damaged file is noticed.
    sha256: String,
    /// The body, where it is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    /// The body in base64, where it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

/// A folder of responses.
pub(in super::super) struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// Uses a folder, which is created if needed. Whether it can be written is found out before
    /// anything is paid for.
    pub(in super::super) fn open(folder: &Path) -> Result<Self, ServiceError> {
        let failed = || ServiceError::io("cannot cache answers", folder);
        fs::create_dir_all(folder).map_err(failed())?;
        let probe = folder.join(format!(".{}.probe", std::process::id()));
        faultlens_files::write(&probe, b"answers can be cached here").map_err(failed())?;
        fs::remove_file(&probe).map_err(failed())?;
        Ok(Self { folder: folder.to_path_buf() })
    }

    pub(in super::super) fn path(&self, hash: &RequestHash) -> PathBuf {
        let name = hash.to_string();
        let (first, rest) = name.split_at(2);
        self.folder.join(first).join(format!("{rest}.json"))
    }

    /// The cached response to a request; a damaged file counts as none.
    pub(in super::super) fn get(&self, hash: &RequestHash) -> io::Result<Option<HttpResponse>> {
        let file = match File::open(self.path(hash)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut bytes = Vec::new();
        file.take(MAX_BYTES).read_to_end(&mut bytes)?;
        let file: Option<CacheFile> = serde_json::from_slice(&bytes).ok();
        Ok(file.and_then(CacheFile::into_response))
    }

    /// Stores a response, which was paid for: it stays, and readers see the old file or the complete
    /// new one.
    pub(in super::super) fn put(
        &self,
        hash: &RequestHash,
        service: &str,
        version: Option<&str>,
        response: &HttpResponse,
    ) -> io::Result<()> {
        let path = self.path(hash);
        let folder = path.parent().unwrap_or(&self.folder);
        let text = serde_json::to_vec(&CacheFile::new(service, version, response))?;
        fs::create_dir_all(folder)?;
        faultlens_files::write(&path, &text)
    }
}

impl CacheFile {
    fn new(service: &str, version: Option<&str>, response: &HttpResponse) -> Self {
        let mut headers = response.headers.clone();
        headers.retain(|name, _| KEPT_HEADERS.contains(&name.as_str()));
        let body = str::from_utf8(&response.body).ok().map(str::to_owned);
        let base64 = body.is_none().then(|| STANDARD.encode(&response.body));
        Self {
            service: service.to_owned(),
            version: version.map(str::to_owned),
            status: response.status,
            headers,
            sha256: hex(&Sha256::digest(&response.body)),
            body,
            base64,
        }
    }

    /// The response, if the file is undamaged.
    fn into_response(self) -> Option<HttpResponse> {
        let body = match (self.body, self.base64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(text)) => STANDARD.decode(text).ok()?,
            _ => return None,
        };
        if hex(&Sha256::digest(&body)) != self.sha256 {
            return None;
        }
        Some(HttpResponse { status: self.status, headers: self.headers, body })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> RequestHash {
        RequestHash::of_path("/")
    }

    fn response(body: &[u8]) -> HttpResponse {
        let headers = ["content-type", "x-session"].map(|name| (name.to_owned(), "x".to_owned()));
        HttpResponse { status: 200, headers: headers.into(), body: body.to_vec() }
    }

    #[test]
    fn responses_come_back_as_they_were_received() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        for body in [&b"{\"a\": \"\xc3\xbc\"}\n"[..], b"\xff\x00\xfe", b""] {
            cache.put(&request(), "s", Some("1.0"), &response(body)).unwrap();
            let back = cache.get(&request()).unwrap().unwrap();
            assert_eq!((back.status, &back.body[..]), (200, body));
            assert_eq!(back.headers.keys().collect::<Vec<_>>(), ["content-type"]);
        }
        let files = fs::read_dir(cache.path(&request()).parent().unwrap()).unwrap();
        assert_eq!(files.count(), 1, "nothing temporary stays");
    }

    #[test]
    fn a_damaged_file_counts_as_none_and_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        cache.put(&request(), "s", None, &response(b"{\"label\": \"cat\"}")).unwrap();
        let path = cache.path(&request());
        let whole = fs::read(&path).unwrap();
        let changed = String::from_utf8(whole.clone()).unwrap().replace("cat", "cow").into_bytes();
        for damaged in [&whole[..whole.len() / 2], &[], &changed, b"[]", b"\xff\xff", b"null"] {
            fs::write(&path, damaged).unwrap();
            assert_eq!(cache.get(&request()).unwrap(), None);
            cache.put(&request(), "s", None, &response(b"{}")).unwrap();
            assert_eq!(cache.get(&request()).unwrap().unwrap().body, b"{}");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_reported_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, b"").unwrap();
        let error = Cache::open(&file).err().unwrap().to_string();
        assert!(error.starts_with("cannot cache answers: "), "{error}");
    }
}
