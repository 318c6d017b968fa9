//! Released rows as Parquet: one row group per batch, written as the batches arrive.

use std::path::{Path, PathBuf};

use polars::prelude::*;
use polars_io::SerReader;
use polars_io::prelude::{ParallelStrategy, ParquetCompression, ParquetReader, ParquetWriter};

use super::layout::{Column as Shape, ColumnKind};
use super::row::{Row, Value};
use crate::store::{Error, stated_types};
use riddlemill_files::fence;

/// The Arrow types stated in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Types {
    /// Types supported by every reader.
    Plain,
    /// Polars' own view types, as in releases of an earlier version of the program.
    Views,
}

/// Writes a Parquet file: `batches` is called with a function that writes one batch.
///
/// # Errors
/// The error of `batches`, or [`Error::Io`] if the file cannot be written completely.
pub(super) fn write_parquet<T>(
    path: &Path,
    shapes: &[Shape],
    types: Types,
    batches: impl FnOnce(&mut (dyn FnMut(&[Row]) -> Result<(), Error> + Send)) -> Result<T, Error>,
) -> Result<T, Error> {
    let refused = |e: PolarsError| match e {
        // The kind distinguishes a full disk from a missing permission.
        PolarsError::IO { error, .. } => {
            Error::io("write", path)(std::io::Error::new(error.kind(), error.to_string()))
        }
        e => Error::io("write", path)(std::io::Error::other(e)),
    };
    let file = fence::create(path).map_err(Error::io("create", path))?;
    let empty = build_frame(shapes, &[]).map_err(refused)?;
    let mut writer = ParquetWriter::new(&file)
        .with_compression(ParquetCompression::Zstd(None))
        .set_parallel(false)
        .with_key_value_metadata((types == Types::Plain).then(|| stated_types(empty.schema())))
        .batched(empty.schema())
        .map_err(refused)?;
    let done = batches(&mut |rows| {
        let frame = build_frame(shapes, rows).map_err(refused)?;
        writer.write_batch(&frame).map_err(refused)
    })?;
    writer.finish().map_err(refused)?;
    file.sync_data().map_err(Error::io("write", path))?;
    Ok(done)
}

fn build_frame(shapes: &[Shape], rows: &[Row]) -> PolarsResult<DataFrame> {
    let columns = shapes.iter().enumerate().map(|(i, column)| {
        let values = rows.iter().map(|row| row.0.get(i).unwrap_or(&Value::Null));
        build_series(column.name.into(), column.kind, rows.len(), values)
    });
    DataFrame::new(rows.len(), columns.collect())
}

/// Counts as signed Parquet integers, which every reader supports.
fn to_signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn build_series<'a>(
    name: PlSmallStr,
    kind: ColumnKind,
    rows: usize,
    values: impl Iterator<Item = &'a Value>,
) -> Column {
    match kind {
        ColumnKind::Text => {
            let mut column = StringChunkedBuilder::new(name, rows);
            for value in values {
                match value {
                    Value::Text(text) => column.append_value(text),
                    _ => column.append_null(),
                }
            }
            column.finish().into_column()
        }
        ColumnKind::Count => {
            let mut column = PrimitiveChunkedBuilder::<Int64Type>::new(name, rows);
            for value in values {
                match value {
                    Value::Count(n) => column.append_value(to_signed(*n)),
                    _ => column.append_null(),
                }
            }
            column.finish().into_column()
        }
        ColumnKind::Real => {
            let mut column = PrimitiveChunkedBuilder::<Float64Type>::new(name, rows);
            for value in values {
                match value {
                    Value::Real(x) => column.append_value(*x),
                    _ => column.append_null(),
                }
            }
            column.finish().into_column()
        }
        ColumnKind::Flag => {
            let mut column = BooleanChunkedBuilder::new(name, rows);
            for value in values {
                match value {
                    Value::Flag(flag) => column.append_value(*flag),
                    _ => column.append_null(),
                }
            }
            column.finish().into_column()
        }
        ColumnKind::Texts => {
            let mut column = ListStringChunkedBuilder::new(name, rows, rows);
            for value in values {
                match value {
                    Value::Texts(list) => column.append_values_iter(list.iter().map(String::as_str)),
                    _ => column.append_null(),
                }
            }
            column.finish().into_column()
        }
        ColumnKind::Counts => {
            let mut column = ListPrimitiveChunkedBuilder::<Int64Type>::new(name, rows, rows, DataType::Int64);
            for value in values {
                match value {
                    Value::Counts(list) => {
                        column.append_slice(&list.iter().map(|n| to_signed(*n)).collect::<Vec<_>>())
                    }
                    _ => column.append_null(),
                }
            }
            column.finish().into_column()
        }
        ColumnKind::Reals => {
            let mut column =
                ListPrimitiveChunkedBuilder::<Float64Type>::new(name, rows, rows, DataType::Float64);
            for value in values {
                match value {
                    Value::Reals(list) => column.append_slice(list),
                    _ => column.append_null(),
                }
            }
            column.finish().into_column()
        }
    }
}

