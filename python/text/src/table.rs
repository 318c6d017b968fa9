//! Tables that go back.

use std::sync::Arc;

use arrow_array::builder::{ArrayBuilder, Float64Builder, StringBuilder, UInt64Builder};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3_arrow::{PyChunkedArray, PyTable};
use riddlemill_text::offline::RowOutcome;

/// Rows of one batch: enough for a core, and far from the 2 GiB that a batch of texts may hold.
pub(crate) const ROWS: usize = 1 << 12;

/// A column of a batch, with its name. Its type is that of its values.
pub(crate) type Column = (&'static str, ArrayRef);

/// A table of batches in order, each with the same columns. Without rows it has one batch without
/// rows: the names and types of the columns are those of the first.
pub(crate) fn table<'py>(py: Python<'py>, batches: Vec<Vec<Column>>) -> PyResult<Bound<'py, PyAny>> {
    let first = batches.first().ok_or_else(no_batch)?;
    let field = |(name, values): &Column| Field::new(*name, values.data_type().clone(), true);
    let fields: Vec<Field> = first.iter().map(field).collect();
    let schema = Arc::new(Schema::new(fields));
    let made = |columns: Vec<Column>| {
        RecordBatch::try_new(schema.clone(), columns.into_iter().map(|(_, values)| values).collect())
    };
    let batches: Result<Vec<RecordBatch>, _> = batches.into_iter().map(made).collect();
    let batches = batches.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    PyTable::try_new(batches, schema)?.into_arro3(py)
}

/// One column of chunks in order. Without rows it has one empty chunk with the type.
pub(crate) fn column<'py>(py: Python<'py>, chunks: Vec<ArrayRef>) -> PyResult<Bound<'py, PyAny>> {
    let kind = chunks.first().ok_or_else(no_batch)?.data_type().clone();
    PyChunkedArray::try_new(chunks, Arc::new(Field::new("", kind, true)))?.into_arro3(py)
}

fn no_batch() -> PyErr {
    PyRuntimeError::new_err("there is no batch to take the columns from")
}

/// The result of comparing two texts: `same`, `borderline` or `different`, from a score of 0 to 1, and the names of
/// the predicate that holds and of the veto against it.
#[derive(Clone, Copy)]
pub(crate) struct Compared<'a> {
    pub(crate) verdict: &'a str,
    pub(crate) score: f64,
    pub(crate) predicate: Option<&'a str>,
    pub(crate) veto: Option<&'a str>,
}

/// The columns of comparisons: `verdict`, `score`, `predicate`, `veto`, all null where nothing was compared.
pub(crate) fn comparisons<'a>(each: impl Iterator<Item = Option<Compared<'a>>> + Clone) -> [Column; 4] {
    [
        ("verdict", strings(each.clone().map(|found| found.map(|found| found.verdict)))),
        ("score", doubles(each.clone().map(|found| found.map(|found| found.score)))),
        ("predicate", strings(each.clone().map(|found| found.and_then(|found| found.predicate)))),
        ("veto", strings(each.map(|found| found.and_then(|found| found.veto)))),
    ]
}

/// A stage's decisions on rows, and the texts of those that are kept.
pub(crate) struct Decisions {
    text: Option<StringBuilder>,
    outcome: StringBuilder,
    reason: StringBuilder,
    evidence: StringBuilder,
}

impl Decisions {
    /// With room for this many rows; `texts`: whether texts are returned.
    pub(crate) fn new(rows: usize, texts: bool) -> Decisions {
        let words = || StringBuilder::with_capacity(rows, rows * 8);
        Decisions {
            text: texts.then(|| StringBuilder::with_capacity(rows, rows * 96)),
            outcome: words(),
            reason: words(),
            evidence: words(),
        }
    }

    /// Appends the decision on the next row.
    pub(crate) fn append<T>(&mut self, row: &RowOutcome<T>, text: Option<&str>) {
        if let Some(column) = &mut self.text {
            column.append_option(text);
        }
        self.outcome.append_value(row.outcome);
        self.reason.append_option(row.reason);
        self.evidence.append_option(row.evidence.as_deref());
    }

    /// The columns: `text` where texts are returned, `outcome`, `reason`, `evidence`.
    pub(crate) fn finish(self) -> Vec<Column> {
        let columns =
            [("outcome", self.outcome), ("reason", self.reason), ("evidence", self.evidence)].into_iter();
        let columns = self.text.map(|text| ("text", text)).into_iter().chain(columns);
        columns.map(|(name, mut values)| (name, ArrayBuilder::finish(&mut values))).collect()
    }
}

/// A column of doubles.
pub(crate) fn doubles(values: impl IntoIterator<Item = Option<f64>>) -> ArrayRef {
    let mut column = Float64Builder::new();
    values.into_iter().for_each(|value| column.append_option(value));
    ArrayBuilder::finish(&mut column)
}

/// A column of whole numbers.
pub(crate) fn whole(values: impl IntoIterator<Item = Option<u64>>) -> ArrayRef {
    let mut column = UInt64Builder::new();
    values.into_iter().for_each(|value| column.append_option(value));
    ArrayBuilder::finish(&mut column)
}

/// A column of texts.
pub(crate) fn strings<'a>(values: impl IntoIterator<Item = Option<&'a str>>) -> ArrayRef {
    let mut column = StringBuilder::new();
    values.into_iter().for_each(|value| column.append_option(value));
    ArrayBuilder::finish(&mut column)
}
