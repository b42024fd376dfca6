//! The database: its tables, and how it is opened.
//!
//! `trials` has one row a trial, of small integers; what many trials share stands in `names`,
//! `places` and `groups`. People read the view `records`, which puts all of it together.

use super::bits::{exponents, readable};
use super::directory::RECORDS;
use super::error::StoreError;
use super::legacy::LEGACY_VERSION;
use super::manifest::Manifest;
use super::seal::Seal;
use rusqlite::{Connection, OpenFlags};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The version of the tables; raised when a reader of an older one would go wrong.
pub(super) const SCHEMA_VERSION: i64 = 7;

/// The format of runs that were made before rows had checksums.
const UNCHECKED_VERSION: i64 = 6;

/// The form in which a run keeps its records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// What this version writes.
    Current,
    /// Format 6: without checksums. It is read, and not written to.
    Unchecked,
    /// Format 5: measures as texts. It is read, and not written to.
    Legacy,
}

/// How long to wait for a reader or for a checkpoint before giving up.
const PATIENCE: Duration = Duration::from_secs(10);

const TABLES: &str = r"
-- One row: how many rows the tables have, the sums of their checksums, and whether the run is
-- complete. Columns called sum hold the checksum of the row and of all that it points to.
CREATE TABLE seal(id INTEGER PRIMARY KEY, json TEXT NOT NULL, sum INTEGER NOT NULL);
CREATE TABLE targets(target INTEGER PRIMARY KEY, name TEXT NOT NULL, model TEXT NOT NULL);
CREATE TABLE faults(fault INTEGER PRIMARY KEY, name TEXT NOT NULL, label TEXT NOT NULL,
    spec TEXT NOT NULL, dose_axis TEXT, dose REAL);
