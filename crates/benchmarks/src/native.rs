//! A step that is a named operation of the program: `kind = "native"`. What there is of these, and what each takes and
//! gives, the program knows; here is what a folder says of one.

use serde_json::Value;

use crate::draft::{Place, by_name};
use crate::expression::Expression;
use crate::reader::Keys;

/// A named operation in the steps of a benchmark.
pub struct Native {
    /// The benchmark.
    pub benchmark: &'static str,
    /// The step.
    pub name: &'static str,
    /// The operation.
    pub op: &'static str,
    /// Where it is named.
    pub place: String,
    /// The kind of the records that come to it, of those with columns; none where the folder declares them.
    pub records: Option<&'static str>,
    /// The kind of those that it leaves.
    pub leaves: Option<&'static str>,
    /// The ballot that it drafts for; without one what it finds makes a group of its own.
    pub ballot: Option<&'static str>,
    /// Which records it looks at; all where nothing is said.
    pub when: Option<Expression>,
    /// What it takes of a record, each by the operation's name for it.
    pub with: Vec<(&'static str, Expression)>,
    /// The columns that its findings go to, over the record and what was said.
    pub keeps: Vec<(&'static str, Expression)>,
    /// The operation's own settings.
    pub settings: Vec<OpSetting>,
}

/// A setting of an operation, as a step's table says it.
#[derive(Clone, Debug, PartialEq)]
pub struct OpSetting {
    /// Its key.
    pub key: &'static str,
    /// Its value.
    pub value: Value,
    /// Where it stands.
    pub place: String,
}

by_name!(Native);

/// The keys that every operation's table may have.
pub const KEYS: [&str; 8] = ["kind", "op", "from", "records", "for", "when", "with", "keeps"];

impl Native {
    /// An expression for what it takes.
    pub fn takes(&self, name: &str) -> Option<&Expression> {
        self.with.iter().find(|(known, _)| *known == name).map(|(_, is)| is)
    }

    /// The group that its findings are in, of a record that the folder declares.
    pub fn called(&self) -> &'static str {
        self.ballot.unwrap_or(self.name)
    }

    /// Every expression over the record as it comes to the step.
    pub fn asked(&self) -> impl Iterator<Item = &Expression> {
        self.with.iter().map(|(_, is)| is).chain(&self.when)
    }

    /// Every expression over the record and what was said.
    pub fn said(&self) -> impl Iterator<Item = &Expression> {
        self.keeps.iter().map(|(_, is)| is)
    }
}

impl Place<'_> {
    /// A step that is a named operation.
    pub fn native(&self, op: &'static str, leaves: Option<&'static str>, keys: &Keys<'_>) -> Native {
        let of_file = |key: &str| keys.place(key).unwrap_or_else(|| self.file.to_owned());
        let keeps = self.named(keys, "keeps").unwrap_or_default();
        if self.records.is_none() && !keeps.is_empty() {
            keys.problem(
                "keeps",
                "`keeps` is for records of a kind (`records`): these leave their answers in a group",
            );
        }
        let setting = |key: &'static str| {
            let (value, _) = keys.json(key)?;
            Some(OpSetting { key, value, place: of_file(key) })
        };
        let own = keys.names().into_iter().filter(|key| !KEYS.contains(key));
        Native {
            benchmark: self.benchmark,
            name: self.name,
            op,
            place: of_file("op"),
            records: self.records,
            leaves,
            ballot: keys.text("for"),
            when: self.expression(keys, "when"),
            with: self.named(keys, "with").unwrap_or_default(),
            keeps,
            settings: own.filter_map(setting).collect(),
        }
    }
}
