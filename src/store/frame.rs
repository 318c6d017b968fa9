//! Rows to Polars frames and back.

use polars::prelude::*;

use crate::record::{Cell, CellKind, Cells, Record, Values};

/// Rows as a frame, a column each.
///
/// # Errors
/// Where Polars refuses the columns, which equal lengths rule out.
pub fn to_frame<R: Record>(rows: &[R]) -> PolarsResult<DataFrame> {
    let columns = R::COLUMNS.iter().map(|c| Builder::new(c.name.into(), c.kind, rows.len())).collect();
    let mut sink = Sink { columns, next: 0 };
    for row in rows {
        sink.next = 0;
        row.put(&mut sink);
    }
    let columns = sink.columns.into_iter().map(Builder::finish).collect();
    DataFrame::new(rows.len(), columns)
}

/// A frame's rows.
///
/// # Errors
/// Where a column is missing or has another type than the record's.
pub fn from_frame<R: Record>(frame: &DataFrame) -> PolarsResult<Vec<R>> {
    let columns: Vec<Reader<'_>> =
        R::COLUMNS.iter().map(|c| Reader::new(frame.column(c.name)?, c.kind)).collect::<PolarsResult<_>>()?;
    let mut source = Source { columns, row: 0, next: 0 };
    let mut rows = Vec::with_capacity(frame.height());
    for row in 0..frame.height() {
        (source.row, source.next) = (row, 0);
        rows.push(R::take(&mut source));
    }
    Ok(rows)
}

enum Builder {
    Text(StringChunkedBuilder),
    Count(PrimitiveChunkedBuilder<UInt64Type>),
    Real(PrimitiveChunkedBuilder<Float64Type>),
    Flag(BooleanChunkedBuilder),
    Texts(ListStringChunkedBuilder),
}

impl Builder {
    fn new(name: PlSmallStr, kind: CellKind, rows: usize) -> Builder {
        match kind {
            CellKind::Text => Builder::Text(StringChunkedBuilder::new(name, rows)),
            CellKind::Count => Builder::Count(PrimitiveChunkedBuilder::new(name, rows)),
            CellKind::Real => Builder::Real(PrimitiveChunkedBuilder::new(name, rows)),
            CellKind::Flag => Builder::Flag(BooleanChunkedBuilder::new(name, rows)),
            CellKind::Texts => Builder::Texts(ListStringChunkedBuilder::new(name, rows, rows)),
        }
    }

    fn put(&mut self, cell: Cell<'_>) {
        match (self, cell) {
            (Builder::Text(b), Cell::Text(v)) => b.append_value(v),
            (Builder::Text(b), _) => b.append_null(),
            (Builder::Count(b), Cell::Count(v)) => b.append_value(v),
            (Builder::Count(b), _) => b.append_null(),
            (Builder::Real(b), Cell::Real(v)) => b.append_value(v),
            (Builder::Real(b), _) => b.append_null(),
            (Builder::Flag(b), Cell::Flag(v)) => b.append_value(v),
            (Builder::Flag(b), _) => b.append_null(),
            (Builder::Texts(b), Cell::Texts(v)) => b.append_values_iter(v.iter().map(String::as_str)),
            (Builder::Texts(b), _) => b.append_null(),
        }
    }

    fn finish(self) -> Column {
        match self {
            Builder::Text(b) => b.finish().into_column(),
            Builder::Count(b) => b.finish().into_column(),
            Builder::Real(b) => b.finish().into_column(),
            Builder::Flag(b) => b.finish().into_column(),
            Builder::Texts(mut b) => b.finish().into_column(),
        }
    }
}

struct Sink {
    columns: Vec<Builder>,
    next: usize,
}

impl Cells for Sink {
    fn put(&mut self, cell: Cell<'_>) {
        self.columns[self.next].put(cell);
        self.next += 1;
    }
}

enum Reader<'a> {
    Text(&'a StringChunked),
    Count(&'a UInt64Chunked),
    Real(&'a Float64Chunked),
    Flag(&'a BooleanChunked),
    Texts(&'a ListChunked),
}

impl<'a> Reader<'a> {
    fn new(column: &'a Column, kind: CellKind) -> PolarsResult<Reader<'a>> {
        Ok(match kind {
            CellKind::Text => Reader::Text(column.str()?),
            CellKind::Count => Reader::Count(column.u64()?),
            CellKind::Real => Reader::Real(column.f64()?),
            CellKind::Flag => Reader::Flag(column.bool()?),
            CellKind::Texts => Reader::Texts(column.list()?),
        })
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
            Reader::Texts(c) => {
                let series = c.get_as_series(row)?;
                let texts = series.str().ok()?;
                Some(texts.iter().flatten().map(str::to_string).collect())
            }
            _ => None,
        }
    }
}
