//! Rows to Polars frames and back.

use std::marker::PhantomData;

use blake3::Hash;
use polars::prelude::*;

use crate::record::{Cell, CellKind, Cells, ColumnDigest, Record, Values};

/// Rows as a frame, a column each. They come in blocks, one behind the other.
///
/// # Errors
/// Where Polars refuses the columns, which equal lengths rule out.
pub fn to_frame<R: Record>(blocks: &[&[R]]) -> PolarsResult<DataFrame> {
    let mut columns = Columns::<R>::all(blocks.iter().map(|rows| rows.len()).sum());
    blocks.iter().copied().flatten().for_each(|row| columns.put(row));
    columns.finish()
}

/// A frame's rows.
///
/// # Errors
/// Where a column is missing or has another type than the record's.
pub fn from_frame<R: Record>(frame: &DataFrame) -> PolarsResult<Vec<R>> {
    if let Some(missing) = R::COLUMNS.iter().find(|c| frame.column(c.name).is_err()) {
        polars_bail!(ColumnNotFound: "{}", missing.name);
    }
    let mut rows = Rows::of(frame)?;
    Ok((0..frame.height()).map(|row| rows.get(row)).collect())
}

/// Rows on their way into a frame. Of a record's columns it holds all, or a few.
pub(super) struct Columns<R> {
    /// In the order of the record's columns; none for one that is left out.
    builders: Vec<Option<Builder>>,
    rows: usize,
    record: PhantomData<fn(R)>,
}

impl<R: Record> Columns<R> {
    /// All columns, with room for so many rows.
    pub(super) fn all(rows: usize) -> Columns<R> {
        Self::which(rows, |_| true)
    }

    /// The columns that are wanted.
    pub(super) fn which(rows: usize, wanted: impl Fn(&str) -> bool) -> Columns<R> {
        let builder = |c: &crate::record::Column| wanted(c.name).then(|| Builder::new(c.name, c.kind, rows));
        Columns { builders: R::COLUMNS.iter().map(builder).collect(), rows: 0, record: PhantomData }
    }

    /// Takes what a row says in them.
    pub(super) fn put(&mut self, row: &R) {
        row.put(&mut Sink { columns: self.builders.iter_mut() });
        self.rows += 1;
    }

    /// Takes the cells of a row, all of them.
    pub(super) fn cells(&mut self, cells: &[Cell<'_>]) {
        let mut sink = Sink { columns: self.builders.iter_mut() };
        cells.iter().for_each(|cell| sink.put(*cell));
        self.rows += 1;
    }

    /// How many rows it has.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The frame.
    ///
    /// # Errors
    /// Where Polars refuses the columns, which equal lengths rule out.
    pub(super) fn finish(self) -> PolarsResult<DataFrame> {
        let columns = self.builders.into_iter().flatten().map(Builder::finish).collect();
        DataFrame::new(self.rows, columns)
    }
}

/// The rows of a frame, one by one. What stands in a column that it has not is absent.
pub(super) struct Rows<'a, R> {
    source: Source<'a>,
    record: PhantomData<fn() -> R>,
}

impl<'a, R: Record> Rows<'a, R> {
    /// Of this frame.
    ///
    /// # Errors
    /// Where a column has another type than the record's.
    pub(super) fn of(frame: &'a DataFrame) -> PolarsResult<Rows<'a, R>> {
        let reader = |c: &crate::record::Column| match frame.column(c.name) {
            Ok(column) => Reader::new(column, c.kind),
            Err(_) => Ok(Reader::Nulls),
        };
        let columns = R::COLUMNS.iter().map(reader).collect::<PolarsResult<_>>()?;
        Ok(Rows { source: Source { columns, row: 0, next: 0 }, record: PhantomData })
    }

    /// A row, from 0.
    pub(super) fn get(&mut self, row: usize) -> R {
        (self.source.row, self.source.next) = (row, 0);
        R::take(&mut self.source)
    }
}

/// The digest of a column.
///
/// # Errors
/// Where it has another type.
pub(super) fn digest(column: &Column, kind: CellKind) -> PolarsResult<Hash> {
    let reader = Reader::new(column, kind)?;
    let mut digest = ColumnDigest::default();
    (0..column.len()).for_each(|row| reader.with(row, |cell| digest.put(cell)));
    Ok(digest.finish())
}

/// Frames one below the other, built as from rows: how they were cut would show in the pages of a file.
///
/// # Errors
/// Where they have other columns.
pub(super) fn stacked<R: Record>(frames: Vec<DataFrame>) -> PolarsResult<DataFrame> {
    let mut frames = frames.into_iter();
    let Some(mut whole) = frames.next() else { return to_frame::<R>(&[]) };
    if frames.len() == 0 {
        // It may be the rest of a larger one.
        let keep = vec![true; whole.height()];
        let kinds = R::COLUMNS.iter().filter(|c| whole.column(c.name).is_ok());
        let columns = kinds.map(|c| picked(whole.column(c.name)?, c.kind, c.name, &keep));
        return DataFrame::new(whole.height(), columns.collect::<PolarsResult<_>>()?);
    }
    frames.try_for_each(|frame| whole.vstack_mut(&frame).map(drop))?;
    whole.rechunk_mut();
    Ok(whole)
}

/// Some rows of a column, built as from rows: whoever filters them otherwise gets other pages in a file.
///
/// # Errors
/// Where it has another type.
pub(super) fn picked(
    column: &Column,
    kind: CellKind,
    name: &'static str,
    keep: &[bool],
) -> PolarsResult<Column> {
    let reader = Reader::new(column, kind)?;
    let kept = keep.iter().enumerate().filter(|(_, keep)| **keep);
    let mut builder = Builder::new(name, kind, kept.clone().count());
    kept.for_each(|(row, _)| reader.with(row, |cell| builder.put(cell)));
    Ok(builder.finish())
}

/// A column in the making. Many are null from top to bottom: memory is taken for the first value.
struct Builder {
    name: &'static str,
    kind: CellKind,
    rows: usize,
    nulls: usize,
    values: Option<Builds>,
}

enum Builds {
    Text(StringChunkedBuilder),
    Count(PrimitiveChunkedBuilder<UInt64Type>),
    Real(PrimitiveChunkedBuilder<Float64Type>),
    Flag(BooleanChunkedBuilder),
    Texts(ListStringChunkedBuilder),
}

impl Builder {
    fn new(name: &'static str, kind: CellKind, rows: usize) -> Builder {
        Builder { name, kind, rows, nulls: 0, values: None }
    }

