//! A process whose disk fails, or whose every call to the disk is noted.

use crate::sample::*;
use faultlens_record::Spending;
use faultlens_record::store::{
    Batch, ExampleRecord, Manifest, PictureOf, PictureRecord, PinRecord, ShownRecord, Store,
    StoreError,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::Duration;
use tempfile::TempDir;

/// How many trials the small campaign has.
pub(crate) const TRIALS: u64 = 60;
/// Set where nothing may wait to be synced.
const SYNC_ALWAYS: &str = "FAULTLENS_TEST_SYNC_ALWAYS";
/// What the process ends with where it refuses to go on, and says why.
pub(crate) const REFUSED: i32 = 3;

fn about() -> Manifest {
    Manifest { planned: TRIALS, ..manifest() }
}

/// A folder in memory where there is one: nothing here depends on a real disk, and a real one is
/// slow to sync.
pub(crate) fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        tempfile::tempdir_in(memory).unwrap()
    } else {
        tempfile::tempdir().unwrap()
    }
}

/// A campaign from its beginning to its end, or from where it was interrupted, as a run does it.
pub(crate) fn campaign(dir: &Path) -> Result<(), StoreError> {
    let mut store = if Store::exists(dir) {
        let mut store = Store::open(dir)?;
        store.renew(&about(), "name: signs\n")?;
        store
    } else {
        Store::create(dir, &about(), "name: signs\n")?
    };
    if std::env::var_os(SYNC_ALWAYS).is_some() {
        store.sync_after(Duration::ZERO);
    }
    let done = store.done()?;
    store.for_each(|_| Ok::<_, StoreError>(()))?;
    store.cases()?;
    store.goldens()?;
    let pin = PinRecord {
        name: "a".to_owned(),
        what: "b".to_owned(),
        outcome: "unchanged".to_owned(),
        reason: None,
    };
    store.put_pins(&[pin])?;
    let missing: Vec<u64> = (0..TRIALS).filter(|number| !done.contains(*number)).collect();
    for numbers in missing.chunks(20) {
        let cases: Vec<_> = (0..CASES).map(case).collect();
        let records: Vec<_> = numbers.iter().map(|number| record(*number)).collect();
        store.write(&Batch { records: &records, goldens: &goldens(), cases: &cases })?;
    }
    finish(&mut store)?;
    Spending { wall: 1.0, ..Spending::default() }.write(dir)
}

fn finish(store: &mut Store) -> Result<(), StoreError> {
    let path = store.put_artifact(b"a picture")?;
    let example = ExampleRecord {
        number: 3,
        golden: vec![("stop".to_owned(), 0.5)],
        observed: vec![],
        before: Some(path.clone()),
        after: None,
    };
    store.put_examples(&[example])?;
    let shown = ShownRecord { target: 0, case: 1, fault: 0, number: 3 };
    let of = PictureOf::Fault(0);
    store.put_pictures(&[PictureRecord { target: 0, case: 1, of, path }], &[shown])?;
    store.mark_complete(false)
}

/// All that a run holds, as text.
pub(crate) fn held(dir: &Path) -> String {
    let store = Store::read(dir).unwrap();
    let goldens = exact_goldens(&store.goldens().unwrap());
    let examples = store.examples().unwrap();
    for example in &examples {
        store.artifact(example.before.as_ref().unwrap()).unwrap();
    }
    let side = (store.cases().unwrap(), examples, store.pins().unwrap());
    let progress = store.progress().unwrap();
    format!("{:?} {goldens:?} {side:?} {progress:?} {:?}", all(&store), store.campaign_yaml())
}

/// The library that stands between a process and its disk.
fn shim() -> &'static Path {
    static BUILT: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = BUILT.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("shim.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/disk/shim.rs");
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let built = Command::new(rustc)
            .args(["--edition", "2024", "--crate-type", "cdylib", "-O", "-o"])
            .args([&path, &source])
            .output()
            .unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        (dir, path)
    });
    path
}

/// Runs the campaign in a process of its own. `fail` is the number of a call and how it fails.
pub(crate) fn run(dir: &Path, fail: (u64, &str)) -> Output {
    command(dir, Some(fail), None).output().unwrap()
}

fn command(dir: &Path, fail: Option<(u64, &str)>, trace: Option<&Path>) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--ignored", "--exact", "disk::campaign_beside", "--nocapture"])
        .env("LD_PRELOAD", shim())
        .env("FAULTLENS_TEST_RUN", dir)
        .env("DISK_DIR", dir.parent().unwrap());
    if let Some((number, kind)) = fail {
        command.env("DISK_FAIL", format!("{number}:{kind}"));
    }
    if let Some(trace) = trace {
        command.env("DISK_TRACE", trace);
    }
    command
}

/// Not a test of its own: the process that [`run`] starts.
#[test]
#[ignore = "runs in a process whose disk fails"]
#[expect(clippy::print_stderr, reason = "the process that started this one reads it")]
fn campaign_beside() {
    let Some(dir) = std::env::var_os("FAULTLENS_TEST_RUN").map(PathBuf::from) else { return };
    if let Err(error) = campaign(&dir) {
        eprintln!("refused: {error}");
        std::process::exit(REFUSED);
    }
}

/// A call to the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Call {
    Create(String),
    Write(String, u64, Vec<u8>),
    Truncate(String, u64),
    Sync(String),
    Rename(String, String),
    Link(String, String),
    Unlink(String),
    MakeDir(String),
}

/// What a process wrote, call by call.
pub(crate) fn traced() -> Vec<Call> {
    traced_with(&[]).0
}

/// How many of its calls can fail.
pub(crate) fn counted() -> u64 {
    traced_with(&[]).1
}

/// The same where every batch is synced at once.
pub(crate) fn traced_with_syncs() -> Vec<Call> {
    traced_with(&[(SYNC_ALWAYS, "1")]).0
}

fn traced_with(settings: &[(&str, &str)]) -> (Vec<Call>, u64) {
    let dir = folder();
    let trace = tempfile::NamedTempFile::new().unwrap();
    let mut command = command(&dir.path().join("run"), None, Some(trace.path()));
    let output = command.envs(settings.iter().copied()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    calls(&fs::read(trace.path()).unwrap())
}

fn calls(mut bytes: &[u8]) -> (Vec<Call>, u64) {
    let mut calls = Vec::new();
    let mut counted = 0;
    while let Some((call, rest)) = bytes.split_first() {
        bytes = rest;
        let first = String::from_utf8(sized(&mut bytes).to_vec()).unwrap();
        let second = sized(&mut bytes).to_vec();
        let (number, rest) = bytes.split_first_chunk::<8>().unwrap();
        let number = u64::from_le_bytes(*number);
        bytes = rest;
        let other = || String::from_utf8(second.clone()).unwrap();
        calls.push(match call {
            b'#' => {
                counted += 1;
                continue;
            }
            b'c' => Call::Create(first),
            b'w' => Call::Write(first, number, second),
            b't' => Call::Truncate(first, number),
            b's' => Call::Sync(first),
            b'r' => Call::Rename(first, other()),
            b'l' => Call::Link(first, other()),
            b'u' => Call::Unlink(first),
            b'm' => Call::MakeDir(first),
            other => panic!("no call has the letter {other}"),
        });
    }
    (calls, counted)
}

fn sized<'a>(bytes: &mut &'a [u8]) -> &'a [u8] {
    let (length, rest) = bytes.split_first_chunk::<4>().unwrap();
    let (text, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
    *bytes = rest;
    text
}
