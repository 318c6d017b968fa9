//! Converts rows to Polars frames and back.

use std::ops::Range;
use std::sync::Arc;

use polars::prelude::*;
use polars_arrow::array::Utf8ViewArray;

use super::column::{ColumnBuilder, ColumnSlices};
use riddlemill_record::{Cell, CellKind, Cells, Record, Values};

/// Rows as a frame with one column each. They come in consecutive blocks.
///
/// # Errors
/// If Polars refuses the columns, which cannot happen because the lengths are equal.
pub fn to_frame<R: Record>(columns: R::Columns, blocks: &[&[R]]) -> PolarsResult<DataFrame> {
    let mut columns =
        FrameColumns::<R>::with_all_columns(columns, blocks.iter().map(|rows| rows.len()).sum());
    blocks.iter().copied().flatten().for_each(|row| columns.append(row));
    columns.build_frame()
}

/// A frame's rows. A column that may be null and is missing is one that was declared after the table was written: it is null.
///
/// # Errors
/// If another column is missing, or one has another type than the record's.
pub fn from_frame<R: Record>(columns: R::Columns, frame: &DataFrame) -> PolarsResult<Vec<R>> {
    let lacks = |c: &&riddlemill_record::Column| {
        let needed = c.filled || c.kind == CellKind::Texts;
        needed && frame.column(c.name).is_err()
    };
    if let Some(missing) = R::described(columns).iter().find(lacks) {
        polars_bail!(ColumnNotFound: "{}", missing.name);
    }
    let mut rows = Rows::new(columns, frame)?;
    Ok((0..frame.height()).map(|row| rows.get(row)).collect())
}

/// Rows before they are written, with all or some of a record's columns.
pub(super) struct FrameColumns<R: Record> {
    pub(super) of: R::Columns,
    /// In the order of the record's columns; `None` for one that is left out.
    columns: Vec<Option<ColumnBuilder>>,
    rows: usize,
}

impl<R: Record> FrameColumns<R> {
    /// All columns, with capacity for `rows` rows.
    pub(super) fn with_all_columns(of: R::Columns, rows: usize) -> FrameColumns<R> {
        Self::with_wanted_columns(of, rows, |_| true)
    }

    /// The wanted columns.
    pub(super) fn with_wanted_columns(
        of: R::Columns,
        rows: usize,
        wanted: impl Fn(&str) -> bool,
    ) -> FrameColumns<R> {
        let column =
            |c: &riddlemill_record::Column| wanted(c.name).then(|| ColumnBuilder::with_room(c.kind, rows));
        FrameColumns { of, columns: R::described(of).iter().map(column).collect(), rows: 0 }
    }

    /// Appends a row's cells in these columns.
    pub(super) fn append(&mut self, row: &R) {
        row.append_to(&mut Sink { columns: self.columns.iter_mut() });
        self.rows += 1;
    }

    /// Appends all cells of a row, `times` times.
    pub(super) fn append_cells(&mut self, cells: &[Cell<'_>], times: usize) {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.iter_mut().for_each(|column| column.append_repeated(*cell, times));
        }
        self.rows += times;
    }

    /// Number of rows.
    pub(super) fn count_rows(&self) -> usize {
        self.rows
    }

    /// A column, by its index among the record's.
    pub(super) fn column_at(&self, place: usize) -> Option<&ColumnBuilder> {
        self.columns.get(place)?.as_ref()
    }

    /// The frame.
    ///
    /// # Errors
    /// If Polars refuses the columns, which cannot happen because the lengths are equal.
    pub(super) fn build_frame(&self) -> PolarsResult<DataFrame> {
        let named = R::described(self.of).iter().zip(&self.columns);
        let columns =
            named.filter_map(|(c, column)| Some(column.as_ref()?.to_polars_column(c.name))).collect();
        DataFrame::new(self.rows, columns)
    }
}

/// Rows in consecutive blocks.
pub(super) struct RowChunks<R: Record> {
    pub(super) of: R::Columns,
    pub(super) blocks: Vec<(Arc<FrameColumns<R>>, Range<usize>)>,
}

impl<R: Record> RowChunks<R> {
    /// All rows of one block.
    pub(super) fn from_block(block: FrameColumns<R>) -> RowChunks<R> {
        let (rows, of) = (0..block.count_rows(), block.of);
        RowChunks { of, blocks: vec![(Arc::new(block), rows)] }
    }

    /// Number of rows.
    pub(super) fn count_rows(&self) -> usize {
        self.blocks.iter().map(|(_, range)| range.len()).sum()
    }

    /// A column over all blocks, by its index among the record's.
    pub(super) fn column_at(&self, place: usize) -> ColumnSlices<'_> {
        let spans =
            self.blocks.iter().filter_map(|(block, range)| Some((block.column_at(place)?, range.clone())));
        ColumnSlices::new(R::described(self.of)[place].kind, spans)
    }
}

/// The rows of a frame, one by one. Columns that are missing are read as absent.
pub(super) struct Rows<'a, R: Record> {
    of: R::Columns,
    source: Source<'a>,
}

