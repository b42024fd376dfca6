//! A campaign small enough for a test, and what its run leaves behind.

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::folder::{Folder, Run, json};

/// Two targets, four cases, two bits with ten trials each and one image fault with two.
pub(crate) const SMALL: &str = "
name: small
output: run
targets: [{model: world:signs-shallow}, {model: world:signs-middle}]
cases: {data: 'world:signs:4'}
faults:
  - {fault: bit_flip, in: outputs, bit: [20, 30], trials: 10}
  - {fault: gaussian_noise, severity: 5, trials: 2}
";
/// How many trials that is.
pub(crate) const TRIALS: usize = 2 * 4 * (2 * 10 + 2);

/// A folder with `small.yaml`.
pub(crate) fn folder(test: &str) -> Folder {
    let folder = Folder::new(&format!("campaign_{test}"));
    folder.text("small.yaml", SMALL);
    folder
}

/// The same with its run, in `run`.
pub(crate) fn finished(test: &str) -> Folder {
    let folder = folder(test);
    done(&folder, "run small.yaml");
    folder
}

/// Runs a command that must end well.
pub(crate) fn done(folder: &Folder, args: &str) -> Run {
    let run = folder.run(args);
    assert_eq!(run.status, 0, "{args}: {}{}", run.stdout, run.stderr);
    run
}

/// The one JSON object that a command prints.
pub(crate) fn object(run: &Run) -> Value {
    let mut lines = json(&run.stdout);
    assert_eq!(lines.len(), 1, "{}", run.stdout);
    lines.remove(0)
}

/// Checks that an object has these keys and no others.
pub(crate) fn assert_keys(value: &Value, wanted: &[&str]) {
    let mut wanted = wanted.to_vec();
    wanted.sort_unstable();
    let found: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(found, wanted, "{value}");
}

/// The records of a run as its CSV export has them, each by column, without the time they took.
pub(crate) fn records(folder: &Folder, run: &str) -> Vec<BTreeMap<String, String>> {
    let file = format!("{}.csv", run.replace('/', "_"));
    done(folder, &format!("export {run} -o {file}"));
    let mut reader = csv::Reader::from_path(folder.path(&file)).unwrap();
    let mut rows: Vec<BTreeMap<String, String>> =
        reader.deserialize().collect::<Result<_, _>>().unwrap();
    for row in &mut rows {
        assert!(row.remove("micros").is_some(), "{row:?}");
    }
    rows
}

/// Says where two runs differ; all of their records would say too much.
pub(crate) fn assert_same(
    found: &[BTreeMap<String, String>],
    wanted: &[BTreeMap<String, String>],
    when: &str,
) {
    assert_eq!(found.len(), wanted.len(), "{when}");
    for (found, wanted) in found.iter().zip(wanted) {
        assert_eq!(found, wanted, "{when}");
    }
}

/// A command that goes on beside the test, and no longer than that.
pub(crate) struct Beside(Child);

impl Beside {
    /// Starts it; what it notes goes into a file, since a pipe that nobody reads would stop it.
    pub(crate) fn start(folder: &Folder, args: &str, notes: &str) -> Self {
        let notes = std::fs::File::create(folder.path(notes)).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_faultlens"));
        command.current_dir(folder.path("")).args(args.split_whitespace());
        Self(command.stdout(Stdio::null()).stderr(notes).spawn().unwrap())
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// The exit status, once it has ended by itself.
    pub(crate) fn wait(mut self) -> Option<i32> {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(60) {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        None
    }

    /// The same, but SIGHUP is ignored from the start, as under `nohup`.
    pub(crate) fn start_without_hang_up(folder: &Folder, args: &str, notes: &str) -> Self {
        let notes = std::fs::File::create(folder.path(notes)).unwrap();
        let run = format!("trap '' HUP; exec {} {args}", env!("CARGO_BIN_EXE_faultlens"));
        let mut command = Command::new("sh");
        command.current_dir(folder.path("")).args(["-c", &run]);
        Self(command.stdout(Stdio::null()).stderr(notes).spawn().unwrap())
    }

    /// The same, with a terminal that is gone: nobody reads results and notes.
    pub(crate) fn start_unread(folder: &Folder, args: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_faultlens"));
        command.current_dir(folder.path("")).args(args.split_whitespace());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop((child.stdout.take(), child.stderr.take()));
        Self(child)
    }

    /// Sends a signal, such as `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        let mut kill = Command::new("kill");
        assert!(
            kill.args([&format!("-{name}"), &self.id().to_string()]).status().unwrap().success()
        );
    }

    /// Sends SIGTERM; the exit status.
    pub(crate) fn terminate(mut self) -> Option<i32> {
        self.signal("TERM");
        self.0.wait().unwrap().code()
    }

    /// Sends SIGKILL; whether that was what ended it.
    pub(crate) fn kill(mut self) -> bool {
        self.0.kill().unwrap();
        self.0.wait().unwrap().code().is_none()
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until a run that writes its events into this file has recorded something.
pub(crate) fn wait_for_trials(folder: &Folder, events: &str) {
    let start = Instant::now();
    while !std::fs::read_to_string(folder.path(events)).is_ok_and(|text| text.contains("\"trial\""))
    {
        assert!(start.elapsed() < Duration::from_secs(60), "no trial was recorded");
        std::thread::sleep(Duration::from_millis(5));
    }
}
