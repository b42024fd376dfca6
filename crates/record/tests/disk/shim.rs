//! Stands between a process and its disk: a library for `LD_PRELOAD` that counts what is written
//! below one folder, makes one of these calls fail, and notes all of them.
//!
//! Built by `disk.rs` with `rustc --crate-type cdylib`. It replaces functions of the C library, so
//! that it sees the standard library and SQLite alike.
//!
//! | variable | meaning |
//! |---|---|
//! | `DISK_DIR` | only calls on files below this folder count |
//! | `DISK_FAIL` | `N:KIND`: the call with this number, from 1, fails: `eio`, `enospc`, `full` (this and all later ones), `short`, `kill`, `torn` |
//! | `DISK_TRACE` | the file that all calls are noted in, as [`note`] writes them |

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn __errno_location() -> *mut c_int;
    fn getpid() -> c_int;
    fn kill(pid: c_int, signal: c_int) -> c_int;
    fn lseek64(fd: c_int, offset: c_long, whence: c_int) -> c_long;
    fn access(path: *const c_char, mode: c_int) -> c_int;
}

const RTLD_NEXT: *mut c_void = -1_isize as *mut c_void;
const EIO: c_int = 5;
const ENOSPC: c_int = 28;
const SIGKILL: c_int = 9;
const SEEK_CUR: c_int = 1;
const O_ACCESS: c_int = 3;
const O_CREAT: c_int = 0o100;
const O_TRUNC: c_int = 0o1000;
const O_APPEND: c_int = 0o2000;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Eio,
    Enospc,
    Full,
    Short,
    Kill,
    Torn,
}

struct Settings {
    dir: String,
    fail: Option<(u64, Kind)>,
    trace: c_int,
}

static CALLS: AtomicU64 = AtomicU64::new(0);
static OPEN: Mutex<Option<HashMap<c_int, String>>> = Mutex::new(None);

/// The next definition of a function of the C library.
macro_rules! real {
    ($name:literal, $kind:ty) => {{
        static FOUND: OnceLock<usize> = OnceLock::new();
        let at = *FOUND.get_or_init(|| unsafe { dlsym(RTLD_NEXT, $name.as_ptr()) } as usize);
        unsafe { std::mem::transmute::<usize, $kind>(at) }
    }};
}

type Open = unsafe extern "C" fn(*const c_char, c_int, c_uint) -> c_int;
type Write = unsafe extern "C" fn(c_int, *const c_void, usize) -> isize;
type PWrite = unsafe extern "C" fn(c_int, *const c_void, usize, c_long) -> isize;
type OnFile = unsafe extern "C" fn(c_int) -> c_int;
type Truncate = unsafe extern "C" fn(c_int, c_long) -> c_int;
type OnPath = unsafe extern "C" fn(*const c_char) -> c_int;
type OnPaths = unsafe extern "C" fn(*const c_char, *const c_char) -> c_int;
type MakeDir = unsafe extern "C" fn(*const c_char, c_uint) -> c_int;
type LinkAt = unsafe extern "C" fn(c_int, *const c_char, c_int, *const c_char, c_int) -> c_int;

fn settings() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let text = |name: &str| std::env::var(name).unwrap_or_default();
        let fail = text("DISK_FAIL");
        let fail = fail.split_once(':').map(|(number, kind)| {
            let kind = match kind {
                "eio" => Kind::Eio,
                "enospc" => Kind::Enospc,
                "full" => Kind::Full,
                "short" => Kind::Short,
                "torn" => Kind::Torn,
                _ => Kind::Kill,
            };
            (number.parse().unwrap(), kind)
        });
        let path = text("DISK_TRACE");
        let mut trace = -1;
        if !path.is_empty() {
            let path = std::ffi::CString::new(path).unwrap();
            let open = real!(c"open", Open);
            trace = unsafe { open(path.as_ptr(), 1 | O_CREAT | O_APPEND, 0o644) };
        }
        Settings { dir: text("DISK_DIR") + "/", fail, trace }
    })
}

