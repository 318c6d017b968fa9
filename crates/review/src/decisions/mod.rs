//! People's decisions about records and pairs of records, kept as append-only lines under `raw/decisions`.
//!
//! A rule, a draft or a vote may be wrong; then a person decides: a held or dropped post is kept, a post goes
//! out or waits, its text, title or answer is replaced, two posts are one joke or two.
//!
//! # Which one counts
//!
//! - A decision overrules votes, votes overrule a draft, and a draft overrules a rule.
//! - Of two decisions on the same question the later one counts, whichever recipes they are for.
//! - After a decision is withdrawn, the one before it counts again.
//! - A decision refers to the text that the person saw. If the record has changed since, it is outdated: it
//!   is listed as such and has no effect.
//!
//! [`Decision`] is one of them, [`DecisionLog`] their log, [`StageDecisions`] what a stage looks up.

mod log;
mod stage;
mod table;

pub use log::{DecisionLine, DecisionLog, DecisionReceipt};
pub use stage::{Pairing, Ruling, StageDecisions};
pub use table::{
    CellsByColumn, DECISIONS, DecisionColumns, TableError, missing_column, read_table, write_table,
};

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Digest;

/// What a person decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The record is kept, whatever holds or drops it.
    Keep,
    /// The record is dropped.
    Drop,
    /// The record waits.
    Hold,
    /// The text is replaced. For a riddle, the question.
    Text,
    /// The title is replaced; the rules combine title and content as usual.
    Title,
    /// The content is replaced; for a riddle, the answer.
    Answer,
    /// The two are one joke.
    One,
    /// The two are not one joke.
    Two,
}

/// The question that a verdict answers. The latest decision on a question counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Question {
    /// Whether the record is kept, dropped or held.
    Outcome,
    /// What the text is.
    Text,
    /// What the title is.
    Title,
    /// What the content or answer is.
    Answer,
    /// Whether two are one.
    Pair,
}

impl Verdict {
    /// Every verdict, in the order of lists.
    pub const ALL: [Verdict; 8] = [
        Verdict::Keep,
        Verdict::Drop,
        Verdict::Hold,
        Verdict::Text,
        Verdict::Title,
        Verdict::Answer,
        Verdict::One,
        Verdict::Two,
    ];

    /// The word in tables and in raw/decisions.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Keep => "keep",
            Verdict::Drop => "drop",
            Verdict::Hold => "hold",
            Verdict::Text => "text",
            Verdict::Title => "title",
            Verdict::Answer => "answer",
            Verdict::One => "one",
            Verdict::Two => "two",
        }
    }

    /// The word on the command line and in sentences.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::One => "same",
            Verdict::Two => "different",
            other => other.name(),
        }
    }

    /// The verdict of a word; those on pairs are called `same` and `different`, too.
    pub fn from_name(name: &str) -> Option<Verdict> {
        match name {
            "same" => Some(Verdict::One),
            "different" => Some(Verdict::Two),
            name => Verdict::ALL.into_iter().find(|verdict| verdict.name() == name),
        }
    }

    /// The question that it answers.
    pub fn question(self) -> Question {
        match self {
            Verdict::Keep | Verdict::Drop | Verdict::Hold => Question::Outcome,
            Verdict::Text => Question::Text,
            Verdict::Title => Question::Title,
            Verdict::Answer => Question::Answer,
            Verdict::One | Verdict::Two => Question::Pair,
        }
    }

    /// Whether it is about two records.
    pub fn is_of_pair(self) -> bool {
        self.question() == Question::Pair
    }

    /// Whether it replaces a text.
    pub fn is_edit(self) -> bool {
        matches!(self, Verdict::Text | Verdict::Title | Verdict::Answer)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What one person decided about one record or pair, never changed. Changing one's mind makes another
/// decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// The hash of all fields except the time and the source: the same decision on the same history has the
    /// same id.
    pub id: Digest,
    /// The recipe that it is for; `None` for all recipes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipe: Option<String>,
    /// The stage whose outcome it overrules.
    pub stage: String,
    pub record: String,
    /// The other record of a pair. `record` has the smaller of the two ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
    /// What was decided.
    pub verdict: Verdict,
    /// The new text, for verdicts that have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The hash of what the person saw: of the record, or of both, as it enters the stage.
    pub seen: Digest,
    /// Who decided.
    pub by: String,
    /// Why.
    pub why: String,
    /// When, RFC 3339.
    pub at: String,
    /// The verb, page or file that it came from.
    pub source: String,
    /// The last line of the log on the same question when this one was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Digest>,
}

impl Decision {
    /// The id computed from the fields. A stored decision with another id was edited by hand.
    pub fn compute_id(&self) -> Digest {
        let base = self.base.map(|base| base.to_string());
        let seen = self.seen.to_string();
        let optional = |text: &Option<String>| match text {
            Some(text) => ["+", text].concat(),
            None => String::new(),
        };
        let [recipe, other, text, base] = [&self.recipe, &self.other, &self.text, &base].map(optional);
        let parts = [&recipe, &self.stage, &self.record, &other, self.verdict.name(), &text, &seen];
        let parts = parts.into_iter().chain([self.by.as_str(), &self.why, &base]);
        Digest::of_parts("riddlemill decision v1", parts.map(str::as_bytes))
    }

