//! The inputs of a ballot from a record, where its answers are stored, and which of them drop the record.

use minijinja::Value;
use riddlemill_record::Reason;

use crate::expression::{Expression, ExpressionError, ScopedExpression};
use crate::requirement::Requirement;

/// Which answers drop a record. A field of [`AnswerKind::Keep`](crate::ballot::AnswerKind::Keep) does so by itself.
#[derive(Debug)]
pub struct Rejection {
    /// The condition, over the answers.
    pub when: Expression,
    /// The reason: one text or several.
    pub because: Expression,
}

impl PartialEq for Rejection {
    fn eq(&self, other: &Rejection) -> bool {
        (self.when.source(), self.because.source()) == (other.when.source(), other.because.source())
    }
}

impl Rejection {
    /// The reasons for dropping a record, if these answers do.
    ///
    /// # Errors
    /// [`ExpressionError`] if they cannot be computed.
    pub fn find_drop_reasons(&self, answers: &Value) -> Result<Option<Vec<String>>, ExpressionError> {
        if !self.when.is_true(answers)? {
            return Ok(None);
        }
        let because = self.because.compute_value(answers)?;
        let one = because.as_str().map(|text| vec![text.to_owned()]);
        let several = || because.try_iter().map(|list| list.map(|reason| reason.to_string()).collect());
        Ok(Some(one.or_else(|| several().ok()).unwrap_or_default()))
    }
}

/// The inputs of a ballot from a record, and where its answers are stored.
#[derive(Debug)]
pub struct BallotSource {
    /// The content, by key. Null and empty lists are not shown.
    pub shows: Vec<(&'static str, Expression)>,
    /// The condition for a record to be voted on; none means all.
    pub when: Option<Expression>,
    /// The list whose elements are separate items, as `it`; without it the record is one item.
    pub over: Option<ElementList>,
    /// Two texts to compare.
    pub compares: Option<Compares>,
    /// The draft of a field, if it is computed.
    pub draft: Vec<(&'static str, Expression)>,
    /// Drafted codes of a field, in order of preference, if the draft has them in another order.
    pub ranked: Vec<(&'static str, Expression)>,
    /// Texts that no `distinct` answer may repeat; never shown.
    pub apart: Option<Expression>,
    /// Which records continue without an answer, regardless of settings; the others wait.
    pub passes: Option<Passes>,
    /// The columns for the answers, computed from the record and the decision.
    pub keeps: Vec<(&'static str, Expression)>,
    /// Prefix of the columns `_status` and `_basis`.
    pub standing: &'static str,
    /// Findings on the record with the answers: a text, or a list of texts.
    pub finds: Vec<Expression>,
    /// The text before the decision, for the ledger.
    pub before: Option<Expression>,
    /// The text after the decision, for the ledger.
    pub after: Option<Expression>,
    /// What an answer must meet, over the record and, in the ballot's group, the answers.
    pub requires: Vec<Requirement>,
    /// The ballot's group: its name in expressions.
    pub group: &'static str,
}

/// What is drafted for an element, in the expressions of the ballot on it.
pub const DRAFTED: &str = "drafted";

/// The elements of a record that are separate items.
#[derive(Debug)]
pub struct ElementList {
    pub list: Expression,
    /// Prefix of the id of such an item.
    pub role: &'static str,
    /// The name of an element, over `it`: its item's id is made from this and the record's.
    pub called: Expression,
}

/// Two texts to compare.
#[derive(Debug)]
pub struct Compares {
    /// The content key, with the suffixes `_1` and `_2`.
    pub key: &'static str,
    /// Each text with the code of its side.
    pub sides: [(&'static str, Expression); 2],
}

/// Which records continue without an answer.
#[derive(Debug)]
pub struct Passes {
    /// The condition.
    pub when: Expression,
    /// The reason for which the others wait.
    pub lacks: Reason,
}

impl BallotSource {
    /// Every expression over the record before the ballot.
    pub fn input_expressions(&self) -> impl Iterator<Item = &Expression> {
        self.asked_with().map(|(asked, _)| asked)
    }

    /// Every expression over the record before the ballot, each with what else it may name: `it` over an element
    /// of the list.
    pub(crate) fn asked_with(&self) -> impl Iterator<Item = ScopedExpression<'_>> {
        let sides = self.compares.iter().flat_map(|compares| &compares.sides);
        let named = self.shows.iter().chain(&self.draft).chain(&self.ranked).chain(sides);
        let called = self.over.iter().map(|over| &over.called);
        let element: &'static [&'static str] = if self.over.is_some() { &["it"] } else { &[] };
        let of_item = named.map(|(_, e)| e).chain(&self.apart).chain(called).map(move |e| (e, element));
        let list = self.over.iter().map(|over| &over.list);
        let passes = self.passes.iter().map(|passes| &passes.when);
        let of_record = self.when.iter().chain(list).chain(passes).chain(&self.before);
        of_item.chain(of_record.map(|e| (e, &[] as &'static [&'static str])))
    }

    /// The expressions that only records with columns have, by their keys.
    pub(crate) fn of_columns(&self) -> impl Iterator<Item = (&'static str, &Expression)> {
        let keeps = self.keeps.iter().map(|(_, e)| ("keeps", e));
        let finds = self.finds.iter().map(|e| ("finds", e));
        let before = self.before.iter().map(|e| ("before", e));
        keeps.chain(finds).chain(before).chain(self.after.iter().map(|e| ("after", e)))
    }

    /// The conditions that answers must meet.
    pub(crate) fn answer_conditions(&self) -> impl Iterator<Item = &Expression> {
        self.requires.iter().map(|requirement| &requirement.holds)
    }

    /// Every expression over the record and the decision.
    pub fn decision_expressions(&self) -> impl Iterator<Item = &Expression> {
        self.keeps.iter().map(|(_, e)| e).chain(&self.finds).chain(&self.after)
    }
}

impl PartialEq for BallotSource {
    fn eq(&self, other: &BallotSource) -> bool {
        let sources = |asked: &BallotSource| -> Vec<&str> {
            let all = asked
                .input_expressions()
                .chain(asked.decision_expressions())
                .chain(asked.answer_conditions());
            all.map(Expression::source).collect()
        };
        sources(self) == sources(other)
    }
}
