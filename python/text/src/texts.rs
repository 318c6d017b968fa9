//! Columns of texts, however they come.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray, new_empty_array};
use arrow_cast::cast;
use arrow_schema::DataType;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use pyo3_arrow::PyChunkedArray;
use pyo3_arrow::input::AnyArray;

/// A column of texts, some of which may be null.
#[derive(Debug)]
pub(crate) struct Texts(Vec<ArrayRef>);

impl Texts {
    /// The argument `name` of a caller: anything with Arrow's PyCapsule interface, which is not copied, or a
    /// sequence of strings, which is copied.
    pub(crate) fn from_arrow(name: &str, given: &Bound<'_, PyAny>) -> PyResult<Texts> {
        if given.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err(format!(
                "{name} is one text\n  hint: pass a list of it, [text]"
            )));
        }
        if !has_arrow(given)? {
            return from_sequence(name, given).map(|array| Texts(vec![array]));
        }
        let chunks = arrays(given)?;
        chunks.into_iter().map(|chunk| texts(name, chunk)).collect::<PyResult<_>>().map(Texts)
    }

    /// An optional column with as many rows as the texts.
    pub(crate) fn beside(
        name: &str,
        given: Option<&Bound<'_, PyAny>>,
        rows: usize,
    ) -> PyResult<Option<Texts>> {
        let found = given.map(|given| Texts::from_arrow(name, given)).transpose()?;
        found.map(|found| same_length(name, found.len(), rows).map(|()| found)).transpose()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|chunk| chunk.len()).sum()
    }

    /// The texts one by one, not copied.
    pub(crate) fn each(&self) -> Vec<Option<&str>> {
        let mut all = Vec::with_capacity(self.len());
        for chunk in &self.0 {
            match chunk.data_type() {
                DataType::LargeUtf8 => all.extend(chunk.as_string::<i64>()),
                DataType::Utf8View => all.extend(chunk.as_string_view()),
                _ => all.extend(chunk.as_string::<i32>()),
            }
        }
        all
    }
}

/// Refuses columns of different lengths.
pub(crate) fn same_length(name: &str, found: usize, rows: usize) -> PyResult<()> {
    match found == rows {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!("{name} has {found} rows, but the texts have {rows}"))),
    }
}

/// Whether an object has Arrow's PyCapsule interface.
pub(crate) fn has_arrow(given: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(given.hasattr("__arrow_c_array__")? || given.hasattr("__arrow_c_stream__")?)
}

/// The arrays of an object with that interface. A table with one column counts as that column.
pub(crate) fn arrays(given: &Bound<'_, PyAny>) -> PyResult<Vec<ArrayRef>> {
    let whole: PyChunkedArray = given.extract::<AnyArray>()?.into_chunked_array()?;
    let (chunks, field) = whole.into_inner();
    let DataType::Struct(fields) = field.data_type() else { return Ok(chunks) };
    if fields.len() != 1 {
        let names: Vec<&str> = fields.iter().map(|field| field.name().as_str()).collect();
        let hint = "pass one of them, as table[\"text\"]";
        return Err(PyTypeError::new_err(format!(
            "a table has the columns {}; expected one column of texts\n  hint: {hint}",
            names.join(", ")
        )));
    }
    Ok(chunks.into_iter().map(|chunk| chunk.as_struct().column(0).clone()).collect())
}

/// A chunk as texts. Its bytes come from another library, so they are checked once to be UTF-8.
fn texts(name: &str, chunk: ArrayRef) -> PyResult<ArrayRef> {
    let invalid = |error: arrow_schema::ArrowError| PyValueError::new_err(format!("{name}: {error}"));
    // A slice of no rows may begin behind bytes that were left out.
    let chunk = if chunk.is_empty() { new_empty_array(chunk.data_type()) } else { chunk };
    chunk.to_data().validate_full().map_err(invalid)?;
    match chunk.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Ok(chunk),
        // Categories, as of pandas and Polars; and nothing but nulls.
        DataType::Dictionary(_, value) if value.is_string() => {
            cast(&chunk, &DataType::Utf8View).map_err(invalid)
        }
        DataType::Null => cast(&chunk, &DataType::Utf8).map_err(invalid),
        other => Err(PyTypeError::new_err(format!("{name} is a column of {other}; expected texts"))),
    }
}

fn from_sequence(name: &str, given: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let items = given.try_iter().map_err(|_| {
        let kind = given.get_type();
        PyTypeError::new_err(format!(
            "{name} is a {kind}; expected texts\n  hint: an Arrow column of any library, or a list of strings"
        ))
    })?;
    let mut array = arrow_array::builder::StringBuilder::new();
    for (row, item) in items.enumerate() {
        let item = item?;
        match item.extract::<&str>() {
            Ok(text) => array.append_value(text),
            Err(_) if is_missing(&item) => array.append_null(),
            Err(_) => {
                let kind = item.get_type().name()?;
                return Err(PyTypeError::new_err(format!("{name}[{row}] is a {kind}, not a text")));
            }
        }
    }
    let array: StringArray = array.finish();
    Ok(std::sync::Arc::new(array))
}

/// Whether a value is None, or one of pandas' values for a missing one.
pub(crate) fn is_missing(item: &Bound<'_, PyAny>) -> bool {
    item.is_none()
        || item.extract::<f64>().is_ok_and(f64::is_nan)
        || item.get_type().name().is_ok_and(|name| name == "NAType")
}
