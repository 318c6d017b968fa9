//! Queries on a table that do not read all of it.

use std::path::Path;
use std::sync::Arc;

use polars::prelude::*;
use polars_io::SerReader;
use polars_io::prelude::ParquetReader;
use rayon::prelude::*;
use serde_json::{Map, Value};

use super::filter::Filter;
use super::foreign_types::widen_footer;
use super::part_columns::{columns_of, open_parquet, part_columns, part_rows, slices_of};
use super::places::named_rows;
use super::{Error, StageReader, from_frame};
use riddlemill_files::fence;
use riddlemill_record::{Record, Typed};

/// Up to this many runs of rows are read separately instead of their whole part.
const FEW_RUNS: usize = 4;

/// The rows of a table that match a filter, in order. The parts are read on all cores; in a long table, rows
/// are found by name through an index.
///
/// # Errors
/// [`Error::Damaged`] if a part is not a Parquet file or has other columns.
pub fn select_rows<R: Typed>(stage: &StageReader, table: &str, filter: &Filter) -> Result<Vec<R>, Error> {
    select_of((), stage, table, filter)
}

/// [`select_rows`] of these columns.
///
/// # Errors
/// [`Error::Damaged`] if a part is not a Parquet file or has other columns.
pub fn select_of<R: Record>(
    columns: R::Columns,
    stage: &StageReader,
    table: &str,
    filter: &Filter,
) -> Result<Vec<R>, Error> {
    let names: Vec<&str> = R::described(columns).iter().map(|column| column.name).collect();
    if let Some(frames) = named_rows(stage, table, &names, filter) {
        let rows = |frame: DataFrame| {
            from_frame(columns, &frame).map_err(|e| Error::stale_file(&stage.folder().join(table), e))
        };
        let selected: Vec<Vec<R>> = frames?.into_iter().map(rows).collect::<Result<_, _>>()?;
        return Ok(selected.into_iter().flatten().collect());
    }
    let parts = stage.table(table).parts;
    let read = |file: &str| read_matching_rows::<R>(columns, &stage.folder().join(file), Some(filter));
    let selected: Vec<Vec<R>> = parts.par_iter().map(|part| read(&part.file)).collect::<Result<_, _>>()?;
    Ok(selected.into_iter().flatten().collect())
}

/// The results of `fold` for the matching rows of each part, in the order of the parts. They are read on all
/// cores, and a part's rows are freed before the next one's are read, so that memory does not grow with the
/// table.
///
/// # Errors
/// [`Error::Damaged`] if a part is not a Parquet file or has other columns.
pub fn fold_parts<R: Typed, T: Send>(
    stage: &StageReader,
    table: &str,
    filter: &Filter,
    fold: impl Fn(Vec<R>) -> T + Sync,
) -> Result<Vec<T>, Error> {
    let parts = stage.table(table).parts;
    let read = |file: &str| Ok(fold(read_matching_rows::<R>((), &stage.folder().join(file), Some(filter))?));
    parts.par_iter().map(|part| read(&part.file)).collect()
}

/// Some columns of the matching rows, if the table has them, one frame per part.
///
/// # Errors
/// [`Error::Damaged`] if a part is not a Parquet file or has other columns.
pub fn rows_where(
    stage: &StageReader,
    table: &str,
    columns: &[&str],
    filter: &Filter,
) -> Result<Vec<DataFrame>, Error> {
    if let Some(frames) = named_rows(stage, table, columns, filter) {
        return frames;
    }
    let parts = stage.table(table).parts;
    let read = |part: usize| -> Result<Option<DataFrame>, Error> {
        let looked_at = part_columns(stage, table, part, &filter.used_columns())?;
        let mask =
            filter.compute_mask(&looked_at).map_err(|e| Error::stale_file(&stage.folder().join(table), e))?;
        let rows: Vec<usize> =
            mask.iter().enumerate().filter_map(|(row, fits)| fits.then_some(row)).collect();
        (!rows.is_empty()).then(|| part_rows(stage, table, part, columns, &rows)).transpose()
    };
    let frames: Vec<Option<DataFrame>> =
        (0..parts.len()).into_par_iter().map(read).collect::<Result<_, _>>()?;
    Ok(frames.into_iter().flatten().collect())
}

