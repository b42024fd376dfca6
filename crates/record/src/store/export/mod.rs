//! Records for other tools: one row each, with everything that belongs to it in readable columns.

mod columns;
mod csv;
mod parquet;

pub use csv::export_csv;
pub use parquet::export_parquet;
