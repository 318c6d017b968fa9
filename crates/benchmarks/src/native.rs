//! Steps that are named operations of the program: `kind = "native"`. The program knows the operations with
//! their inputs and outputs; here are the declarations of their use.

use serde_json::Value;

use crate::draft::{TablePlace, by_name};
use crate::expression::Expression;
use crate::reader::Keys;
use crate::record_kind::RecordKind;

/// A named operation in the steps of a benchmark.
pub struct NativeStep {
    pub benchmark: &'static str,
    /// The step.
    pub name: &'static str,
    pub op: &'static str,
    /// The place of its name.
    pub place: String,
    /// The kind of its input records, if they have columns; `None` if the folder declares them.
    pub records: Option<&'static RecordKind>,
    /// The kind of its output records.
    pub leaves: Option<&'static RecordKind>,
    /// The ballot for which it drafts; without one its findings form a group of their own.
    pub ballot: Option<&'static str>,
    /// The condition for a record; none means all.
    pub when: Option<Expression>,
    /// Its inputs from a record, by the operation's names.
    pub with: Vec<(&'static str, Expression)>,
    /// The columns for its findings, computed from the record and the findings.
    pub keeps: Vec<(&'static str, Expression)>,
    /// The operation's own settings.
    pub settings: Vec<OpSetting>,
}

/// A setting of an operation in a step's table.
#[derive(Clone, Debug, PartialEq)]
pub struct OpSetting {
    pub key: &'static str,
    pub value: Value,
    pub place: String,
}

by_name!(NativeStep);

/// The keys allowed in every operation's table.
pub const KEYS: [&str; 8] = ["kind", "op", "from", "records", "for", "when", "with", "keeps"];

impl NativeStep {
    /// The expression for an input.
    pub fn find_input(&self, name: &str) -> Option<&Expression> {
        self.with.iter().find(|(known, _)| *known == name).map(|(_, is)| is)
    }

    /// The group of its findings, for a declared record.
    pub fn findings_group(&self) -> &'static str {
        self.ballot.unwrap_or(self.name)
    }

    /// Every expression over the record before the step.
    pub fn input_expressions(&self) -> impl Iterator<Item = &Expression> {
        self.with.iter().map(|(_, is)| is).chain(&self.when)
    }

    /// Every expression over the record and the findings.
    pub fn over_findings(&self) -> impl Iterator<Item = &Expression> {
        self.keeps.iter().map(|(_, is)| is)
    }
}

impl TablePlace<'_> {
    /// The columns that get what a step finds; declared records have none.
    pub(crate) fn parse_kept_columns(&self, keys: &Keys<'_>) -> Vec<(&'static str, Expression)> {
        let keeps = self.parse_named_expressions(keys, "keeps").unwrap_or_default();
        if self.records.is_none() && !keeps.is_empty() {
            keys.report_problem(
                "keeps",
                "`keeps` is for records of a kind (`records`): these leave their answers in a group",
            );
        }
        keeps
    }

    /// A step that is a named operation.
    pub fn parse_native(
        &self,
        op: &'static str,
        leaves: Option<&'static RecordKind>,
        keys: &Keys<'_>,
    ) -> NativeStep {
        let of_file = |key: &str| keys.place_of_key(key).unwrap_or_else(|| self.file.to_owned());
        let keeps = self.parse_kept_columns(keys);
        let setting = |key: &'static str| {
            let (value, _) = keys.read_json(key)?;
            Some(OpSetting { key, value, place: of_file(key) })
        };
        let own = keys.key_names().into_iter().filter(|key| !KEYS.contains(key));
        NativeStep {
            benchmark: self.benchmark,
            name: self.name,
            op,
            place: of_file("op"),
            records: self.records,
            leaves,
            ballot: keys.read_text("for"),
            when: self.parse_expression(keys, "when"),
            with: self.parse_named_expressions(keys, "with").unwrap_or_default(),
            keeps,
            settings: own.filter_map(setting).collect(),
        }
    }
}
