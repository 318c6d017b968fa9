//! Looking into a table without reading all of it.

use polars::prelude::*;
use serde_json::{Map, Value};

use super::{Error, StageReader, from_frame};
use crate::record::Record;

/// A table as a lazy frame: only the columns and rows that a query needs are decoded.
///
/// # Errors
/// [`Error::Damaged`] where a part is no Parquet file.
pub fn scan<R: Record>(stage: &StageReader, table: &str) -> Result<LazyFrame, Error> {
    let damaged = |e: PolarsError| Error::stale_file(&stage.place().join(table), e);
    let paths: Vec<PlRefPath> = stage
        .table(table)
        .parts
        .iter()
        .map(|part| PlRefPath::from(stage.place().join(&part.file).to_string_lossy().as_ref()))
        .collect();
    if paths.is_empty() {
        return super::to_frame::<R>(&[]).map(IntoLazy::lazy).map_err(damaged);
    }
    let args = ScanArgsParquet { glob: false, ..ScanArgsParquet::default() };
    LazyFrame::scan_parquet_files(paths.into_iter().collect(), args).map_err(damaged)
}

/// The rows of a table that a filter lets through, in order.
///
/// # Errors
/// [`Error::Damaged`] where a part is no Parquet file or has other columns.
pub fn select<R: Record>(stage: &StageReader, table: &str, filter: Expr) -> Result<Vec<R>, Error> {
    let damaged = |e: PolarsError| Error::stale_file(&stage.place().join(table), e);
    let columns: Vec<Expr> = R::COLUMNS.iter().map(|c| col(c.name)).collect();
    let frame = scan::<R>(stage, table)?.filter(filter).select(columns).collect().map_err(damaged)?;
    from_frame(&frame).map_err(damaged)
}

/// A filter for rows whose column is one of a few values.
pub fn any_of<'a>(column: &str, values: impl IntoIterator<Item = &'a str>) -> Expr {
    let equal = values.into_iter().map(|value| col(column).eq(lit(value.to_string())));
    equal.reduce(Expr::or).unwrap_or_else(|| lit(false))
}

/// The rows of a table that a filter lets through, a part at a time, so that memory does not grow
/// with the table.
pub fn select_parts<R: Record>(
    stage: &StageReader,
    table: &str,
    filter: Option<Expr>,
) -> impl Iterator<Item = Result<Vec<R>, Error>> + use<R> {
    let place = stage.place().to_path_buf();
    stage.table(table).parts.into_iter().map(move |part| {
        let path = place.join(&part.file);
        let columns: Vec<Expr> = R::COLUMNS.iter().map(|c| col(c.name)).collect();
        let frame = lazy(&path).map(|frame| match &filter {
            Some(filter) => frame.filter(filter.clone()),
            None => frame,
        });
        let frame = frame.and_then(|frame| frame.select(columns).collect());
        frame.and_then(|frame| from_frame(&frame)).map_err(|e| Error::stale_file(&path, e))
    })
}

/// A table of whatever record type as JSON objects, a part at a time. `columns` are decoded where the
/// table has them; none named means all.
pub fn json_parts(
    stage: &StageReader,
    table: &str,
    columns: &'static [&'static str],
) -> impl Iterator<Item = Result<Vec<Map<String, Value>>, Error>> + use<> {
    let place = stage.place().to_path_buf();
    stage.table(table).parts.into_iter().map(move |part| {
        let path = place.join(&part.file);
        let frame = lazy(&path).and_then(|mut frame| {
            if columns.is_empty() {
                return frame.collect();
            }
            let schema = frame.collect_schema()?;
            let known: Vec<Expr> = columns.iter().filter(|c| schema.contains(c)).map(|c| col(*c)).collect();
            frame.select(known).collect()
        });
        frame.and_then(|frame| objects(&frame)).map_err(|e| Error::stale_file(&path, e))
    })
}

/// Some columns of one part of a table, for looking at a few rows of it; columns that it has not are left out.
///
/// # Errors
/// [`Error::Damaged`] where the part is no Parquet file.
pub fn part_columns(
    stage: &StageReader,
    table: &str,
    part: usize,
    columns: &[&str],
) -> Result<DataFrame, Error> {
    part_slices(stage, table, part, columns, std::iter::once((0, usize::MAX)))
}