/// Reads a Parquet file back.
///
/// # Errors
/// [`Error`] if it is damaged, or a column is missing or of another type.
pub(super) fn read_parquet(path: &Path, shapes: &[Shape]) -> Result<Vec<Row>, Error> {
    let damaged = |e: PolarsError| Error::stale_file(path, e);
    let file = fence::open(path).map_err(Error::io("read", path))?;
    let frame = ParquetReader::new(file).read_parallel(ParallelStrategy::None).finish().map_err(damaged)?;
    let mut rows: Vec<Row> = (0..frame.height()).map(|_| Row(Vec::with_capacity(shapes.len()))).collect();
    for column in shapes {
        let values =
            frame.column(column.name).and_then(|c| values_of_column(c, column.kind)).map_err(damaged)?;
        rows.iter_mut().zip(values).for_each(|(row, value)| row.0.push(value));
    }
    Ok(rows)
}

/// Some rows of Parquet files, counted through them, as the bytes of another, in this order, with the same columns and types.
///
/// # Errors
/// [`Error`] if a file is damaged, or if they have fewer rows.
pub(super) fn select_rows(paths: &[PathBuf], places: impl Iterator<Item = usize>) -> Result<Vec<u8>, Error> {
    let damaged =
        |e: PolarsError| Error::stale_file(paths.first().map_or(Path::new(""), PathBuf::as_path), e);
    let mut frame = DataFrame::empty();
    for path in paths {
        let file = fence::open(path).map_err(Error::io("read", path))?;
        let read = ParquetReader::new(file).read_parallel(ParallelStrategy::None).finish();
        let read = read.map_err(|e| Error::stale_file(path, e))?;
        frame = if frame.width() == 0 { read } else { frame.vstack(&read).map_err(damaged)? };
    }
    let places: Vec<IdxSize> = places.map(|at| IdxSize::try_from(at).unwrap_or(IdxSize::MAX)).collect();
    let mut frame = frame.take(&IdxCa::from_vec(PlSmallStr::EMPTY, places)).map_err(damaged)?;
    let mut bytes = Vec::new();
    ParquetWriter::new(&mut bytes)
        .with_compression(ParquetCompression::Zstd(None))
        .set_parallel(false)
        .with_key_value_metadata(Some(stated_types(frame.schema())))
        .finish(&mut frame)
        .map_err(damaged)?;
    Ok(bytes)
}

fn values_of_column(column: &Column, kind: ColumnKind) -> PolarsResult<Vec<Value>> {
    fn map_cells<T>(cells: impl Iterator<Item = Option<T>>, value: impl Fn(T) -> Value) -> Vec<Value> {
        cells.map(|cell| cell.map_or(Value::Null, &value)).collect()
    }
    let whole = |n: i64| n.unsigned_abs();
    let (list, item) = kind.split_list_kind();
    if !list {
        return Ok(match item {
            ColumnKind::Count => map_cells(column.i64()?.iter(), |n| Value::Count(whole(n))),
            ColumnKind::Real => map_cells(column.f64()?.iter(), Value::Real),
            ColumnKind::Flag => map_cells(column.bool()?.iter(), Value::Flag),
            _ => map_cells(column.str()?.iter(), |text: &str| Value::Text(text.into())),
        });
    }
    let lists = column.list()?;
    let mut read = Vec::with_capacity(lists.len());
    for row in 0..lists.len() {
        let Some(items) = lists.get_as_series(row) else {
            read.push(Value::Null);
            continue;
        };
        read.push(match item {
            ColumnKind::Count => Value::Counts(items.i64()?.iter().flatten().map(whole).collect()),
            ColumnKind::Real => Value::Reals(items.f64()?.iter().flatten().collect()),
            _ => Value::Texts(items.str()?.iter().flatten().map(str::to_string).collect()),
        });
    }
    Ok(read)
}
