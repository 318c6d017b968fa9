//! `[data]`: the released rows of records, with the checks on their columns.

use std::sync::Arc;

use riddlemill_record::OwnReason;

use crate::compat::{self, Compats};
use crate::expression::{Expression, ExpressionError, Language};
use crate::reader::Keys;
use crate::requirement::{self, Requirement};
use crate::scope::{text_of_value, texts_of_value};
use crate::selecting;
use crate::splits::{self, Splits};

pub use crate::column::{Column, ColumnKind};

/// Names for expressions over a record, in order; each may use those before it.
pub type Fields = Arc<Vec<(&'static str, Expression)>>;

/// A benchmark's releases.
#[derive(Debug)]
pub struct Data {
    /// A description of a row, in one sentence.
    pub about: &'static str,
    /// The columns, in order; the first is the id.
    pub columns: Vec<Column>,
    /// Columns that are left out if no row has them, because a column of nulls is useless.
    pub sometimes: Vec<Column>,
    /// Names for expressions over a record: the benchmark's.
    pub fields: Fields,
    /// The condition for a record to be an item.
    pub when: Option<Expression>,
    /// Why a record of which that does not hold is none, in the folder's words.
    pub reason: Option<&'static OwnReason>,
    /// What a row must meet: without it, its record waits.
    pub requires: Vec<Requirement>,
    /// The decisions that determine a row's standing; empty if the record states it.
    pub rests_on: Vec<Rests>,
    /// Columns whose values are counted on the card and cross-tabulated in a diff.
    pub labels: Vec<&'static str>,
    /// Checks of a row beyond its types.
    pub checks: Vec<Check>,
    /// The numbers of items.
    pub number: Option<ItemNumber>,
    /// The task for a model, if the rows contain the answer.
    pub poses: Option<Poses>,
    /// Rows with equal values are drawn, limited and resampled together; without it, separately.
    pub group: Option<Expression>,
    /// The parts of the set for the tables of an evaluation: a text or several for each row.
    pub parts: Vec<Expression>,
    /// The files of its rows; `None` of one file.
    pub splits: Option<Splits>,
    /// The published files.
    pub compat: Compats,
}

/// A decision that determines a row's standing.
#[derive(Debug)]
pub struct Rests {
    pub ballot: &'static str,
    /// Whether it only counts if somebody decided: `pair?`.
    pub decided: bool,
    /// The condition for it to apply; none means always.
    pub when: Option<Expression>,
}

/// A check of a row.
#[derive(Debug)]
pub struct Check {
    /// The condition, over the columns.
    pub holds: Expression,
    /// The message if it fails.
    pub says: Expression,
}

/// The permanent numbers of items, assigned by the registry.
#[derive(Debug)]
pub enum ItemNumber {
    /// Of their own.
    Own(Box<Series>),
    /// Those of another benchmark, whose ids its items use.
    Of(&'static str),
}

/// A series of numbers, or several.
#[derive(Debug)]
pub struct Series {
    /// The name of the series, over the record.
    pub series: Expression,
    /// The first number.
    pub first: u64,
    /// The key of a number, over the record: rows with equal keys share one.
    pub key: Expression,
    /// The text by which a number is found in a published file, over the record.
    pub text: Expression,
    /// Whether rows are ordered by number instead of by the step.
    pub in_order: bool,
    /// The keys of text and number in a published file.
    pub published: Option<(&'static str, &'static str)>,
}

/// The task for a model.
#[derive(Debug)]
pub struct Poses {
    /// The column with the question.
    pub question: &'static str,
    /// The instruction before it in the prompt.
    pub instruction: &'static str,
    /// The form of the answer.
    pub answer: AnswerForm,
}

/// The form of an answer.
#[derive(Clone, Copy, Debug)]
pub enum AnswerForm {
    /// One of the options in a list column; the gold is a column with its letter or its number.
    Choice {
        /// The column with the options.
        options: &'static str,
        /// The column with the gold.
        gold: &'static str,
    },
    /// Free text, compared with this column.
    Words(&'static str),
}

impl ColumnKind {
    /// Whether a value of a row is of this type.
    pub(crate) fn is_type_of(self, value: &serde_json::Value) -> bool {
        match self {
            ColumnKind::Text => value.is_string(),
            ColumnKind::Count => value.is_u64(),
            ColumnKind::Real => value.is_number(),
            ColumnKind::Flag => value.is_boolean(),
            ColumnKind::Texts | ColumnKind::Counts | ColumnKind::Reals => value
                .as_array()
                .is_some_and(|list| list.iter().all(|value| self.split_list_kind().1.is_type_of(value))),
        }
    }
}

impl Data {
    /// Whether an expression over records uses a name.
    pub fn is_name_used(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column.is.names().contains(name))
            || self.fields.iter().any(|(_, field)| field.names().contains(name))
    }
}

/// `[fields]` from the root of a benchmark.toml.
pub(crate) fn parse_fields(language: Language, file: &str, keys: &Keys<'_>) -> Fields {
    let each = |keys: &Keys<'_>| -> Vec<_> {
        let named = |name: &'static str| Some((name, Expression::parse_key(language, file, keys, name)?));
        keys.key_names().into_iter().filter_map(named).collect()
    };
    Arc::new(keys.read_table("fields", each).unwrap_or_default())
}

/// Parses the tables of a benchmark.toml; `None` if nothing is declared.
pub(crate) fn parse_data(language: Language, file: &str, fields: &Fields, keys: &Keys<'_>) -> Option<Data> {
    let over = |keys: &Keys<'_>, key: &str| Expression::parse_key(language, file, keys, key);
    let check = |keys: &Keys<'_>| {
        let (holds, says) =
            (require_expression(language, file, keys, "holds"), parse_sentence(language, file, keys));
        Some(Check { holds: holds?, says: says? })
    };
    let mut data = keys.read_table("data", |keys| {
        let (sometimes, columns) = parse_columns(language, file, keys);
        let mut data = Data {
            about: keys.require_text("about"),
            columns,
            sometimes,
            fields: Arc::clone(fields),
            when: over(keys, "when"),
            reason: parse_reason(keys),
            requires: requirement::parse_requirements(language, file, keys),
            rests_on: rests_on(language, file, keys),
            labels: keys.read_texts("labels").unwrap_or_default(),
            checks: keys.read_tables("checks", check).unwrap_or_default().into_iter().flatten().collect(),
            number: keys.read_table("number", |keys| parse_number(language, file, keys)).flatten(),
            poses: keys.read_table("poses", parse_poses),
            group: over(keys, "group"),
            parts: parse_parts(language, keys),
            splits: None,
            compat: Compats::default(),
        };
        data.splits = keys.read_table("splits", |keys| {
            let mut read = splits::parse_splits(keys);
            splits::check_columns(&mut read, keys, data.columns.iter().chain(&data.sometimes));
            read
        });
        check_column_names(&data, keys);
        data
    })?;
    let columns: Vec<&str> = data.columns.iter().map(|column| column.name).collect();
    data.compat = compat::parse_compats(language, file, keys, &columns);
    Some(data)
}