/// Some columns of a few rows of one part. `rows` ascends. Only the pages of the file that hold them are
/// decoded, run by run: cheap where they are a few, or stand together.
///
/// # Errors
/// [`Error::Damaged`] where the part is no Parquet file.
pub fn part_rows(
    stage: &StageReader,
    table: &str,
    part: usize,
    columns: &[&str],
    rows: &[usize],
) -> Result<DataFrame, Error> {
    let runs = rows.chunk_by(|row, next| row + 1 == *next).filter_map(|run| Some((*run.first()?, run.len())));
    part_slices(stage, table, part, columns, runs)
}

/// The slices, `(first row, rows)`, one below the other.
fn part_slices(
    stage: &StageReader,
    table: &str,
    part: usize,
    columns: &[&str],
    slices: impl Iterator<Item = (usize, usize)>,
) -> Result<DataFrame, Error> {
    let parts = stage.manifest().tables.get(table).map(|table| table.parts.as_slice()).unwrap_or_default();
    let Some(part) = parts.get(part) else { return Ok(DataFrame::default()) };
    let path = stage.place().join(&part.file);
    let open = || std::fs::File::open(&path).map_err(Error::io("read", &path));
    let damaged = |e: PolarsError| Error::stale_file(&path, e);
    let mut whole: Option<DataFrame> = None;
    for slice in slices {
        let mut reader = ParquetReader::new(open()?);
        let schema = reader.schema().map_err(damaged)?;
        let known = columns.iter().filter(|c| schema.contains(c)).map(|c| (*c).to_string()).collect();
        let reader = reader.with_columns(Some(known)).with_slice(Some(slice));
        let frame = reader.read_parallel(ParallelStrategy::None).finish().map_err(damaged)?;
        whole = Some(match whole {
            Some(above) => above.vstack(&frame).map_err(damaged)?,
            None => frame,
        });
    }
    Ok(whole.unwrap_or_default())
}

fn lazy(path: &std::path::Path) -> PolarsResult<LazyFrame> {
    let args = ScanArgsParquet { glob: false, ..ScanArgsParquet::default() };
    let path = PlRefPath::from(path.to_string_lossy().as_ref());
    LazyFrame::scan_parquet_files(std::iter::once(path).collect(), args)
}

fn objects(frame: &DataFrame) -> PolarsResult<Vec<Map<String, Value>>> {
    let mut rows = vec![Map::new(); frame.height()];
    for column in frame.columns() {
        for (i, row) in rows.iter_mut().enumerate() {
            row.insert(column.name().to_string(), json(column.get(i)?));
        }
    }
    Ok(rows)
}

/// Rows of a foreign Parquet file as JSON objects, `count` of them from `offset` on; none behind its end.
///
/// # Errors
/// Where the file is damaged or no Parquet.
pub fn parquet_rows(
    path: &std::path::Path,
    offset: u64,
    count: usize,
) -> PolarsResult<Vec<Map<String, Value>>> {
    objects(&lazy(path)?.slice(offset as i64, count as u32).collect()?)
}

/// Numbers, texts, flags and lists of them; anything else is null.
fn json(value: AnyValue<'_>) -> Value {
    match value {
        AnyValue::String(s) => s.into(),
        AnyValue::StringOwned(s) => s.as_str().into(),
        AnyValue::UInt64(n) => n.into(),
        AnyValue::Int64(n) => n.into(),
        AnyValue::UInt32(n) => n.into(),
        AnyValue::Int32(n) => n.into(),
        AnyValue::UInt16(n) => n.into(),
        AnyValue::Int16(n) => n.into(),
        AnyValue::UInt8(n) => n.into(),
        AnyValue::Int8(n) => n.into(),
        AnyValue::Float64(x) => x.into(),
        AnyValue::Float32(x) => x.into(),
        AnyValue::Boolean(flag) => flag.into(),
        AnyValue::List(list) => list.iter().map(json).collect(),
        _ => Value::Null,
    }
}