/// The matching rows of a table, a part at a time, so that memory does not grow with the table.
pub fn select_parts<R: Typed>(
    stage: &StageReader,
    table: &str,
    filter: Option<Filter>,
) -> impl Iterator<Item = Result<Vec<R>, Error>> + use<R> {
    let place = stage.folder().to_path_buf();
    stage
        .table(table)
        .parts
        .into_iter()
        .map(move |part| read_matching_rows((), &place.join(&part.file), filter.as_ref()))
}

/// The matching rows of a part. The filter's columns are read first, and the rest of a part only if something
/// matches.
fn read_matching_rows<R: Record>(
    columns: R::Columns,
    path: &Path,
    filter: Option<&Filter>,
) -> Result<Vec<R>, Error> {
    let names: Vec<&str> = R::described(columns).iter().map(|column| column.name).collect();
    let rows = |frame: DataFrame| from_frame(columns, &frame).map_err(|e| Error::stale_file(path, e));
    let Some(filter) = filter else { return rows(columns_of(path, &names)?) };
    let looked_at = columns_of(path, &filter.used_columns())?;
    let mask = filter.compute_mask(&looked_at).map_err(|e| Error::stale_file(path, e))?;
    let runs = runs_of(&mask);
    if runs.len() <= FEW_RUNS {
        return match runs.is_empty() {
            true => Ok(Vec::new()),
            false => rows(slices_of(path, &names, runs.into_iter())?),
        };
    }
    let whole = columns_of(path, &names)?;
    let mask = BooleanChunked::from_slice(PlSmallStr::EMPTY, &mask);
    rows(whole.filter(&mask).map_err(|e| Error::stale_file(path, e))?)
}

/// The runs of matching rows: `(first row, rows)`.
fn runs_of(mask: &[bool]) -> Vec<(usize, usize)> {
    let mut runs = Vec::new();
    let mut first = 0;
    for run in mask.chunk_by(|a, b| a == b) {
        if run[0] {
            runs.push((first, run.len()));
        }
        first += run.len();
    }
    runs
}

/// A table of any record type as JSON objects, a part at a time. `columns` are decoded if the table has them;
/// an empty list means all.
pub fn json_parts(
    stage: &StageReader,
    table: &str,
    columns: &'static [&'static str],
) -> impl Iterator<Item = Result<Vec<Map<String, Value>>, Error>> + use<> {
    let place = stage.folder().to_path_buf();
    stage.table(table).parts.into_iter().map(move |part| {
        let path = place.join(&part.file);
        let frame = match columns.is_empty() {
            true => open_parquet(&path)?.finish().map_err(|e| Error::stale_file(&path, e)),
            false => columns_of(&path, columns),
        }?;
        rows_as_objects(&frame).map_err(|e| Error::stale_file(&path, e))
    })
}

fn rows_as_objects(frame: &DataFrame) -> PolarsResult<Vec<Map<String, Value>>> {
    let mut rows = vec![Map::new(); frame.height()];
    for column in frame.columns() {
        for (i, row) in rows.iter_mut().enumerate() {
            row.insert(column.name().to_string(), value_to_json(column.get(i)?));
        }
    }
    Ok(rows)
}

/// Rows of a foreign Parquet file as JSON objects, `count` of them from `offset` on; none after its end.
/// Columns of other types than numbers, texts, flags and lists of these are null.
///
/// # Errors
/// If the file is damaged or not Parquet.
pub fn parquet_rows(path: &Path, offset: u64, count: usize) -> PolarsResult<Vec<Map<String, Value>>> {
    let mut reader = ParquetReader::new(fence::open(path)?);
    if let Some(metadata) = widen_footer(path)? {
        reader.set_metadata(Arc::new(metadata));
    }
    // Polars is built without some types, so columns of these are not read at all.
    let schema = reader.schema()?;
    let known = schema.iter().filter(|(_, field)| has_json(field.dtype())).map(|(name, _)| name.to_string());
    // The others are no columns to whoever reads these rows: a source that names one is told that it is not there.
    let reader = reader.with_columns(Some(known.collect())).with_slice(Some((offset as usize, count)));
    rows_as_objects(&reader.finish()?)
}

