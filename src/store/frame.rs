//! Rows to Polars frames and back.

use polars::prelude::*;

use crate::record::{Cell, CellKind, Cells, Record, Values};

/// Rows as a frame, a column each. They come in blocks, one behind the other.
///
/// # Errors
/// Where Polars refuses the columns, which equal lengths rule out.
pub fn to_frame<R: Record>(blocks: &[&[R]]) -> PolarsResult<DataFrame> {
    let rows = blocks.iter().map(|rows| rows.len()).sum();
    let columns = R::COLUMNS.iter().map(|c| Builder::new(c.name, c.kind, rows)).collect();
    let mut sink = Sink { columns, next: 0 };
    for row in blocks.iter().copied().flatten() {
        sink.next = 0;
        row.put(&mut sink);
    }
    let columns = sink.columns.into_iter().map(Builder::finish).collect();
    DataFrame::new(rows, columns)
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