    /// The decision with its id, the records of a pair ordered by id.
    pub fn with_id(mut self) -> Decision {
        if let Some(other) = self.other.take() {
            let (first, second) =
                if other < self.record { (other, self.record) } else { (self.record, other) };
            (self.record, self.other) = (first, Some(second));
        }
        self.id = self.compute_id();
        self
    }

    /// Whether it is for a recipe.
    pub fn is_for(&self, recipe: &str) -> bool {
        self.recipe.as_deref().is_none_or(|own| own == recipe)
    }

    /// The question it answers: decisions with the same key compete.
    pub fn question_key(&self) -> (&str, &str, Option<&str>, Question) {
        (&self.stage, &self.record, self.other.as_deref(), self.verdict.question())
    }

    /// Whether it answers the same question otherwise than another one, in a recipe that both are for.
    pub(crate) fn is_contrary_to(&self, other: &Decision) -> bool {
        let overlap = match (&self.recipe, &other.recipe) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        let differs = (self.verdict, &self.text, &self.seen) != (other.verdict, &other.text, &other.seen);
        overlap && differs && self.question_key() == other.question_key()
    }

    /// Whether it decides the same as another one, for the same recipes and the same text.
    pub fn same_content(&self, other: &Decision) -> bool {
        self.question_key() == other.question_key()
            && (self.verdict, &self.text, &self.recipe, &self.seen)
                == (other.verdict, &other.text, &other.recipe, &other.seen)
    }
}

/// As in ledgers, next to the rule's outcome.
impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "decision:{} by {}: {} ({})", self.id, self.by, self.verdict, self.why)
    }
}

/// The withdrawal of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// The hash of what is withdrawn, by whom and why.
    pub id: Digest,
    /// The decision.
    pub undoes: Digest,
    /// Who took it back.
    pub by: String,
    /// Why.
    pub why: String,
    /// When, RFC 3339.
    pub at: String,
}

impl Undo {
    /// The id computed from the fields.
    pub fn compute_id(&self) -> Digest {
        let undoes = self.undoes.to_string();
        let parts = [undoes.as_str(), &self.by, &self.why];
        Digest::of_parts("riddlemill undo v1", parts.map(str::as_bytes))
    }
}

/// The hash of a text that somebody decides on.
pub fn seen_text(text: &str) -> Digest {
    Digest::of_parts("riddlemill seen v1", [text.as_bytes()])
}

/// The hash of two texts that somebody compares; the order of the two does not matter.
pub fn seen_pair(one: (&str, &str), other: (&str, &str)) -> Digest {
    let [a, b] = if one.0 <= other.0 { [one, other] } else { [other, one] };
    Digest::of_parts("riddlemill seen pair v1", [a.0, a.1, b.0, b.1].map(str::as_bytes))
}

#[cfg(test)]
mod margins;

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn test_decision(record: &str, verdict: Verdict) -> Decision {
        Decision {
            id: seen_text(""),
            recipe: None,
            stage: "filter".into(),
            record: record.into(),
            other: None,
            verdict,
            text: None,
            seen: seen_text("云会恐高吗"),
            by: "meta-1".into(),
            why: "it is one".into(),
            at: "2026-11-23T00:00:00Z".into(),
            source: "test".into(),
            base: None,
        }
        .with_id()
    }

    #[test]
    fn the_id_hangs_on_what_was_decided_and_not_on_when() {
        let first = test_decision("tieba:1", Verdict::Keep);
        let later =
            Decision { at: "2026-12-01T00:00:00Z".into(), source: "other".into(), ..first.clone() }.with_id();
        assert_eq!(first.id, later.id);
        let changes: [fn(&mut Decision); 7] = [
            |d| d.recipe = Some("flub".into()),
            |d| d.stage = "clean".into(),
            |d| d.verdict = Verdict::Drop,
            |d| d.text = Some(String::new()),
            |d| d.by = "meta-2".into(),
            |d| d.why = "it is none".into(),
            |d| d.base = Some(seen_text("x")),
        ];
        for change in changes {
            let mut other = first.clone();
            change(&mut other);
            assert_ne!(other.with_id().id, first.id);
        }
    }

    #[test]
    fn a_pair_is_the_same_either_way_round() {
        let pair = |a: &str, b: &str| {
            let one = test_decision(a, Verdict::Two);
            Decision { other: Some(b.into()), seen: seen_pair((a, "x"), (b, "x")), ..one }.with_id()
        };
        assert_eq!(pair("tieba:1", "tieba:2"), pair("tieba:2", "tieba:1"));
        assert_eq!(seen_pair(("a", "x"), ("b", "y")), seen_pair(("b", "y"), ("a", "x")));
        assert_ne!(seen_pair(("a", "x"), ("b", "y")), seen_pair(("a", "y"), ("b", "x")));
    }
}