    fn put(&mut self, cell: Cell<'_>) {
        match (&mut self.values, cell) {
            (None, Cell::Null) => self.nulls += 1,
            (Some(values), cell) => values.put(cell),
            (values, cell) => {
                let values = values.insert(Builds::new(self.name.into(), self.kind, self.rows));
                (0..self.nulls).for_each(|_| values.put(Cell::Null));
                values.put(cell);
            }
        }
    }

    fn finish(self) -> Column {
        let dtype = match self.kind {
            CellKind::Text => DataType::String,
            CellKind::Count => DataType::UInt64,
            CellKind::Real => DataType::Float64,
            CellKind::Flag => DataType::Boolean,
            CellKind::Texts => DataType::List(Box::new(DataType::String)),
        };
        match self.values {
            Some(values) => values.finish(),
            None => Series::full_null(self.name.into(), self.nulls, &dtype).into_column(),
        }
    }
}

impl Builds {
    fn new(name: PlSmallStr, kind: CellKind, rows: usize) -> Builds {
        match kind {
            CellKind::Text => Builds::Text(StringChunkedBuilder::new(name, rows)),
            CellKind::Count => Builds::Count(PrimitiveChunkedBuilder::new(name, rows)),
            CellKind::Real => Builds::Real(PrimitiveChunkedBuilder::new(name, rows)),
            CellKind::Flag => Builds::Flag(BooleanChunkedBuilder::new(name, rows)),
            CellKind::Texts => Builds::Texts(ListStringChunkedBuilder::new(name, rows, 0)),
        }
    }

    fn put(&mut self, cell: Cell<'_>) {
        match (self, cell) {
            (Builds::Text(b), Cell::Text(v)) => b.append_value(v),
            (Builds::Text(b), _) => b.append_null(),
            (Builds::Count(b), Cell::Count(v)) => b.append_value(v),
            (Builds::Count(b), _) => b.append_null(),
            (Builds::Real(b), Cell::Real(v)) => b.append_value(v),
            (Builds::Real(b), _) => b.append_null(),
            (Builds::Flag(b), Cell::Flag(v)) => b.append_value(v),
            (Builds::Flag(b), _) => b.append_null(),
            (Builds::Texts(b), Cell::Texts(v)) => b.append_values_iter(v.iter().map(String::as_str)),
            (Builds::Texts(b), _) => b.append_null(),
        }
    }

    fn finish(self) -> Column {
        match self {
            Builds::Text(b) => b.finish().into_column(),
            Builds::Count(b) => b.finish().into_column(),
            Builds::Real(b) => b.finish().into_column(),
            Builds::Flag(b) => b.finish().into_column(),
            Builds::Texts(mut b) => b.finish().into_column(),
        }
    }
}

struct Sink<'a> {
    columns: std::slice::IterMut<'a, Option<Builder>>,
}

impl Cells for Sink<'_> {
    fn put(&mut self, cell: Cell<'_>) {
        if let Some(Some(column)) = self.columns.next() {
            column.put(cell);
        }
    }
}

enum Reader<'a> {
    Text(&'a StringChunked),
    Count(&'a UInt64Chunked),
    Real(&'a Float64Chunked),
    Flag(&'a BooleanChunked),
    Texts(Lists),
    /// Null from top to bottom.
    Nulls,
}

/// A column of lists: the texts of all of them, and where each begins. Asking Polars list by list makes a
/// series of each.
struct Lists {
    starts: Vec<i64>,
    texts: StringChunked,
    nulls: Option<BooleanChunked>,
}

impl Lists {
    fn of(column: &ListChunked) -> PolarsResult<Lists> {
        let column = column.rechunk();
        Ok(Lists {
            starts: column.downcast_as_array().offsets().iter().copied().collect(),
            texts: column.get_inner().str()?.clone(),
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
            CellKind::Text => Reader::Text(column.str()?),
            CellKind::Count => Reader::Count(column.u64()?),
            CellKind::Real => Reader::Real(column.f64()?),
            CellKind::Flag => Reader::Flag(column.bool()?),
            CellKind::Texts => Reader::Texts(Lists::of(column.list()?)?),
        };
        Ok(if column.null_count() == column.len() { Reader::Nulls } else { reader })
    }

    /// Shows the cell of a row.
    fn with<T>(&self, row: usize, look: impl FnOnce(Cell<'_>) -> T) -> T {
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
