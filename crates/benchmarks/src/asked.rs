//! What a ballot takes of a record, where the answers go, and which of them drop it.

use minijinja::Value;
use riddlemill_text::record::Reason;

use crate::expression::{Expression, Trouble};

/// Which answers drop a record. A field of [`Kind::Keep`](crate::ballot::Kind::Keep) drops by itself.
#[derive(Debug)]
pub struct Rejection {
    /// Over the answers: whether they do.
    pub when: Expression,
    /// Why: one text or several.
    pub because: Expression,
}

impl PartialEq for Rejection {
    fn eq(&self, other: &Rejection) -> bool {
        (self.when.source(), self.because.source()) == (other.when.source(), other.because.source())
    }
}

impl Rejection {
    /// The reasons against a record, where these answers drop it.
    ///
    /// # Errors
    /// [`Trouble`] where they cannot be computed.
    pub fn reasons(&self, answers: &Value) -> Result<Option<Vec<String>>, Trouble> {
        if !self.when.holds(answers)? {
            return Ok(None);
        }
        let because = self.because.value(answers)?;
        let one = because.as_str().map(|text| vec![text.to_owned()]);
        let several = || because.try_iter().map(|list| list.map(|reason| reason.to_string()).collect());
        Ok(Some(one.or_else(|| several().ok()).unwrap_or_default()))
    }
}

/// What a ballot takes of a record, and where the answers go.
#[derive(Debug)]
pub struct BallotSource {
    /// What is shown, by its key. What is null, or an empty list, is not shown.
    pub shows: Vec<(&'static str, Expression)>,
    /// Which records are looked at; all where nothing is said.
    pub when: Option<Expression>,
    /// The list of which each element is looked at, as `it`; the record alone where nothing is said.
    pub over: Option<Over>,
    /// Two texts that are compared.
    pub compares: Option<Compares>,
    /// What is drafted for a field, where it is not the draft itself.
    pub draft: Vec<(&'static str, Expression)>,
    /// Drafted codes of a field, the first first, where the draft has them in another order.
    pub ranked: Vec<(&'static str, Expression)>,
    /// Texts that no `distinct` answer may repeat, shown to nobody.
    pub apart: Option<Expression>,
    /// Of which records it holds that they go on without an answer, whatever the settings say; the others wait.
    pub passes: Option<Passes>,
    /// The columns that the answers go to, over the record and what was decided.
    pub keeps: Vec<(&'static str, Expression)>,
    /// What begins the names of the columns `_status` and `_basis`.
    pub standing: &'static str,
    /// Findings over the record with the answers: a text, or a list of them.
    pub finds: Vec<Expression>,
    /// What a ledger shows of the record before the decision.
    pub before: Option<Expression>,
    /// What it shows behind it.
    pub after: Option<Expression>,
}

/// The elements of a record that are looked at one by one.
#[derive(Debug)]
pub struct Over {
    /// The list.
    pub list: Expression,
    /// What begins the id of such an item.
    pub role: &'static str,
    /// What an element is called, over `it`: the id of its item follows from that and the record's.
    pub called: Expression,
}

/// Two texts that are compared.
#[derive(Debug)]
pub struct Compares {
    /// They are shown under this key, with `_1` and `_2` behind it.
    pub key: &'static str,
    /// Each by the code of its side.
    pub sides: [(&'static str, Expression); 2],
}

/// Which records go on without an answer.
#[derive(Debug)]
pub struct Passes {
    /// Of which it holds.
    pub when: Expression,
    /// Why the others wait.
    pub lacks: Reason,
}

impl BallotSource {
    /// Every expression over the record as it comes to the ballot.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let sides = self.compares.iter().flat_map(|compares| &compares.sides);
        let named = self.shows.iter().chain(&self.draft).chain(&self.ranked).chain(sides);
        let over = self.over.iter().flat_map(|over| [&over.list, &over.called]);
        let passes = self.passes.iter().map(|passes| &passes.when);
        named
            .map(|(_, e)| e)
            .chain(&self.when)
            .chain(&self.apart)
            .chain(over)
            .chain(passes)
            .chain(&self.before)
    }

    /// Every expression over the record and what was decided.
    pub fn decided(&self) -> impl Iterator<Item = &Expression> {
        self.keeps.iter().map(|(_, e)| e).chain(&self.finds).chain(&self.after)
    }
}

impl PartialEq for BallotSource {
    fn eq(&self, other: &BallotSource) -> bool {
        let sources = |asked: &BallotSource| -> Vec<&str> {
            asked.expressions().chain(asked.decided()).map(Expression::source).collect()
        };
        sources(self) == sources(other)
    }
}