/// The columns of a foreign Parquet file that [`parquet_rows`] does not read, each with what it holds; none where the file is damaged.
pub fn unread_parquet_columns(path: &Path) -> Vec<(String, String)> {
    let read = || -> PolarsResult<Vec<(String, String)>> {
        let mut reader = ParquetReader::new(fence::open(path)?);
        if let Some(metadata) = widen_footer(path)? {
            reader.set_metadata(Arc::new(metadata));
        }
        let schema = reader.schema()?;
        let unread = schema.iter().filter(|(_, field)| !has_json(field.dtype()));
        Ok(unread.map(|(name, field)| (name.to_string(), type_name(field.dtype()))).collect())
    };
    // A decoder that panics on foreign bytes has found damage, which the reader of rows reports.
    std::panic::catch_unwind(read).ok().and_then(Result::ok).unwrap_or_default()
}

/// What a column of a type that is not read holds.
fn type_name(dtype: &ArrowDataType) -> String {
    match dtype {
        ArrowDataType::Timestamp(..) => "times".into(),
        ArrowDataType::Date32 | ArrowDataType::Date64 => "days".into(),
        ArrowDataType::Time32(_) | ArrowDataType::Time64(_) => "times of the day".into(),
        ArrowDataType::Duration(_) => "durations".into(),
        ArrowDataType::Decimal(..) => "decimals".into(),
        ArrowDataType::Struct(_) => "structs".into(),
        ArrowDataType::Map(..) => "maps".into(),
        ArrowDataType::List(item)
        | ArrowDataType::LargeList(item)
        | ArrowDataType::FixedSizeList(item, _) => {
            format!(
                "lists of {}",
                if has_json(item.dtype()) { "values".into() } else { type_name(item.dtype()) }
            )
        }
        // The name of the type without what it is made of.
        other => format!("{other:?}").split(['(', ' ']).next().unwrap_or_default().to_lowercase(),
    }
}

/// Whether [`value_to_json`] has a value for a column of this type, so that it is read at all.
fn has_json(dtype: &ArrowDataType) -> bool {
    match dtype {
        ArrowDataType::List(item) | ArrowDataType::LargeList(item) => has_json(item.dtype()),
        ArrowDataType::Boolean
        | ArrowDataType::Int32
        | ArrowDataType::Int64
        | ArrowDataType::UInt32
        | ArrowDataType::UInt64
        | ArrowDataType::Float32
        | ArrowDataType::Float64
        | ArrowDataType::Utf8
        | ArrowDataType::LargeUtf8
        | ArrowDataType::Utf8View
        | ArrowDataType::Binary
        | ArrowDataType::LargeBinary
        | ArrowDataType::BinaryView => true,
        _ => false,
    }
}