/// Why `when` takes a record out.
fn parse_reason(keys: &Keys<'_>) -> Option<&'static OwnReason> {
    if !keys.has_key("reason") {
        return None;
    }
    if !keys.has_key("when") {
        keys.report_problem("reason", "it is why `when` leaves a record out, and there is no `when`");
    }
    selecting::parse_reason(keys)
}

/// The column for the deviations of a row's published file from its other columns.
pub const PUBLISHED: &str = "published";

/// That column, for sets with published rows.
pub(crate) fn published_column(language: Language, file: &str) -> Option<Column> {
    Some(Column {
        name: PUBLISHED,
        kind: ColumnKind::Text,
        nullable: true,
        is: Expression::parse(language, file.to_owned(), PUBLISHED).ok()?,
        about: "For a row of a published file: the values of that file that differ from the other columns, by the file's keys and in its own notation; null if there are none.",
        values: Vec::new(),
    })
}

/// Reports unknown column names.
fn check_column_names(data: &Data, keys: &Keys<'_>) {
    let known: Vec<&str> = data.columns.iter().map(|column| column.name).collect();
    let unknown = |name: &str| riddlemill_text::hint::unknown("column", name, known.iter().copied());
    if known.first() != Some(&"id") {
        keys.report_problem("columns", "the first column is `id`");
    }
    for name in data.labels.iter().filter(|name| !known.contains(name)) {
        keys.report_problem("labels", unknown(name));
    }
    let over = || known.iter().copied().chain(["this"]);
    for problem in data
        .checks
        .iter()
        .flat_map(|check| [&check.holds, &check.says])
        .chain(&data.group)
        .chain(&data.parts)
        .chain(data.requires.iter().map(|requirement| &requirement.holds))
        .filter_map(|e| e.find_unknown_name("column", over()))
    {
        keys.report_problem("checks", problem);
    }
    if let Some(poses) = &data.poses {
        let of_answer = match poses.answer {
            AnswerForm::Choice { options, gold } => vec![options, gold],
            AnswerForm::Words(words) => vec![words],
        };
        for name in of_answer.into_iter().chain([poses.question]).filter(|name| !known.contains(name)) {
            keys.report_problem("poses", unknown(name));
        }
    }
}

const KINDS: [(&str, ColumnKind); 7] = [
    ("text", ColumnKind::Text),
    ("integer", ColumnKind::Count),
    ("number", ColumnKind::Real),
    ("flag", ColumnKind::Flag),
    ("list of text", ColumnKind::Texts),
    ("list of integer", ColumnKind::Counts),
    ("list of number", ColumnKind::Reals),
];

/// The optional columns, and the others.
fn parse_columns(language: Language, file: &str, keys: &Keys<'_>) -> (Vec<Column>, Vec<Column>) {
    let column = |keys: &Keys<'_>| {
        let written = keys.require_text("type");
        let (name, nullable) = written.strip_suffix('?').map_or((written, false), |name| (name, true));
        let kind = KINDS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind);
        if kind.is_none() {
            let known = KINDS.iter().map(|(known, _)| *known);
            keys.report_problem("type", riddlemill_text::hint::unknown("type", name, known));
        }
        let is = require_expression(language, file, keys, "is");
        let (name, about) = (keys.require_text("name"), keys.require_text("about"));
        let values = keys.read_texts("values").unwrap_or_default();
        let sometimes = keys.read_flag("sometimes").unwrap_or(false);
        Some((sometimes, Column { name, kind: kind?, nullable, is: is?, about, values }))
    };
    let columns = keys.read_tables("columns", column).unwrap_or_default();
    let (sometimes, always): (Vec<_>, Vec<_>) =
        columns.into_iter().flatten().partition(|(sometimes, _)| *sometimes);
    let bare = |columns: Vec<(bool, Column)>| columns.into_iter().map(|(_, column)| column).collect();
    (bare(sometimes), bare(always))
}

