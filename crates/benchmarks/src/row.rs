//! What a row lacks of a benchmark's columns.

use crate::data::{Data, Kind};

/// Why a row's column is of no use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ColumnError {
    /// It has no value, and must have one.
    #[error("{0}: it is missing")]
    Missing(&'static str),
    /// Its value is of another type.
    #[error("{column}: {value} is not {}", kind.name())]
    Type {
        /// Its name.
        column: &'static str,
        /// What the row has.
        value: serde_json::Value,
        /// What it must be.
        kind: Kind,
    },
}

impl Data {
    /// What is wrong with the first of these columns that a row lacks, or has in another type.
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
