//! Checks a row's columns.

use crate::data::{Data, Kind};
use crate::expression::Trouble;
use crate::scope::{text, texts};

/// Why a row's column cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ColumnError {
    /// A required value is missing.
    #[error("{0}: missing")]
    Missing(&'static str),
    /// Its value has another type.
    #[error("{column}: {value} is not {}", kind.name())]
    Type {
        /// Its name.
        column: &'static str,
        /// The value found.
        value: serde_json::Value,
        /// The required type.
        kind: Kind,
    },
}

impl Data {
    /// The group of a row, if the benchmark has groups, and the row's parts.
    ///
    /// # Errors
    /// [`Trouble`] if an expression cannot be computed.
    pub fn placed(
        &self,
        columns: &minijinja::value::Value,
    ) -> Result<(Option<String>, Vec<String>), Trouble> {
        let group = match &self.group {
            Some(group) => text(&group.value(columns)?),
            None => None,
        };
        let mut parts = Vec::new();
        for part in &self.parts {
            parts.extend(texts(&part.value(columns)?));
        }
        Ok((group, parts))
    }

    /// The first problem with these columns in a row: a missing value, or another type.
    pub fn lacking<'c>(
        &self,
        row: &serde_json::Map<String, serde_json::Value>,
        columns: impl Iterator<Item = &'c str>,
    ) -> Option<ColumnError> {
        let mut columns = columns.filter_map(|name| self.columns.iter().find(|column| column.name == name));
        columns.find_map(|column| match row.get(column.name).unwrap_or(&serde_json::Value::Null) {
            serde_json::Value::Null if column.nullable => None,
            value if column.kind.fits(value) => None,
            serde_json::Value::Null => Some(ColumnError::Missing(column.name)),
            value => Some(ColumnError::Type { column: column.name, value: value.clone(), kind: column.kind }),
        })
    }
}
