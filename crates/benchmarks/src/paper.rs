//! What the papers of a set say: the published set that it rebuilds with the differences, or how it is cited itself, and
//! the datasheet's answers that only its authors know.
//!
//! Where a set has published rows (`[published]`), they become records, with values for each step.
//!
//! A published row contains decisions of another project's people. It is converted into the fields of the
//! benchmark's own steps, step by step: if people here decide differently, only that field is replaced.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::expression::{Expression, Language};
use crate::reader::Keys;

/// A published set and how this one differs, or a set of its own. Texts may be empty: nothing is said of what is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Paper {
    /// The set's name.
    pub set: &'static str,
    /// The paper's title.
    pub title: &'static str,
    /// Its first author, with the others.
    pub authors: &'static str,
    /// When it appeared; 0 where no paper is named.
    pub year: u16,
    /// Its address.
    pub url: &'static str,
    /// Languages of the rows, as the Hub names them.
    pub languages: Vec<&'static str>,
    /// The paper's key in BibTeX.
    pub key: &'static str,
    /// The set's tags on the Hub.
    pub tags: Vec<&'static str>,
    /// Known biases of figures on such a set; may be empty.
    pub biases: &'static str,
    /// Differences from the published set or the paper; a set of its own has none.
    pub differs: Vec<Difference>,
    /// Answers of the datasheet, by [`ANSWERS`].
    pub datasheet: BTreeMap<&'static str, &'static str>,
}

/// Questions of the datasheet that no run can answer, and that a folder may.
pub const ANSWERS: &[&str] = &[
    "relations",
    "splits",
    "errors",
    "confidential",
    "offence",
    "subpopulations",
    "collectors",
    "ethics",
    "through",
    "notified",
    "consent",
    "impact",
    "used_for",
    "work",
    "future_uses",
    "third_parties",
    "controls",
    "guessed",
];

impl Paper {
    /// Whether the set rebuilds a published one: only then is there something from which it can differ.
    pub fn is_rebuild(&self) -> bool {
        !self.differs.is_empty()
    }
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// In the paper or the published file.
    pub there: &'static str,
    /// Here, and why.
    pub here: &'static str,
    /// The setting that makes it as there, `section.key` and the value, if there is one.
    pub unless: Vec<(&'static str, &'static str)>,
}

/// `[paper]`, or the name of the benchmark whose paper it shares.
#[derive(Clone, Debug)]
pub(crate) enum Cited {
    Own(Box<Paper>),
    Like(&'static str),
}

pub(crate) fn parse_paper(keys: &Keys<'_>) -> Cited {
    if let Some(other) = keys.read_text("like") {
        return Cited::Like(other);
    }
    let set = |keys: &Keys<'_>| -> Vec<_> {
        keys.key_names().into_iter().map(|key| (key, keys.require_text(key))).collect()
    };
    let difference = |keys: &Keys<'_>| Difference {
        there: keys.require_text("there"),
        here: keys.require_text("here"),
        unless: keys.read_table("unless", set).unwrap_or_default(),
    };
    // A set without a paper names none of this; one with a paper names all of it.
    let cited = ["title", "authors", "year", "key"].iter().any(|key| keys.has_key(key));
    if cited && !keys.has_key("year") {
        keys.report_problem("year", "`year` is missing");
    }
    let text = |key| if cited { keys.require_text(key) } else { "" };
    let year = keys.read_count("year").and_then(|year| u16::try_from(year).ok());
    let answers = |keys: &Keys<'_>| -> BTreeMap<_, _> {
        ANSWERS.iter().filter_map(|key| Some((*key, keys.read_text(key)?))).collect()
    };
    Cited::Own(Box::new(Paper {
        set: keys.require_text("set"),
        title: text("title"),
        authors: text("authors"),
        year: year.unwrap_or_default(),
        url: keys.read_text("url").unwrap_or_default(),
        languages: keys.read_texts("languages").unwrap_or_default(),
        key: text("key"),
        datasheet: keys.read_table("datasheet", answers).unwrap_or_default(),
        tags: keys.read_texts("tags").unwrap_or_default(),
        biases: keys.read_text("biases").unwrap_or_default(),
        differs: keys.read_tables("differs", difference).unwrap_or_default(),
    }))
}

/// The contents of rows of a published file.
#[derive(Debug, Default)]
pub struct Published {
    /// The row's id in the set; the hash of its text by default.
    pub id: Option<Expression>,
    /// The text of a record of posts.
    pub text: Option<Expression>,
    /// A riddle's question.
    pub question: Option<Expression>,
    /// A riddle's answer.
    pub answer: Option<Expression>,
    /// A key shared by the rows of one record; by default each row is a record.
    pub group: Option<Expression>,
    /// A row's role in its group: `original`, `semantic`, `context`.
    pub role: Option<Expression>,
    /// Its number in the set.
    pub number: Option<Expression>,
    /// The benchmark whose steps it also covers, like that one's rows.
    pub like: Option<&'static str>,
    /// By step: fields of its record, over the row.
    pub at: Vec<(&'static str, Vec<(&'static str, Expression)>)>,
}

impl Published {
    /// Its values at a step.
    pub fn values_at_step(&self, step: &str) -> &[(&'static str, Expression)] {
        self.at.iter().find(|(name, _)| *name == step).map(|(_, says)| says.as_slice()).unwrap_or_default()
    }
}

/// Parses the table of a benchmark.toml; `None` if nothing is declared. `steps` are those of the folder and
/// of others that it may cover.
pub(crate) fn read_published(language: Language, file: &str, keys: &Keys<'_>) -> Option<Published> {
    keys.read_table("published", |keys| {
        let over = |keys: &Keys<'_>, key: &str| Expression::parse_key(language, file, keys, key);
        let published = Published {
            id: over(keys, "id"),
            text: over(keys, "text"),
            question: over(keys, "question"),
            answer: over(keys, "answer"),
            group: over(keys, "group"),
            role: over(keys, "role"),
            number: over(keys, "number"),
            like: keys.read_text("like"),
            at: keys.read_named_tables("at", |step, keys| {
                let says = keys.key_names().into_iter().filter_map(|name| Some((name, over(keys, name)?)));
                (step, says.collect())
            }),
        };
        if published.text.is_none() && published.question.is_none() {
            keys.report_problem(
                "text",
                "`text` is missing: what a record says (of riddles `question` and `answer`)",
            );
        }
        published
    })
}