fn rests_on(language: Language, file: &str, keys: &Keys<'_>) -> Vec<Rests> {
    let mut rests: Vec<Rests> = Vec::new();
    for ballot in keys.read_texts("rests_on").unwrap_or_default() {
        let (ballot, decided) = ballot.strip_suffix('?').map_or((ballot, false), |ballot| (ballot, true));
        rests.push(Rests { ballot, decided, when: None });
    }
    keys.read_table("rests_when", |keys| {
        for name in keys.key_names() {
            let when = Expression::parse_key(language, file, keys, name);
            match rests.iter_mut().find(|rests| rests.ballot == name) {
                Some(rests) => rests.when = when,
                None => keys.report_problem(name, format!("{name:?} is not in `rests_on`")),
            }
        }
    });
    rests
}

fn parse_number(language: Language, file: &str, keys: &Keys<'_>) -> Option<ItemNumber> {
    if let Some(other) = keys.read_text("of") {
        return Some(ItemNumber::Of(other));
    }
    let published = |keys: &Keys<'_>| (keys.require_text("text"), keys.require_text("number"));
    Some(ItemNumber::Own(Box::new(Series {
        series: require_expression(language, file, keys, "series")?,
        first: keys.read_count("first").unwrap_or(0) as u64,
        key: require_expression(language, file, keys, "key")?,
        text: require_expression(language, file, keys, "text")?,
        in_order: keys.one_of("order", &[("number", true), ("step", false)]).unwrap_or(true),
        published: keys.read_table("published", published),
    })))
}