/// Numbers, texts (also as bytes in UTF-8, which some programs write), flags and lists of these; anything else is null.
fn value_to_json(value: AnyValue<'_>) -> Value {
    match value {
        AnyValue::String(s) => s.into(),
        AnyValue::StringOwned(s) => s.as_str().into(),
        AnyValue::Binary(bytes) => std::str::from_utf8(bytes).map_or(Value::Null, Value::from),
        AnyValue::BinaryOwned(bytes) => std::str::from_utf8(&bytes).map_or(Value::Null, Value::from),
        AnyValue::UInt64(n) => n.into(),
        AnyValue::Int64(n) => n.into(),
        AnyValue::UInt32(n) => n.into(),
        AnyValue::Int32(n) => n.into(),
        AnyValue::Float64(x) => x.into(),
        AnyValue::Float32(x) => x.into(),
        AnyValue::Boolean(flag) => flag.into(),
        AnyValue::List(list) => list.iter().map(value_to_json).collect(),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::write_parquet;
    use riddlemill_record::Entry;

    fn file(entries: &[Entry]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        write_parquet(file.path(), std::iter::once(Ok(entries.to_vec()))).unwrap();
        file
    }

    /// Whether a filter matches, row by row.
    fn fits(filter: &Filter, entry: &Entry) -> bool {
        let cell = |column: &str| match column {
            "id" => Some(entry.id.as_str()),
            "outcome" => Some(entry.outcome.as_str()),
            _ => entry.reason.as_deref(),
        };
        match filter {
            Filter::AnyOf(column, values) => cell(column).is_some_and(|c| values.iter().any(|v| v == c)),
            Filter::StartsWith(column, start) => cell(column).is_some_and(|c| c.starts_with(start.as_str())),
            Filter::EndsWith(column, end) => cell(column).is_some_and(|c| c.ends_with(end.as_str())),
            Filter::Present(column) => cell(column).is_some(),
            Filter::And(a, b) => fits(a, entry) && fits(b, entry),
            Filter::Or(a, b) => fits(a, entry) || fits(b, entry),
        }
    }

    fn leaf() -> impl Strategy<Value = Filter> {
        let column = prop::sample::select(vec!["id", "outcome", "reason"]);
        (column, "[ab]{0,2}", "[ab]{1,2}", 0..4u8).prop_map(|(column, a, b, kind)| match kind {
            0 => Filter::any_of(column, [a.as_str(), b.as_str()]),
            1 => Filter::StartsWith(column, b),
            2 => Filter::EndsWith(column, b),
            _ => Filter::Present(column),
        })
    }

    proptest! {
        #[test]
        fn a_filter_lets_through_what_it_names(
            rows in prop::collection::vec(("[ab]{0,3}", "[ab]{1,2}", prop::option::of("[ab]{1,2}")), 0..40),
            (first, second, both) in (leaf(), leaf(), any::<bool>()),
        ) {
            let entries: Vec<Entry> = rows
                .into_iter()
                .map(|(id, outcome, reason)| Entry { id, outcome, reason, ..Entry::default() })
                .collect();
            let filter = if both { first.and(second) } else { first.or(second) };
            let wanted: Vec<Entry> = entries.iter().filter(|entry| fits(&filter, entry)).cloned().collect();
            let file = file(&entries);
            prop_assert_eq!(read_matching_rows::<Entry>((), file.path(), Some(&filter)).unwrap(), wanted);
            prop_assert_eq!(read_matching_rows::<Entry>((), file.path(), None).unwrap(), entries);
        }
    }

    #[test]
    fn a_damaged_part_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"PAR1, and nothing else").unwrap();
        let wrong = read_matching_rows::<Entry>((), file.path(), Some(&Filter::equals("id", "a")))
            .unwrap_err()
            .to_string();
        assert!(wrong.contains(&*file.path().to_string_lossy()), "{wrong}");
    }

    #[test]
    fn a_foreign_file_of_every_common_type_is_read() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/foreign.parquet");
        let rows = parquet_rows(&path, 0, 10).unwrap();
        let column = |name: &str| rows.iter().map(|row| row[name].clone()).collect::<Vec<_>>();
        let null = Value::Null;
        assert_eq!(column("id"), [Value::from("a:1"), "a:2".into(), null.clone()]);
        assert_eq!(column("int8"), [Value::from(-1), null.clone(), 7.into()]);
        assert_eq!(column("int16"), [Value::from(-300), 2.into(), null.clone()]);
        assert_eq!(column("uint8"), [Value::from(0), 255.into(), null.clone()]);
        assert_eq!(column("uint16"), [Value::from(65535), null.clone(), 1.into()]);
        assert_eq!(column("uint64"), [Value::from(1_u64 << 63), 1.into(), null.clone()]);
        assert_eq!(column("real"), [Value::from(0.5), null.clone(), 2.0.into()]);
        assert_eq!(column("flag"), [Value::from(true), false.into(), null.clone()]);
        assert_eq!(column("tags")[0], Value::from(vec!["x", "y"]));
        assert_eq!(column("kind"), [Value::from("q"), "q".into(), null.clone()]);
        // Of these types nothing is read: they are no columns, so that a source that names one is told so.
        for name in ["day", "moment", "clock", "money", "both"] {
            assert!(rows.iter().all(|row| !row.contains_key(name)), "{name}");
        }
        let unread: Vec<String> = unread_parquet_columns(&path)
            .into_iter()
            .map(|(name, holds)| format!("{name}: {holds}"))
            .collect();
        assert_eq!(
            unread,
            ["day: days", "moment: times", "clock: times of the day", "money: decimals", "both: structs"]
        );
        assert_eq!(column("bytes").len(), 3);
        assert_eq!(parquet_rows(&path, 2, 10).unwrap().len(), 1);
        assert_eq!(parquet_rows(&path, 3, 10).unwrap().len(), 0);
    }
}
