//! Records for other tools: one row each, with everything that belongs to it in readable columns.

mod columns;
mod csv;
mod file;
mod parquet;

pub use csv::{export_csv, export_csv_file};
pub use parquet::export_parquet;
