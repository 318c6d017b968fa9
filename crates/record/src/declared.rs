//! A record of a benchmark that its folder declares alone, and records with fields replaced by their names.

use super::cell::record;
use super::{Cell, Cells, OwnedCell, Post, PostKind, Record, Values};

record! {
    /// The steps of its benchmark declare the fields of a record in addition to its post: each makes a group with its name.
    pub struct Declared {
        /// The post's id.
        id: String,
        /// The text of the post.
        text: String,
        /// What part of a forum it was.
        kind: PostKind,
        /// The post's title, where no step has cleaned it.
        title: Option<String>,
        /// What is below the title, where no step has cleaned it.
        content: Option<String>,
        /// The score its readers gave it.
        score: Option<f64>,
        /// Its number in an annual thread.
        number: Option<u64>,
        /// What the thread's owner notes under it.
        note: Option<String>,
        /// When it was written, according to the source.
        time: Option<String>,
        /// The source's name.
        source: String,
        /// The file's name.
        file: String,
        /// The line or item in it.
        position: u64,
        /// The licence the source states.
        licence: Option<String>,
        /// What its steps left, as a JSON object: a key for each step that has made something, in their order.
        groups: String,
        /// What the self-checks of the drafts found, `step: finding`.
        flags: Vec<String>,
    }
}

impl From<Post> for Declared {
    fn from(post: Post) -> Declared {
        Declared {
            id: post.id,
            text: post.text,
            kind: post.kind,
            score: post.score,
            number: post.number,
            note: post.note,
            time: post.time,
            source: post.source,
            file: post.file,
            position: post.position,
            licence: post.licence,
            ..Declared::default()
        }
    }
}

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
