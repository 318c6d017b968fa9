//! A record with some of its fields replaced, by their names.

use super::{Cell, Cells, OwnedCell, Record, Values};

/// The record with the values that `field` returns for its columns; columns for which it returns `None` are
/// kept. A value of another type than the column's is read as null.
pub fn with_fields<R: Record>(record: &R, mut field: impl FnMut(&'static str) -> Option<OwnedCell>) -> R {
    let mut cells = cells_of(record);
    for (cell, column) in cells.iter_mut().zip(R::described(record.columns())) {
        if let Some(value) = field(column.name) {
            *cell = value;
        }
    }
    R::take(record.columns(), &mut cells.into_iter())
}

/// The cells of a record, in the order of its columns.
pub(super) fn cells_of<R: Record>(record: &R) -> Vec<OwnedCell> {
    struct Sink(Vec<OwnedCell>);
    impl Cells for Sink {
        fn append(&mut self, cell: Cell<'_>) {
            self.0.push(cell.into());
        }
    }
    let mut sink = Sink(Vec::with_capacity(R::described(record.columns()).len()));
    record.append_to(&mut sink);
    sink.0
}

impl Values for std::vec::IntoIter<OwnedCell> {
    fn text(&mut self) -> Option<String> {
        if let Some(OwnedCell::Text(text)) = self.next() { Some(text) } else { None }
    }

    fn count(&mut self) -> Option<u64> {
        if let Some(OwnedCell::Count(n)) = self.next() { Some(n) } else { None }
    }

    fn real(&mut self) -> Option<f64> {
        if let Some(OwnedCell::Real(x)) = self.next() { Some(x) } else { None }
    }

    fn flag(&mut self) -> Option<bool> {
        if let Some(OwnedCell::Flag(flag)) = self.next() { Some(flag) } else { None }
    }

    fn texts(&mut self) -> Option<Vec<String>> {
        if let Some(OwnedCell::Texts(list)) = self.next() { Some(list) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Declared;

    #[test]
    fn named_fields_are_replaced_and_the_others_stay() {
        let text =
            Declared {
                id: "a".into(), text: "云会恐高吗？".into(), position: 7, ..Declared::default()
            };
        let edited = with_fields(&text, |name| match name {
            "title" => Some(OwnedCell::Text("云没有感觉".into())),
            "number" => Some(OwnedCell::Count(2)),
            "flags" => Some(OwnedCell::Texts(vec!["甲".into()])),
            // Of another type than the column.
            "position" => Some(OwnedCell::Text("x".into())),
            _ => None,
        });
        let expected = Declared {
            title: Some("云没有感觉".into()),
            number: Some(2),
            flags: vec!["甲".into()],
            position: 0,
            ..text
        };
        assert_eq!(edited, expected);
    }
}