CREATE TABLE exponents(exponent INTEGER PRIMARY KEY, factor REAL NOT NULL);
-- Texts that many rows share.
CREATE TABLE names(id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE places(id INTEGER PRIMARY KEY, value TEXT NOT NULL, operator TEXT NOT NULL,
    kind TEXT NOT NULL, position INTEGER NOT NULL, layer INTEGER NOT NULL,
    layer_name TEXT NOT NULL);
-- What a trial was of and what became of it; same: the answer has the bits of the golden one.
CREATE TABLE groups(id INTEGER PRIMARY KEY, target INTEGER NOT NULL, fault INTEGER NOT NULL,
    outcome TEXT NOT NULL, reason TEXT, same INTEGER NOT NULL);
CREATE TABLE cases(case_no INTEGER PRIMARY KEY, name TEXT NOT NULL, label TEXT,
    width INTEGER NOT NULL, height INTEGER NOT NULL, digest INTEGER, error TEXT,
    sum INTEGER NOT NULL);
CREATE TABLE strata(case_no INTEGER, name TEXT, value TEXT NOT NULL,
    PRIMARY KEY(case_no, name)) WITHOUT ROWID;
CREATE TABLE goldens(target INTEGER, case_no INTEGER, answer INTEGER, score INTEGER,
    correct INTEGER, digest INTEGER, error TEXT, truth INTEGER, positive INTEGER, scene TEXT,
    sum INTEGER NOT NULL, PRIMARY KEY(target, case_no)) WITHOUT ROWID;
-- ids: 16 bytes of the trial's identity, and 8 of the answer's digest. spot: the element times
-- 128, plus the bit and 1 where a bit differs. score: the bits of a 32-bit float. before, after:
-- those bits, or a real, or a blob with the bits of a 64-bit NaN; after is NULL where it is before
-- with that bit flipped. The group may say that answer, score and digest are the golden ones;
-- they are left out then.
CREATE TABLE trials(number INTEGER PRIMARY KEY, ids BLOB NOT NULL, grp INTEGER NOT NULL,
    case_no INTEGER NOT NULL, repeat INTEGER NOT NULL, place INTEGER, spot INTEGER,
    before, after, answer INTEGER, score INTEGER, queries INTEGER NOT NULL,
    micros INTEGER NOT NULL, sum INTEGER NOT NULL);
-- What was measured of a trial, and what plug-ins recorded besides.
CREATE TABLE measures(number INTEGER PRIMARY KEY, json TEXT NOT NULL);
CREATE TABLE extras(number INTEGER PRIMARY KEY, json TEXT NOT NULL);
CREATE TABLE examples(number INTEGER PRIMARY KEY, before TEXT, after TEXT);
CREATE TABLE example_answers(number INTEGER, observed INTEGER, rank INTEGER,
    label TEXT NOT NULL, score, PRIMARY KEY(number, observed, rank)) WITHOUT ROWID;
-- Answers that can be looked at: of a target, a case and a fault; -1 is the undisturbed answer, -2
-- what was shown, and -3 less the fault the undisturbed answer beside that under the fault.
CREATE TABLE pictures(target INTEGER, case_no INTEGER, fault INTEGER, path TEXT NOT NULL,
    PRIMARY KEY(target, case_no, fault)) WITHOUT ROWID;
CREATE TABLE pins(id INTEGER PRIMARY KEY, name TEXT NOT NULL, what TEXT NOT NULL,
    outcome TEXT NOT NULL, reason TEXT);
";

/// Which trial an answer that can be looked at is of, or would be if it could be drawn. Runs that
/// were begun without this table get it when they end.
pub(super) const SHOWN: &str = r"
CREATE TABLE IF NOT EXISTS shown(target INTEGER, case_no INTEGER, fault INTEGER,
    number INTEGER NOT NULL, PRIMARY KEY(target, case_no, fault)) WITHOUT ROWID;
";

/// The view for people; kept beside the tables, so that `sqlite3` shows it without faultlens.
fn view() -> String {
    let bit = "(nullif(t.spot & 127, 0) - 1)";
    let flipped = format!("((t.before | (1 << {bit})) - (t.before & (1 << {bit})))");
    format!(
        "CREATE VIEW records AS SELECT t.number, lower(hex(substr(t.ids, 1, 16))) AS trial,
         coalesce(target.name, g.target) AS target, coalesce(c.name, t.case_no) AS case_name,
         c.label, coalesce(f.label, g.fault) AS fault, f.spec AS fault_spec, f.dose_axis, f.dose,
         t.repeat, g.outcome, g.reason, p.value, p.operator, p.kind,
         p.position, p.layer, p.layer_name, t.spot >> 7 AS element, {bit} AS bit,
         {before} AS before,
         CASE WHEN t.after IS NULL AND t.place IS NOT NULL THEN {flip} ELSE {after} END AS after,
         golden_name.text AS golden, {golden_score} AS golden_score,
         golden.correct AS golden_correct,
         CASE WHEN g.same THEN golden_name.text ELSE answer.text END AS answer,
         CASE WHEN g.same THEN {golden_score} ELSE {score} END AS score, t.queries,
         CASE WHEN g.same THEN printf('%016x', golden.digest)
         WHEN length(t.ids) > 16 THEN lower(hex(substr(t.ids, 17))) END AS digest,
         t.micros, measures.json AS measures, extras.json AS extra
         FROM trials t JOIN groups g ON g.id = t.grp
         LEFT JOIN targets target ON target.target = g.target
         LEFT JOIN faults f ON f.fault = g.fault
         LEFT JOIN cases c ON c.case_no = t.case_no
         LEFT JOIN places p ON p.id = t.place
         LEFT JOIN goldens golden ON golden.target = g.target AND golden.case_no = t.case_no
         LEFT JOIN names golden_name ON golden_name.id = golden.answer
         LEFT JOIN names answer ON answer.id = t.answer
         LEFT JOIN measures ON measures.number = t.number
         LEFT JOIN extras ON extras.number = t.number",
        before = readable("t.before"),
        flip = readable(&flipped),
        after = readable("t.after"),
        golden_score = readable("golden.score"),
        score = readable("t.score"),
    )
}

/// Makes the database, or finishes making it where that was interrupted.
pub(super) fn create(dir: &Path) -> Result<Connection, StoreError> {
    let path = dir.join(RECORDS);
    let sql = || StoreError::sql(&path);
    let mut database = Connection::open(&path).map_err(sql())?;
    // Rows are written in order, a page holds about a hundred of them.
    database.pragma_update(None, "page_size", 8192).map_err(sql())?;
    to_write(&database, &path)?;
    if version(&database, &path)? == 0 {
        let tables = database.transaction().map_err(sql())?;
        make(&tables).map_err(sql())?;
        tables.commit().map_err(sql())?;
    }
    Ok(database)
}

/// Makes tables and view in an empty database.
pub(super) fn make(database: &Connection) -> rusqlite::Result<()> {
    database.execute_batch(TABLES)?;
    database.execute_batch(SHOWN)?;
    database.execute_batch(&view())?;
    database.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    let mut put = database.prepare("INSERT INTO exponents VALUES (?, ?)")?;
    for (exponent, factor) in exponents() {
        put.execute((exponent, factor))?;
    }
    Seal::default().write(database)
}

/// Forgets all that a run has put into the tables.
pub(super) fn empty(database: &Connection) -> rusqlite::Result<()> {
    let tables = [
        "names",
        "places",
        "groups",
        "cases",
        "strata",
        "goldens",
        "trials",
        "measures",
        "extras",
        "examples",
        "example_answers",
        "pictures",
        "shown",
        "pins",
    ];
    database.execute_batch(SHOWN)?;
    for table in tables {
        database.execute_batch(&format!("DELETE FROM {table}"))?;
    }
    Seal::default().write(database)
}

/// Repeats what the view needs of the manifest, instead of what an earlier one said.
pub(super) fn describe(database: &Connection, manifest: &Manifest) -> rusqlite::Result<()> {
    database.execute_batch("DELETE FROM targets; DELETE FROM faults")?;
    for (at, target) in (0_i64..).zip(&manifest.targets) {
        let row = (at, &target.name, &target.model);
        database.execute("INSERT INTO targets VALUES (?, ?, ?)", row)?;
    }
    for (at, fault) in (0_i64..).zip(&manifest.faults) {
        let row = (at, &fault.name, &fault.label, &fault.spec, &fault.axis, fault.amount);
        database.execute("INSERT INTO faults VALUES (?, ?, ?, ?, ?, ?)", row)?;
    }
    Ok(())
}

/// Opens the database of a run to write on.
pub(super) fn open(dir: &Path) -> Result<Connection, StoreError> {
    let path = existing(dir)?;
    let database = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)
        .map_err(StoreError::sql(&path))?;
    let found = match checked(&database, &path)? {
        Format::Current => None,
        Format::Unchecked => Some(UNCHECKED_VERSION),
        Format::Legacy => Some(LEGACY_VERSION),
    };
    if let Some(found) = found {
        return Err(StoreError::NotResumable { found, known: SCHEMA_VERSION, path });
    }
    to_write(&database, &path)?;
    Ok(database)
}

