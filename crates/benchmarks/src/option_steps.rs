//! Steps that neither ask nor find anything: the order of options, marked texts, and a record of every element of a list
//! (`record_for_each`).

use crate::draft::{TablePlace, by_name};
use crate::expression::Expression;
use crate::reader::{Keys, leak_text};
use crate::record_kind::RecordKind;

/// The options of a multiple choice.
pub struct Options {
    pub benchmark: &'static str,
    /// The step.
    pub name: &'static str,
    /// The kind of its records, whose columns it fills; `None` if the folder declares them.
    pub records: Option<&'static RecordKind>,
    /// Whether the folder says which they are; else they are the usual ones of records with columns.
    pub declared: bool,
    /// The right one, over the record.
    pub right: Expression,
    /// The wrong ones.
    pub wrong: Expression,
    pub number: usize,
    /// The purpose of the draw: another one gives another order.
    pub purpose: &'static str,
    /// The columns for the options, computed from the record and [`CHOSEN`] in `said`.
    pub keeps: Vec<(&'static str, Expression)>,
}

/// What is drawn: the options in their order, and the place of the right one.
pub const CHOSEN: [&str; 2] = ["shown", "right"];

/// The options of records with columns where the folder has no table of the step: `right`, `wrong`, the purpose, and which
/// columns get them.
const USUAL: (&str, &str, &str, [(&str, &str); 2]) =
    ("explanation", "wrong", "flub options", [("options", "said.shown"), ("answer", "said.right")]);

/// How many there are, if the folder does not say so.
const NUMBER: usize = 4;

/// Texts of records in which personal data is marked.
pub struct Marked {
    pub benchmark: &'static str,
    /// The step.
    pub name: &'static str,
    /// Groups and their fields, `riddle.question`.
    pub texts: Vec<(&'static str, &'static str)>,
    /// Whether they are in English; by default, in the language of the recipe's posts.
    pub english: Option<bool>,
}

by_name!(Options Marked);

impl TablePlace<'_> {
    /// The options of a multiple choice.
    pub fn parse_options(&self, keys: &Keys<'_>) -> Option<Options> {
        let number = keys.read_count("number").unwrap_or(NUMBER);
        if !(2..=riddlemill_text::options::LETTERS.len()).contains(&number) {
            keys.report_problem(
                "number",
                format!("between 2 and {} options", riddlemill_text::options::LETTERS.len()),
            );
        }
        for key in ["right", "wrong"].into_iter().filter(|key| !keys.has_key(key)) {
            keys.require_text(key);
        }
        let (right, wrong) = (self.parse_expression(keys, "right"), self.parse_expression(keys, "wrong"));
        let purpose = keys
            .read_text("purpose")
            .unwrap_or_else(|| leak_text(&format!("{} {}", self.benchmark, self.name)));
        let keeps = self.parse_kept_columns(keys);
        if self.records.is_some() && keeps.is_empty() {
            let what = "`keeps` is missing: the columns that get the options and the place of the right one, such as { options = \"said.shown\", \
                        answer = \"said.right\" }";
            keys.report_problem("keeps", what);
        }
        Some(Options {
            benchmark: self.benchmark,
            name: self.name,
            records: self.records,
            declared: true,
            right: right?,
            wrong: wrong?,
            number,
            purpose,
            keeps,
        })
    }

    /// The options of a step without a table, if its records have the columns for them.
    pub(crate) fn usual_options(&self) -> Option<Options> {
        let (right, wrong, purpose, keeps) = USUAL;
        let has = |name: &str| self.records?.columns.iter().find(|column| column.name == name);
        let kept = keeps.iter().map(|(column, _)| *column);
        kept.chain([right, wrong]).all(|column| has(column).is_some()).then_some(())?;
        let expression = |source| Expression::parse(self.language, self.file.to_owned(), source).ok();
        let keeps = keeps.into_iter().filter_map(|(column, source)| Some((column, expression(source)?)));
        Some(Options {
            benchmark: self.benchmark,
            name: self.name,
            records: self.records,
            declared: false,
            right: expression(right)?,
            wrong: expression(wrong)?,
            number: NUMBER,
            purpose,
            keeps: keeps.collect(),
        })
    }

    /// Texts in which personal data is marked.
    pub fn parse_marked_texts(&self, keys: &Keys<'_>) -> Marked {
        if self.records.is_some() {
            let what = "`texts` is for declared records: those of a kind (`records`) have no groups";
            keys.report_problem("texts", what);
        }
        let texts = keys.read_texts("texts").unwrap_or_default();
        let parted = |text: &'static str| {
            let parts = text.split_once('.');
            if parts.is_none() {
                keys.report_problem(
                    "texts",
                    format!("{text:?} is not a field of a group, such as \"riddle.question\""),
                );
            }
            parts
        };
        let english = keys.one_of("language", &[("en", true), ("zh", false)]);
        Marked {
            benchmark: self.benchmark,
            name: self.name,
            texts: texts.into_iter().filter_map(parted).collect(),
            english,
        }
    }
}

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
    pub(crate) fn record_expressions(&self) -> impl Iterator<Item = (&Expression, &'static [&'static str])> {
        let of_record = self.when.iter().chain([&self.list]).map(|e| (e, &[] as &'static [&'static str]));
        of_record.chain(self.called.iter().chain(&self.text).map(|e| (e, &["it"] as &'static [&'static str])))
    }
}

impl TablePlace<'_> {
    /// A step that makes a record of every element of a list; a problem is reported.
    pub(crate) fn parse_elements(&self, keys: &Keys<'_>) -> Option<Elements> {
        if self.records.is_some() {
            let what = "`record_for_each` is for declared records: those of a kind (`records`) have the columns of their kind alone";
            keys.report_problem("record_for_each", what);
        }
        let list = self.parse_expression(keys, "record_for_each");
        if !keys.has_key("record_for_each") {
            keys.require_text("record_for_each");
        }
        Some(Elements {
            benchmark: self.benchmark,
            name: self.name,
            when: self.parse_expression(keys, "when"),
            called: self.parse_expression(keys, "called"),
            text: self.parse_expression(keys, "text"),
            list: list?,
        })
    }
}
