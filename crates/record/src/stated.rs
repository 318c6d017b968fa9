//! Evidence whose parts are read again from a ledger: written and read in one place, so that nobody else takes its words apart.

use std::fmt;

use super::State;

/// What a stage would have done with a record, where a person's decision or a publication decided instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overruled<'e> {
    /// Whether votes would have decided, and no rule.
    pub by_votes: bool,
    /// The code of the state it would have left the stage in.
    pub state: &'e str,
    /// The record that it would have become part of.
    pub into: Option<&'e str>,
    /// The code of the reason.
    pub reason: Option<&'e str>,
    /// The evidence of the rule; empty if it has none.
    pub evidence: &'e str,
}

impl<'e> Overruled<'e> {
    /// By a rule, into this state.
    pub fn by_rule(state: State) -> Overruled<'e> {
        Overruled { by_votes: false, state: state.code(), into: None, reason: None, evidence: "" }
    }

    /// What is read from evidence, and what stands before it there; `None` if it says nothing of the kind.
    ///
    /// ```
    /// # use riddlemill_record::Overruled;
    /// let (decision, overruled) = Overruled::read("decision:ab; by rule dropped (too_short): 2 of 4").unwrap();
    /// assert_eq!((decision, overruled.state, overruled.reason), ("decision:ab; ", "dropped", Some("too_short")));
    /// assert_eq!(overruled.to_string(), "by rule dropped (too_short): 2 of 4");
    /// ```
    pub fn read(evidence: &'e str) -> Option<(&'e str, Overruled<'e>)> {
        let (before, by_votes, rest) = match evidence.split_once("by rule ") {
            Some((before, rest)) => (before, false, rest),
            None => evidence.split_once("by votes ").map(|(before, rest)| (before, true, rest))?,
        };
        let (head, evidence) = rest.split_once(": ").unwrap_or((rest, ""));
        let (head, reason) = match head.strip_suffix(')').and_then(|head| head.rsplit_once(" (")) {
            Some((head, reason)) => (head, Some(reason)),
            None => (head, None),
        };
        let (state, into) = match head.split_once(" into ") {
            Some((state, into)) => (state, Some(into)),
            None => (head, None),
        };
        Some((before, Overruled { by_votes, state, into, reason, evidence }))
    }
}

impl fmt::Display for Overruled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "by {} {}", if self.by_votes { "votes" } else { "rule" }, self.state)?;
        self.into.map_or(Ok(()), |into| write!(f, " into {into}"))?;
        self.reason.map_or(Ok(()), |reason| write!(f, " ({reason})"))?;
        if self.evidence.is_empty() { Ok(()) } else { write!(f, ": {}", self.evidence) }
    }
}

/// Before the text of a later copy of an id, where it differs from that of the first.
const OTHER_TEXT: &str = "other text: ";

/// The evidence of a record whose id was read before with another text.
pub fn other_text(text: &str) -> String {
    format!("{OTHER_TEXT}{text}")
}

/// The text in such evidence; `None` for any other.
pub fn read_other_text(evidence: &str) -> Option<&str> {
    evidence.strip_prefix(OTHER_TEXT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let by_rule = Overruled::by_rule(State::Dropped);
        let all = [
            Overruled::by_rule(State::Kept),
            Overruled {
                reason: Some("too_short"),
                evidence: "2 of at least 4 characters",
                ..by_rule.clone()
            },
            Overruled {
                reason: Some("not_a_question"), evidence: "embedded: 他为什么来", ..by_rule.clone()
            },
            Overruled {
                into: Some("tieba:1:2"),
                reason: Some("same_id"),
                ..Overruled::by_rule(State::Merged)
            },
            Overruled { into: Some("text:ab"), ..Overruled::by_rule(State::Joined) },
            Overruled { by_votes: true, reason: Some("rejected"), ..by_rule },
        ];
        for one in all {
            let evidence = format!("decision:ab by meta: keep (so); {one}");
            assert_eq!(Overruled::read(&evidence), Some(("decision:ab by meta: keep (so); ", one)));
        }
        assert_eq!(Overruled::read("same text"), None);
        assert_eq!(read_other_text(&other_text("云 会")), Some("云 会"));
        assert_eq!(read_other_text("same text"), None);
    }
}