/// Opens the database of a run to read, without leaving a file behind.
pub(super) fn read(dir: &Path) -> Result<(Connection, Format), StoreError> {
    let path = existing(dir)?;
    let log = fs::metadata(dir.join(format!("{RECORDS}-wal"))).map(|log| log.len()).ok();
    roll_back(&path, dir)?;
    // Without a log the file alone is complete. SQLite would make an empty one to share it.
    if log.is_none() && is_logged(&path)? {
        return read_alone(&path);
    }
    match read_shared(&path) {
        Err(StoreError::Database { .. } | StoreError::ReadOnly { .. }) if log == Some(0) => {
            read_alone(&path)
        }
        // Reading the file alone would leave out the last records.
        Err(StoreError::Database { .. } | StoreError::ReadOnly { .. }) if log.is_some() => {
            Err(StoreError::Unsettled { path })
        }
        other => other,
    }
}

/// Undoes what a power cut left half done while the log was put into the one file. Readers cannot do
/// that themselves.
fn roll_back(path: &Path, dir: &Path) -> Result<(), StoreError> {
    let journal = fs::metadata(dir.join(format!("{RECORDS}-journal")));
    if journal.map_or(0, |journal| journal.len()) == 0 {
        return Ok(());
    }
    let opened = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
        .map_err(StoreError::sql(path))
        .and_then(|database| {
            database.busy_timeout(PATIENCE).map_err(StoreError::sql(path))?;
            version(&database, path)
        });
    match opened {
        Err(StoreError::Database { .. } | StoreError::ReadOnly { .. }) => {
            Err(StoreError::Unsettled { path: path.to_path_buf() })
        }
        other => other.map(|_| ()),
    }
}