/// The path below the folder; `None` where it is elsewhere.
unsafe fn below(path: *const c_char) -> Option<String> {
    let path = unsafe { CStr::from_ptr(path) }.to_str().ok()?;
    let settings = settings();
    if settings.dir.len() == 1 {
        return None;
    }
    if path == settings.dir.trim_end_matches('/') {
        return Some(String::new());
    }
    path.strip_prefix(&settings.dir).map(str::to_owned)
}

fn known(fd: c_int) -> Option<String> {
    OPEN.lock().ok()?.as_ref()?.get(&fd).cloned()
}

/// Counts a call, and says how it is to fail.
fn fails() -> Option<Kind> {
    let number = CALLS.fetch_add(1, Ordering::SeqCst) + 1;
    note(b'#', b"", b"", number);
    let (at, kind) = settings().fail?;
    (number == at || kind == Kind::Full && number > at).then_some(kind)
}

/// Fails a call that is whole or not at all: with an error, or by ending the process.
fn failed() -> Option<c_int> {
    let error = match fails()? {
        Kind::Eio | Kind::Short => EIO,
        Kind::Enospc | Kind::Full => ENOSPC,
        Kind::Kill | Kind::Torn => die(),
    };
    unsafe { *__errno_location() = error };
    Some(-1)
}

fn die() -> ! {
    loop {
        unsafe { kill(getpid(), SIGKILL) };
    }
}

/// Notes a call, or with `#` that one counts: its letter, two texts and a number, each text with its length before it.
fn note(call: u8, first: &[u8], second: &[u8], number: u64) {
    let trace = settings().trace;
    if trace < 0 {
        return;
    }
    let mut bytes = vec![call];
    bytes.extend((first.len() as u32).to_le_bytes());
    bytes.extend(first);
    bytes.extend((second.len() as u32).to_le_bytes());
    bytes.extend(second);
    bytes.extend(number.to_le_bytes());
    let write = real!(c"write", Write);
    unsafe { write(trace, bytes.as_ptr().cast(), bytes.len()) };
}

