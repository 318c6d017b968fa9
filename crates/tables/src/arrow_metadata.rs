//! The Arrow types stated in the footer of every Parquet file of ours.
//!
//! Polars would state its own view types, which pyarrow 14 and the conversion to pandas do not support. The
//! statement changes no page: texts are the same bytes under either type.

use polars::prelude::*;
use polars_io::prelude::KeyValueMetadata;
use polars_parquet::write::{KeyValue, schema_to_metadata_key};

/// The footer's entry with the columns' types: large strings, but plain lists, because `datasets` 2.16 does
/// not read large ones.
pub(super) fn schema_entry(schema: &Schema) -> KeyValue {
    let field =
        |field: Field| (field.name.clone(), ArrowField::new(field.name, plain_type(&field.dtype), true));
    schema_to_metadata_key(&schema.iter_fields().map(field).collect())
}

fn plain_type(dtype: &DataType) -> ArrowDataType {
    match dtype {
        DataType::List(item) => {
            ArrowDataType::List(Box::new(ArrowField::new("item".into(), plain_type(item), true)))
        }
        other => other.to_arrow(CompatLevel::oldest()),
    }
}

/// The same for Polars' writer of whole frames.
pub fn schema_metadata(schema: &Schema) -> KeyValueMetadata {
    KeyValueMetadata::Static(vec![schema_entry(schema)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_states_a_view_or_a_large_list() {
        let text = DataType::String;
        assert_eq!(plain_type(&text), ArrowDataType::LargeUtf8);
        let list = plain_type(&DataType::List(Box::new(text)));
        assert!(
            matches!(&list, ArrowDataType::List(item) if item.dtype == ArrowDataType::LargeUtf8),
            "{list:?}"
        );
        let counts = plain_type(&DataType::List(Box::new(DataType::Int64)));
        assert!(
            matches!(&counts, ArrowDataType::List(item) if item.dtype == ArrowDataType::Int64),
            "{counts:?}"
        );
    }
}
