//! Parquet, for data frames and databases.

use super::columns::{Cell, CellKind, Column, Sheet};
use super::file::to_file;
use crate::store::{Store, StoreError};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int64Type,
};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

/// Records that are held and compressed together.
const ROW_GROUP: usize = 65_536;

/// Texts that differ in every record, so that a dictionary of them is only a detour.
const UNIQUE: [&str; 2] = ["trial", "digest"];

/// Writes all records as a Parquet file, in the order of their numbers; what a record does not
/// have is null. A file that is there already is replaced once the new one is whole.
pub fn export_parquet(store: &Store, path: &Path) -> Result<(), StoreError> {
    to_file(path, "write the Parquet file", |file| write(store, file, path))
}

fn write(store: &Store, file: &mut BufWriter<File>, path: &Path) -> Result<(), StoreError> {
    let wrong = |error| failed(error, path);
    let sheet = Sheet::new(store)?;
    let schema = schema(&sheet.columns).map_err(wrong)?;
    let mut writer =
        SerializedFileWriter::new(file, schema, Arc::new(properties())).map_err(wrong)?;
    let mut buffers: Vec<Buffer> =
        sheet.columns.iter().map(|column| Buffer::new(column.kind)).collect();
    let mut rows = 0;
    sheet.for_each(|cells| {
        buffers.iter_mut().zip(cells).for_each(|(buffer, cell)| buffer.push(cell));
        rows += 1;
        if rows == ROW_GROUP {
            rows = 0;
            write_group(&mut writer, &mut buffers).map_err(wrong)?;
        }
        Ok(())
    })?;
    if rows > 0 {
        write_group(&mut writer, &mut buffers).map_err(wrong)?;
    }
    writer.close().map_err(wrong)?;
    Ok(())
}

fn failed(error: ParquetError, path: &Path) -> StoreError {
    if let ParquetError::External(inner) = &error
        && let Some(inner) = inner.downcast_ref::<io::Error>()
        && inner.kind() == io::ErrorKind::StorageFull
    {
        return StoreError::Full { path: path.to_path_buf() };
    }
    StoreError::Parquet { source: error, path: path.to_path_buf() }
}

fn properties() -> WriterProperties {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(ROW_GROUP))
        .set_created_by(concat!("faultlens ", env!("CARGO_PKG_VERSION")).to_owned());
    let properties = UNIQUE.into_iter().fold(properties, |properties, name| {
        properties.set_column_dictionary_enabled(ColumnPath::new(vec![name.to_owned()]), false)
    });
    properties.build()
}

fn schema(columns: &[Column]) -> Result<Arc<Type>> {
    let field = |column: &Column| {
        let (physical, logical) = match column.kind {
            CellKind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            CellKind::Whole => (Physical::INT64, None),
            CellKind::Single => (Physical::FLOAT, None),
            CellKind::Real => (Physical::DOUBLE, None),
            CellKind::Flag => (Physical::BOOLEAN, None),
        };
        Type::primitive_type_builder(&column.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()
            .map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<Vec<_>>>()?;
    Type::group_type_builder("records").with_fields(fields).build().map(Arc::new)
}

/// The cells of one column in one row group.
struct Buffer {
    values: Values,
    /// 1 where a row has a value, 0 where it is null.
    present: Vec<i16>,
}

enum Values {
    Text(Vec<ByteArray>),
    Whole(Vec<i64>),
    Single(Vec<f32>),
    Real(Vec<f64>),
    Flag(Vec<bool>),
}

impl Buffer {
    fn new(kind: CellKind) -> Self {
        let values = match kind {
            CellKind::Text => Values::Text(Vec::new()),
            CellKind::Whole => Values::Whole(Vec::new()),
            CellKind::Single => Values::Single(Vec::new()),
            CellKind::Real => Values::Real(Vec::new()),
            CellKind::Flag => Values::Flag(Vec::new()),
        };
        Self { values, present: Vec::new() }
    }

    fn push(&mut self, cell: Cell<'_>) {
        let fits = match (&mut self.values, cell) {
            (Values::Text(values), Cell::Text(text)) => push(values, (&*text).into()),
            (Values::Whole(values), Cell::Whole(number)) => push(values, number),
            (Values::Single(values), Cell::Single(number)) => push(values, number),
            (Values::Real(values), Cell::Real(number)) => push(values, number),
            (Values::Flag(values), Cell::Flag(flag)) => push(values, flag),
            _ => false,
        };
        self.present.push(fits.into());
    }

    fn write(&mut self, column: &mut SerializedColumnWriter<'_>) -> Result<()> {
        let present = &self.present;
        match &mut self.values {
            Values::Text(values) => send::<ByteArrayType>(column, values, present),
            Values::Whole(values) => send::<Int64Type>(column, values, present),
            Values::Single(values) => send::<FloatType>(column, values, present),
            Values::Real(values) => send::<DoubleType>(column, values, present),
            Values::Flag(values) => send::<BoolType>(column, values, present),
        }?;
        self.present.clear();
        Ok(())
    }
}

fn push<T>(values: &mut Vec<T>, value: T) -> bool {
    values.push(value);
    true
}

fn send<T: DataType>(
    column: &mut SerializedColumnWriter<'_>,
    values: &mut Vec<T::T>,
    present: &[i16],
) -> Result<()> {
    column.typed::<T>().write_batch(values, Some(present), None)?;
    values.clear();
    Ok(())
}

fn write_group(
    writer: &mut SerializedFileWriter<impl Write + Send>,
    buffers: &mut [Buffer],
) -> Result<()> {
    let mut group = writer.next_row_group()?;
    for buffer in buffers {
        let Some(mut column) = group.next_column()? else { break };
        buffer.write(&mut column)?;
        column.close()?;
    }
    group.close()?;
    Ok(())
}