unsafe fn opened(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    let open = real!(c"open64", Open);
    let Some(name) = (unsafe { below(path) }) else { return unsafe { open(path, flags, mode) } };
    let writes = flags & (O_ACCESS | O_CREAT | O_TRUNC) != 0;
    if writes && let Some(error) = failed() {
        return error;
    }
    let existed = unsafe { access(path, 0) } == 0;
    let fd = unsafe { open(path, flags, mode) };
    if fd < 0 {
        return fd;
    }
    if flags & O_CREAT != 0 && !existed {
        note(b'c', name.as_bytes(), b"", 0);
    } else if flags & O_TRUNC != 0 {
        note(b't', name.as_bytes(), b"", 0);
    }
    if let Ok(mut open) = OPEN.lock() {
        open.get_or_insert_with(HashMap::new).insert(fd, name);
    }
    fd
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    unsafe { opened(path, flags, mode) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    unsafe { opened(path, flags, mode) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn close(fd: c_int) -> c_int {
    if let Ok(mut open) = OPEN.lock()
        && let Some(open) = open.as_mut()
    {
        open.remove(&fd);
    }
    let close = real!(c"close", OnFile);
    unsafe { close(fd) }
}

/// How many bytes of a write are done, and whether the process ends then; `None` where it fails.
fn part(count: usize) -> Option<(usize, bool)> {
    match fails() {
        None => Some((count, false)),
        Some(Kind::Short) => Some((count.div_ceil(2), false)),
        Some(Kind::Torn) => Some((count / 2, true)),
        Some(Kind::Kill) => die(),
        Some(kind) => {
            let error = if kind == Kind::Eio { EIO } else { ENOSPC };
            unsafe { *__errno_location() = error };
            None
        }
    }
}

unsafe fn written(fd: c_int, from: *const c_void, count: usize, at: Option<c_long>) -> isize {
    let here = real!(c"write", Write);
    let there = real!(c"pwrite64", PWrite);
    let write = |count: usize| match at {
        Some(at) => unsafe { there(fd, from, count, at) },
        None => unsafe { here(fd, from, count) },
    };
    let Some(name) = known(fd) else { return write(count) };
    // The index of the log is shared memory, which no power cut keeps.
    if name.ends_with("-shm") {
        return write(count);
    }
    let Some((count, ends)) = part(count) else { return -1 };
    let offset = at.unwrap_or_else(|| unsafe { lseek64(fd, 0, SEEK_CUR) });
    let done = write(count);
    if ends {
        die();
    }
    if done > 0 {
        let bytes = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), done as usize) };
        note(b'w', name.as_bytes(), bytes, offset as u64);
    }
    done
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn write(fd: c_int, from: *const c_void, count: usize) -> isize {
    unsafe { written(fd, from, count, None) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwrite(fd: c_int, from: *const c_void, count: usize, at: c_long) -> isize {
    unsafe { written(fd, from, count, Some(at)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwrite64(
    fd: c_int,
    from: *const c_void,
    count: usize,
    at: c_long,
) -> isize {
    unsafe { written(fd, from, count, Some(at)) }
}

unsafe fn synced(fd: c_int) -> c_int {
    if let Some(name) = known(fd) {
        if let Some(error) = failed() {
            return error;
        }
        note(b's', name.as_bytes(), b"", 0);
    }
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fsync(fd: c_int) -> c_int {
    unsafe { synced(fd) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fdatasync(fd: c_int) -> c_int {
    unsafe { synced(fd) }
}

unsafe fn truncated(fd: c_int, length: c_long) -> c_int {
    let name = known(fd).filter(|name| !name.ends_with("-shm"));
    if name.is_some()
        && let Some(error) = failed()
    {
        return error;
    }
    let real = real!(c"ftruncate64", Truncate);
    let done = unsafe { real(fd, length) };
    if let Some(name) = name
        && done == 0
    {
        note(b't', name.as_bytes(), b"", length as u64);
    }
    done
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ftruncate(fd: c_int, length: c_long) -> c_int {
    unsafe { truncated(fd, length) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ftruncate64(fd: c_int, length: c_long) -> c_int {
    unsafe { truncated(fd, length) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    let names = unsafe { (below(from), below(to)) };
    if names.1.is_some()
        && let Some(error) = failed()
    {
        return error;
    }
    let real = real!(c"rename", OnPaths);
    let done = unsafe { real(from, to) };
    if let (Some(from), Some(to)) = names
        && done == 0
    {
        note(b'r', from.as_bytes(), to.as_bytes(), 0);
    }
    done
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkat(
    from_dir: c_int,
    from: *const c_char,
    to_dir: c_int,
    to: *const c_char,
    flags: c_int,
) -> c_int {
    let names = unsafe { (below(from), below(to)) };
    if names.1.is_some()
        && let Some(error) = failed()
    {
        return error;
    }
    let real = real!(c"linkat", LinkAt);
    let done = unsafe { real(from_dir, from, to_dir, to, flags) };
    if let (Some(from), Some(to)) = names
        && done == 0
    {
        note(b'l', from.as_bytes(), to.as_bytes(), 0);
    }
    done
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn unlink(path: *const c_char) -> c_int {
    let name = unsafe { below(path) }.filter(|name| !name.ends_with("-shm"));
    if name.is_some()
        && let Some(error) = failed()
    {
        return error;
    }
    let real = real!(c"unlink", OnPath);
    let done = unsafe { real(path) };
    if let Some(name) = name
        && done == 0
    {
        note(b'u', name.as_bytes(), b"", 0);
    }
    done
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn mkdir(path: *const c_char, mode: c_uint) -> c_int {
    let name = unsafe { below(path) };
    if name.is_some()
        && let Some(error) = failed()
    {
        return error;
    }
    let real = real!(c"mkdir", MakeDir);
    let done = unsafe { real(path, mode) };
    if let Some(name) = name
        && done == 0
    {
        note(b'm', name.as_bytes(), b"", 0);
    }
    done
}
