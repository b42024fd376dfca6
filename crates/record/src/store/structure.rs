//! Whether a database is built as this version builds it.

use super::error::StoreError;
use super::interned::each;
use super::manifest::Manifest;
use super::schema::{describe, make};
use rusqlite::Connection;
use std::path::Path;

/// Checks the file's own structure, as SQLite knows it.
pub(super) fn check_file(database: &Connection, path: &Path) -> Result<(), StoreError> {
    let mut wrong = Vec::new();
    each::<rusqlite::Error>(database, "PRAGMA integrity_check(8)", |row| {
        let found: String = row.get(0)?;
        if found != "ok" {
            wrong.push(found);
        }
        Ok(())
    })
    .map_err(StoreError::sql(path))?;
    if wrong.is_empty() { Ok(()) } else { Err(StoreError::corrupt(wrong.join("; "), path)) }
}

/// Checks that tables and view are those that this version makes, and that what people see through
/// the view is what the manifest says.
pub(super) fn check_tables(
    database: &Connection,
    manifest: &Manifest,
    path: &Path,
) -> Result<(), StoreError> {
    let like = like(manifest).map_err(StoreError::sql(path))?;
    for (what, query) in COMPARED {
        let listed = |database: &Connection| {
            let mut rows = Vec::new();
            each::<rusqlite::Error>(database, query, |row| {
                rows.push(row.get::<_, String>(0)?);
                Ok(())
            })
            .map(|()| rows)
            .map_err(StoreError::sql(path))
        };
        if listed(database)? != listed(&like)? {
            return Err(StoreError::corrupt(format!("{what} are not as they were made"), path));
        }
    }
    Ok(())
}

/// What must be the same in every database of this version and manifest.
const COMPARED: [(&str, &str); 4] = [
    ("its tables", "SELECT type || name || coalesce(sql, '') FROM sqlite_master ORDER BY 1"),
    ("its names of targets", "SELECT target || name || model FROM targets ORDER BY target"),
    (
        "its names of faults",
        "SELECT fault || name || label || spec || coalesce(dose_axis, '') || \
         coalesce(printf('%!.17g', dose), '') FROM faults ORDER BY fault",
    ),
    (
        "its powers of two",
        "SELECT exponent || printf('%!.17g', factor) FROM exponents ORDER BY exponent",
    ),
];

/// A database as this version makes it, without records.
fn like(manifest: &Manifest) -> rusqlite::Result<Connection> {
    let database = Connection::open_in_memory()?;
    make(&database)?;
    describe(&database, manifest)?;
    Ok(database)
}
