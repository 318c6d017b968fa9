//! Looking into a table without reading all of it.

use polars::prelude::*;

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
