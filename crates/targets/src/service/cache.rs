//! Raw answers on disk, one file each, by the hash of what was asked.

use super::error::ServiceError;
use super::hash::{RequestHash, hex};
use super::wire::Answer;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The largest file that is read: more than the largest answer in base64.
const MOST_BYTES: u64 = 32 << 20;

/// Headers that are kept: what wires need to read an answer again, and what support asks for.
const KEPT: [&str; 6] = [
    "content-type",
    "inference-header-content-length",
    "x-amzn-errortype",
    "x-amzn-requestid",
    "apim-request-id",
    "date",
];

/// An answer's file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Filed {
    service: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    status: u16,
    headers: BTreeMap<String, String>,
    /// Of the body as it came, so that a damaged file is told from a whole one.
    sha256: String,
    /// The body, where it is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    /// The body in base64, where it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

/// A folder of answers.
pub(super) struct Cache {
    folder: PathBuf,
    made: AtomicU64,
}

impl Cache {
    /// Uses a folder, which is made where there is none. Whether it can be written is found out
    /// before anything is paid for.
    pub(super) fn open(folder: &Path) -> Result<Self, ServiceError> {
        let failed = || ServiceError::io("cannot file answers", folder);
        fs::create_dir_all(folder).map_err(failed())?;
        let cache = Self { folder: folder.to_path_buf(), made: AtomicU64::new(0) };
        let probe = cache.temporary(folder);
        fs::write(&probe, b"answers can be filed here").map_err(failed())?;
        fs::remove_file(&probe).map_err(failed())?;
        Ok(cache)
    }

    pub(super) fn path(&self, hash: &RequestHash) -> PathBuf {
        let name = hash.to_string();
        let (first, rest) = name.split_at(2);
        self.folder.join(first).join(format!("{rest}.json"))
    }

    /// The answer to a question; a damaged file counts as none.
    pub(super) fn get(&self, hash: &RequestHash) -> io::Result<Option<Answer>> {
        let file = match File::open(self.path(hash)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut bytes = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut bytes)?;
        Ok(serde_json::from_slice(&bytes).ok().and_then(Filed::answer))
    }

    /// Files an answer; readers see the old file or the whole new one.
    pub(super) fn put(
        &self,
        hash: &RequestHash,
        service: &str,
        version: Option<&str>,
        answer: &Answer,
    ) -> io::Result<()> {
        let path = self.path(hash);
        let folder = path.parent().unwrap_or(&self.folder);
        let text = serde_json::to_vec(&Filed::new(service, version, answer))?;
        fs::create_dir_all(folder)?;
        let temporary = self.temporary(folder);
        let written = File::create_new(&temporary)
            .and_then(|mut file| file.write_all(&text))
            .and_then(|()| fs::rename(&temporary, &path));
        if written.is_err() {
            // What is left of it only takes room; the first error is the one to tell.
            let _ = fs::remove_file(&temporary);
        }
        written
    }

    /// A name that no other thread or process uses.
    fn temporary(&self, folder: &Path) -> PathBuf {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
        folder.join(format!(".{}-{number}-{since}.part", std::process::id()))
    }
}

impl Filed {
    fn new(service: &str, version: Option<&str>, answer: &Answer) -> Self {
        let kept = answer.headers.iter().filter(|(name, _)| KEPT.contains(&name.as_str()));
        let body = str::from_utf8(&answer.body).ok().map(str::to_owned);
        let base64 = body.is_none().then(|| STANDARD.encode(&answer.body));
        Self {
            service: service.to_owned(),
            version: version.map(str::to_owned),
            status: answer.status,
            headers: kept.map(|(name, value)| (name.clone(), value.clone())).collect(),
            sha256: digest(&answer.body),
            body,
            base64,
        }
    }

    fn answer(self) -> Option<Answer> {
        let body = match (self.body, self.base64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(text)) => STANDARD.decode(text).ok()?,
            _ => return None,
        };
        let whole = digest(&body) == self.sha256;
        whole.then_some(Answer { status: self.status, headers: self.headers, body })
    }
}

fn digest(body: &[u8]) -> String {
    hex(&Sha256::digest(body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::wire::Request;

    fn question() -> RequestHash {
        let (headers, body) = (vec![], vec![]);
        RequestHash::of("", &Request { method: "POST", path: "/".to_owned(), headers, body })
    }

    fn answer(body: &[u8]) -> Answer {
        let header = |name: &str| (name.to_owned(), "x".to_owned());
        let headers = BTreeMap::from([header("content-type"), header("x-session")]);
        Answer { status: 200, headers, body: body.to_vec() }
    }

    #[test]
    fn answers_come_back_as_they_came() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        for body in [&b"{\"a\": \"\xc3\xbc\"}\n"[..], b"\xff\x00\xfe", b""] {
            cache.put(&question(), "s", Some("1.0"), &answer(body)).unwrap();
            let back = cache.get(&question()).unwrap().unwrap();
            assert_eq!((back.status, &back.body[..]), (200, body));
            assert_eq!(back.headers.keys().collect::<Vec<_>>(), ["content-type"]);
        }
        let files = fs::read_dir(cache.path(&question()).parent().unwrap()).unwrap();
        assert_eq!(files.count(), 1, "nothing temporary stays");
    }

    #[test]
    fn a_damaged_file_counts_as_none_and_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        cache.put(&question(), "s", None, &answer(b"{\"label\": \"cat\"}")).unwrap();
        let path = cache.path(&question());
        let whole = fs::read(&path).unwrap();
        let changed = String::from_utf8(whole.clone()).unwrap().replace("cat", "cow").into_bytes();
        for damaged in [&whole[..whole.len() / 2], &[], &changed, b"[]", b"\xff\xff", b"null"] {
            fs::write(&path, damaged).unwrap();
            assert_eq!(cache.get(&question()).unwrap(), None);
            cache.put(&question(), "s", None, &answer(b"{}")).unwrap();
            assert_eq!(cache.get(&question()).unwrap().unwrap().body, b"{}");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_told_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, b"").unwrap();
        let error = Cache::open(&file).err().unwrap().to_string();
        assert!(error.starts_with("cannot file answers: "), "{error}");
    }
}
