//! Steps that make a record of every element of a list: `record_for_each`.

use crate::draft::{Place, by_name};
use crate::expression::Expression;
use crate::reader::Keys;

/// A step that makes one record of every element of a list.
pub struct Elements {
    pub benchmark: &'static str,
    /// The step.
    pub name: &'static str,
    /// The records of which it does so; the others are left out of it and go on as they are. None means all.
    pub when: Option<Expression>,
    /// The list, over the record.
    pub list: Expression,
    /// The name of an element, over `it`, in the id of its record; without it, its place from 1.
    pub called: Option<Expression>,
    /// The text of an element's record, over `it`; without it, that of its record.
    pub text: Option<Expression>,
}

by_name!(Elements);

/// What a record has in the group of the step: the element, the record that it is of, its place from 1, and its name.
pub const ELEMENT: [&str; 4] = ["it", "of", "place", "called"];

impl Elements {
    /// Every expression over the record, each with what else it may name.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = (&Expression, &'static [&'static str])> {
        let of_record = self.when.iter().chain([&self.list]).map(|e| (e, &[] as &'static [&'static str]));
        of_record.chain(self.called.iter().chain(&self.text).map(|e| (e, &["it"] as &'static [&'static str])))
    }
}

impl Place<'_> {
    /// A step that makes a record of every element of a list; a problem is reported.
    pub(crate) fn elements(&self, keys: &Keys<'_>) -> Option<Elements> {
        if self.records.is_some() {
            let what = "`record_for_each` is for declared records: those of a kind (`records`) have the columns of their kind alone";
            keys.problem("record_for_each", what);
        }
        let list = self.expression(keys, "record_for_each");
        if !keys.has("record_for_each") {
            keys.needed("record_for_each");
        }
        Some(Elements {
            benchmark: self.benchmark,
            name: self.name,
            when: self.expression(keys, "when"),
            called: self.expression(keys, "called"),
            text: self.expression(keys, "text"),
            list: list?,
        })
    }
}