fn parse_parts(language: Language, keys: &Keys<'_>) -> Vec<Expression> {
    let place = keys.place_of_key("parts").unwrap_or_default();
    let part = |source| {
        let read = Expression::parse(language, place.clone(), source);
        read.map_err(|what| keys.report_problem("parts", what)).ok()
    };
    keys.read_texts("parts").unwrap_or_default().into_iter().filter_map(part).collect()
}

fn parse_poses(keys: &Keys<'_>) -> Poses {
    let answer = match keys.read_text("words") {
        Some(words) => AnswerForm::Words(words),
        None => AnswerForm::Choice { options: keys.require_text("options"), gold: keys.require_text("gold") },
    };
    Poses { question: keys.require_text("question"), instruction: keys.require_text("instruction"), answer }
}

fn parse_sentence(language: Language, file: &str, keys: &Keys<'_>) -> Option<Expression> {
    if !keys.has_key("says") {
        keys.require_text("says");
    }
    parse_words(language, file, keys, "says")
}

/// Words, which are words unless there is something to fill in.
pub(crate) fn parse_words(language: Language, file: &str, keys: &Keys<'_>, key: &str) -> Option<Expression> {
    let words = keys.read_text(key)?;
    let filled = words.contains("{{") || words.contains("{%");
    // In quotes, plain words are an expression that always gives themselves.
    let source = if filled { words } else { crate::reader::leak_text(&format!("{words:?}")) };
    let place = keys.place_of_key(key).unwrap_or_else(|| file.to_owned());
    Expression::parse(language, place, source).map_err(|what| keys.report_problem(key, what)).ok()
}

fn require_expression(language: Language, file: &str, keys: &Keys<'_>, key: &str) -> Option<Expression> {
    if !keys.has_key(key) {
        keys.require_text(key);
        return None;
    }
    Expression::parse_key(language, file, keys, key)
}

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
        kind: ColumnKind,
    },
}

impl Data {
    /// The group of a row, if the benchmark has groups, and the row's parts.
    ///
    /// # Errors
    /// [`ExpressionError`] if an expression cannot be computed.
    pub fn group_and_parts(
        &self,
        columns: &minijinja::value::Value,
    ) -> Result<(Option<String>, Vec<String>), ExpressionError> {
        let group = match &self.group {
            Some(group) => text_of_value(&group.compute_value(columns)?),
            None => None,
        };
        let mut parts = Vec::new();
        for part in &self.parts {
            parts.extend(texts_of_value(&part.compute_value(columns)?));
        }
        Ok((group, parts))
    }

    /// The first problem with these columns in a row: a missing value, or another type.
    pub fn find_column_error<'c>(
        &self,
        row: &serde_json::Map<String, serde_json::Value>,
        columns: impl Iterator<Item = &'c str>,
    ) -> Option<ColumnError> {
        let mut columns = columns.filter_map(|name| self.columns.iter().find(|column| column.name == name));
        columns.find_map(|column| match row.get(column.name).unwrap_or(&serde_json::Value::Null) {
            serde_json::Value::Null if column.nullable => None,
            value if column.kind.is_type_of(value) => None,
            serde_json::Value::Null => Some(ColumnError::Missing(column.name)),
            value => Some(ColumnError::Type { column: column.name, value: value.clone(), kind: column.kind }),
        })
    }
}