impl<'a, R: Record> Rows<'a, R> {
    /// The rows of `frame`.
    ///
    /// # Errors
    /// If a column has another type than the record's.
    pub(super) fn new(of: R::Columns, frame: &'a DataFrame) -> PolarsResult<Rows<'a, R>> {
        let reader = |c: &riddlemill_record::Column| match frame.column(c.name) {
            Ok(column) => Reader::new(column, c.kind),
            Err(_) => Ok(Reader::Nulls),
        };
        let columns = R::described(of).iter().map(reader).collect::<PolarsResult<_>>()?;
        Ok(Rows { of, source: Source { columns, row: 0, next: 0 } })
    }

    /// A row, by index from 0.
    pub(super) fn get(&mut self, row: usize) -> R {
        (self.source.row, self.source.next) = (row, 0);
        R::take(self.of, &mut self.source)
    }
}

/// Some rows of a column.
///
/// # Errors
/// If it has another type.
pub(super) fn pick_rows(column: &Column, kind: CellKind, keep: &[bool]) -> PolarsResult<ColumnBuilder> {
    let reader = Reader::new(column, kind)?;
    let mut picked = ColumnBuilder::with_room(kind, keep.len());
    let kept = keep.iter().enumerate().filter(|(_, keep)| **keep);
    kept.for_each(|(row, _)| reader.with_cell(row, |cell| picked.append(cell)));
    Ok(picked)
}

struct Sink<'a> {
    columns: std::slice::IterMut<'a, Option<ColumnBuilder>>,
}

impl Cells for Sink<'_> {
    fn append(&mut self, cell: Cell<'_>) {
        if let Some(Some(column)) = self.columns.next() {
            column.append(cell);
        }
    }
}

enum Reader<'a> {
    /// In one chunk: with several, every value would have to be searched by chunk.
    Text(Utf8ViewArray),
    Count(&'a UInt64Chunked),
    Real(&'a Float64Chunked),
    Flag(&'a BooleanChunked),
    Texts(Lists),
    /// Only nulls.
    Nulls,
}

/// A column of lists: all their texts, and where each begins. Polars would create a series for each list.
struct Lists {
    starts: Vec<i64>,
    texts: Utf8ViewArray,
    nulls: Option<BooleanChunked>,
}

impl Lists {
    fn new(column: &ListChunked) -> PolarsResult<Lists> {
        let column = column.rechunk();
        Ok(Lists {
            starts: column.downcast_as_array().offsets().iter().copied().collect(),
            texts: column.get_inner().str()?.rechunk().downcast_as_array().clone(),
            nulls: (column.null_count() > 0).then(|| column.is_null()),
        })
    }

    fn get(&self, row: usize) -> Option<Vec<String>> {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.get(row) == Some(true)) {
            return None;
        }
        let (start, end) = (*self.starts.get(row)? as usize, *self.starts.get(row + 1)? as usize);
        Some((start..end).filter_map(|at| self.texts.get(at)).map(str::to_string).collect())
    }
}

impl<'a> Reader<'a> {
    fn new(column: &'a Column, kind: CellKind) -> PolarsResult<Reader<'a>> {
        let reader = match kind {
            CellKind::Text => Reader::Text(column.str()?.rechunk().downcast_as_array().clone()),
            CellKind::Count => Reader::Count(column.u64()?),
            CellKind::Real => Reader::Real(column.f64()?),
            CellKind::Flag => Reader::Flag(column.bool()?),
            CellKind::Texts => Reader::Texts(Lists::new(column.list()?)?),
        };
        Ok(if column.null_count() == column.len() { Reader::Nulls } else { reader })
    }

    /// Calls `look` with the cell of a row.
    fn with_cell<T>(&self, row: usize, look: impl FnOnce(Cell<'_>) -> T) -> T {
        let cell = match self {
            Reader::Text(c) => c.get(row).map(Cell::Text),
            Reader::Count(c) => c.get(row).map(Cell::Count),
            Reader::Real(c) => c.get(row).map(Cell::Real),
            Reader::Flag(c) => c.get(row).map(Cell::Flag),
            Reader::Texts(c) => match c.get(row) {
                Some(texts) => return look(Cell::Texts(&texts)),
                None => None,
            },
            Reader::Nulls => None,
        };
        look(cell.unwrap_or(Cell::Null))
    }
}

struct Source<'a> {
    columns: Vec<Reader<'a>>,
    row: usize,
    next: usize,
}

impl<'a> Source<'a> {
    fn next(&mut self) -> &Reader<'a> {
        self.next += 1;
        &self.columns[self.next - 1]
    }
}

impl Values for Source<'_> {
    fn text(&mut self) -> Option<String> {
        let row = self.row;
        match self.next() {
            Reader::Text(c) => c.get(row).map(str::to_string),
            _ => None,
        }
    }
    fn count(&mut self) -> Option<u64> {
        let row = self.row;
        match self.next() {
            Reader::Count(c) => c.get(row),
            _ => None,
        }
    }
    fn real(&mut self) -> Option<f64> {
        let row = self.row;
        match self.next() {
            Reader::Real(c) => c.get(row),
            _ => None,
        }
    }
    fn flag(&mut self) -> Option<bool> {
        let row = self.row;
        match self.next() {
            Reader::Flag(c) => c.get(row),
            _ => None,
        }
    }
    fn texts(&mut self) -> Option<Vec<String>> {
        let row = self.row;
        match self.next() {
            Reader::Texts(c) => c.get(row),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use riddlemill_record::Entry;

    use super::*;

    #[test]
    fn only_a_column_that_may_be_null_may_be_missing_in_an_older_table() {
        let entry = Entry {
            id: "tieba:1".into(),
            outcome: "kept".into(),
            reason: None,
            evidence: None,
            before: None,
            after: None,
            into: None,
            score: Some(0.5),
        };
        let frame = to_frame::<Entry>((), &[std::slice::from_ref(&entry)]).unwrap();
        let older = from_frame::<Entry>((), &frame.drop("score").unwrap()).unwrap();
        assert_eq!(older, [Entry { score: None, ..entry }]);
        let damaged = from_frame::<Entry>((), &frame.drop("outcome").unwrap()).unwrap_err().to_string();
        assert!(damaged.contains("outcome"), "{damaged}");
    }
}
