//! Panics of other people's code as errors.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether a panic of this thread is about to be caught and reported as an error.
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// The process has one panic hook; it is wrapped once, whoever calls first.
static WRAP_HOOK: Once = Once::new();

/// Calls a decoder or a runtime that panics on input it does not expect: what it panicked with is
/// the error, and nothing is printed. The closure must not hand its work to other threads, whose
/// panics are printed before they come here.
pub fn catch_panic<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    WRAP_HOOK.call_once(wrap_hook);
    // Calls may be nested; the outer one is still guarded after the inner one.
    let outer = CAUGHT.replace(true);
    // Whatever the call has left half done is dropped with it: nothing of it is returned.
    let result = panic::catch_unwind(AssertUnwindSafe(call));
    CAUGHT.set(outer);
    result.map_err(|panic| message(&*panic))
}

/// Keeps the messages of panics that are caught off the terminal; all others are printed as before.
fn wrap_hook() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |about| {
        if !CAUGHT.get() {
            before(about);
        }
    }));
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static PRINTED: AtomicUsize = AtomicUsize::new(0);

    #[test]
    fn only_panics_that_nobody_catches_are_printed() {
        panic::set_hook(Box::new(|_| {
            PRINTED.fetch_add(1, Ordering::Relaxed);
        }));
        assert_eq!(catch_panic(|| 7), Ok(7));
        let nested = catch_panic(|| {
            assert_eq!(catch_panic(|| panic!("inner")), Err::<(), _>("inner".into()));
            panic!("outer {}", 1)
        });
        assert_eq!(nested, Err::<(), _>("outer 1".into()));
        assert_eq!(PRINTED.load(Ordering::Relaxed), 0);
        let other = std::thread::spawn(|| panic!("nobody's")).join();
        assert!(other.is_err());
        assert_eq!(PRINTED.load(Ordering::Relaxed), 1);
    }
}