/// Whether a write-ahead log belongs to the database, as the 19th byte of its header says.
fn is_logged(path: &Path) -> Result<bool, StoreError> {
    let mut header = [0; 19];
    match File::open(path).and_then(|mut file| file.read_exact(&mut header)) {
        Ok(()) => Ok(header[18] == 2),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(StoreError::io("read the records", path)(error)),
    }
}

fn read_shared(path: &Path) -> Result<(Connection, Format), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let database = Connection::open_with_flags(path, flags).map_err(StoreError::sql(path))?;
    database.busy_timeout(PATIENCE).map_err(StoreError::sql(path))?;
    let format = checked(&database, path)?;
    Ok((database, format))
}

fn read_alone(path: &Path) -> Result<(Connection, Format), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let database =
        Connection::open_with_flags(alone(path), flags).map_err(StoreError::sql(path))?;
    let format = checked(&database, path)?;
    Ok((database, format))
}

/// The address by which SQLite opens a file that nobody changes.
fn alone(path: &Path) -> String {
    let mut address = "file:".to_owned();
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'%' | b'?' | b'#' => address.push_str(&format!("%{byte:02x}")),
            _ if byte.is_ascii() => address.push(byte.into()),
            _ => address.push_str(&format!("%{byte:02x}")),
        }
    }
    address + "?immutable=1"
}

fn existing(dir: &Path) -> Result<PathBuf, StoreError> {
    let path = dir.join(RECORDS);
    if path.is_file() {
        return Ok(path);
    }
    Err(StoreError::NotARun { missing: RECORDS, path: dir.to_path_buf() })
}

fn version(database: &Connection, path: &Path) -> Result<i64, StoreError> {
    database
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .map_err(StoreError::sql(path))
}

fn checked(database: &Connection, path: &Path) -> Result<Format, StoreError> {
    match version(database, path)? {
        SCHEMA_VERSION => Ok(Format::Current),
        UNCHECKED_VERSION => Ok(Format::Unchecked),
        LEGACY_VERSION => Ok(Format::Legacy),
        0 => Err(StoreError::corrupt("it has no records in it", path)),
        found if found < SCHEMA_VERSION => {
            Err(StoreError::Older { found, known: SCHEMA_VERSION, path: path.to_path_buf() })
        }
        found => Err(StoreError::Newer { found, known: SCHEMA_VERSION, path: path.to_path_buf() }),
    }
}

/// With a write-ahead log, readers and the writer do not wait for each other, and a process that
/// is killed loses nothing that it committed.
fn to_write(database: &Connection, path: &Path) -> Result<(), StoreError> {
    let sql = || StoreError::sql(path);
    database.busy_timeout(PATIENCE).map_err(sql())?;
    journal(database, "WAL").map_err(sql())?;
    database.pragma_update(None, "synchronous", "NORMAL").map_err(sql())?;
    database.pragma_update(None, "cache_size", -32_000).map_err(sql())?;
    database.set_prepared_statement_cache_capacity(32);
    Ok(())
}

/// Whether every commit waits until the disk has it. Without that, what was committed last may be
/// gone after a power cut, and nothing else.
pub(super) fn sync_commits(database: &Connection, sync: bool) -> rusqlite::Result<()> {
    database.pragma_update(None, "synchronous", if sync { "FULL" } else { "NORMAL" })
}

/// Moves all from the log into the database, and waits until the disk has it.
pub(super) fn checkpoint(database: &Connection) -> rusqlite::Result<()> {
    database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))
}

/// Puts all into the one file, which can then be read where nothing can be written.
pub(super) fn settle(database: &Connection) -> rusqlite::Result<()> {
    database.busy_timeout(Duration::ZERO)?;
    journal(database, "DELETE")
}

fn journal(database: &Connection, mode: &str) -> rusqlite::Result<()> {
    database.pragma_update_and_check(None, "journal_mode", mode, |_| Ok(()))
}
