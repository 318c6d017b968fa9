//! Tables that go back.

use std::sync::Arc;

use arrow_array::builder::{ArrayBuilder, Float64Builder, StringBuilder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3_arrow::{PyChunkedArray, PyTable};
use riddlemill_text::offline::RowOutcome;

/// Rows of one batch: enough for a core, and far from the 2 GiB that a batch of texts may hold.
pub(crate) const ROWS: usize = 1 << 12;

/// A column of a table: its name, its type.
pub(crate) type Column = (&'static str, DataType);

/// A table of batches that were made in their order.
pub(crate) fn table<'py>(
    py: Python<'py>,
    columns: &[Column],
    batches: Vec<Vec<ArrayRef>>,
) -> PyResult<Bound<'py, PyAny>> {
    let fields: Vec<Field> =
        columns.iter().map(|(name, kind)| Field::new(*name, kind.clone(), true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let made = |columns| RecordBatch::try_new(schema.clone(), columns);
    let batches: Result<Vec<RecordBatch>, _> = batches.into_iter().map(made).collect();
    let batches = batches.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    PyTable::try_new(batches, schema)?.into_arro3(py)
}

/// One column of chunks that were made in their order.
pub(crate) fn column<'py>(
    py: Python<'py>,
    kind: DataType,
    chunks: Vec<ArrayRef>,
) -> PyResult<Bound<'py, PyAny>> {
    PyChunkedArray::try_new(chunks, Arc::new(Field::new("", kind, true)))?.into_arro3(py)
}

/// What a stage decided on rows, and how they read where they go on.
pub(crate) struct Decisions {
    text: Option<StringBuilder>,
    outcome: StringBuilder,
    reason: StringBuilder,
    evidence: StringBuilder,
}

impl Decisions {
    /// For so many rows; `texts` says whether texts go back.
    pub(crate) fn new(rows: usize, texts: bool) -> Decisions {
        let words = || StringBuilder::with_capacity(rows, rows * 8);
        Decisions {
            text: texts.then(|| StringBuilder::with_capacity(rows, rows * 96)),
            outcome: words(),
            reason: words(),
            evidence: words(),
        }
    }

    /// Takes what was decided on the next row.
    pub(crate) fn put<T>(&mut self, told: &RowOutcome<T>, text: Option<&str>) {
        if let Some(column) = &mut self.text {
            column.append_option(text);
        }
        self.outcome.append_value(told.outcome);
        self.reason.append_option(told.reason);
        self.evidence.append_option(told.evidence.as_deref());
    }

    /// The columns: `text` where texts go back, `outcome`, `reason`, `evidence`.
    pub(crate) fn finish(self) -> Vec<ArrayRef> {
        let columns = self.text.into_iter().chain([self.outcome, self.reason, self.evidence]);
        columns.map(|mut column| ArrayBuilder::finish(&mut column)).collect()
    }

    /// Names and types of those.
    pub(crate) fn columns(texts: bool) -> Vec<Column> {
        let names = ["text", "outcome", "reason", "evidence"];
        names.into_iter().skip(usize::from(!texts)).map(|name| (name, DataType::Utf8)).collect()
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
