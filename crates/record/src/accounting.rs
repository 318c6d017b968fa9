//! Closed accounting: every record that entered a stage left it in exactly one state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Entry, State};

/// How many records left a stage in which state, and for which reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Records that entered.
    pub records_in: u64,
    /// Records that went on.
    pub records_out: u64,
    /// Records by state.
    pub states: BTreeMap<String, u64>,
    /// Records by `state/reason`.
    pub reasons: BTreeMap<String, u64>,
}

/// The accounting of a stage does not close.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unbalanced {
    /// A state is missing or counted twice.
    #[error("{records_in} records in, but {sum} accounted for ({states})")]
    In {
        /// Records that entered.
        records_in: u64,
        /// Sum over the states.
        sum: u64,
        /// The states, as `kept 3, dropped 1`.
        states: String,
    },
    /// Rows out and outcomes disagree.
    #[error("{records_out} records out, but the outcomes give {expected}")]
    Out {
        /// Rows written.
        records_out: u64,
        /// Rows that the outcomes account for.
        expected: u64,
    },
}

impl Counts {
    /// Adds one ledger entry.
    pub fn add(&mut self, entry: &Entry) {
        match self.states.get_mut(&entry.outcome) {
            Some(n) => *n += 1,
            None => drop(self.states.insert(entry.outcome.clone(), 1)),
        }
        if let Some(reason) = &entry.reason {
            *self.reasons.entry(format!("{}/{reason}", entry.outcome)).or_default() += 1;
        }
    }

    /// Adds `n` records of one state and reason.
    pub fn add_records(&mut self, state: State, reason: Option<&str>, n: u64) {
        self.records_in += n;
        *self.states.entry(state.code().into()).or_default() += n;
        if let Some(reason) = reason {
            *self.reasons.entry(format!("{}/{reason}", state.code())).or_default() += n;
        }
    }

    /// How many records left in a state.
    pub fn records_in_state(&self, state: State) -> u64 {
        self.states.get(state.code()).copied().unwrap_or(0)
    }

    /// Checks that the accounting closes: every record in has one state, and the rows out are those kept,
    /// those changed, the `children` of those expanded and the `joins` that several went into.
    ///
    /// # Errors
    /// [`Unbalanced`] names the side that is off.
    pub fn check_balance(&self, children: u64, joins: u64) -> Result<(), Unbalanced> {
        let sum: u64 = self.states.values().sum();
        if sum != self.records_in {
            let states = self.states.iter().map(|(state, n)| format!("{state} {n}"));
            return Err(Unbalanced::In {
                records_in: self.records_in,
                sum,
                states: states.collect::<Vec<_>>().join(", "),
            });
        }
        let expected =
            self.records_in_state(State::Kept) + self.records_in_state(State::Changed) + children + joins;
        if expected != self.records_out {
            return Err(Unbalanced::Out { records_out: self.records_out, expected });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(states: &[(State, u64)], records_in: u64, records_out: u64) -> Counts {
        let states = states.iter().map(|&(s, n)| (s.code().to_string(), n)).collect();
        Counts { records_in, records_out, states, reasons: BTreeMap::new() }
    }

    #[test]
    fn entries_and_their_sums_are_counted_alike() {
        let entry = |state: State, reason: Option<&str>| Entry {
            id: "tieba:1".into(),
            outcome: state.code().into(),
            reason: reason.map(str::to_owned),
            evidence: None,
            before: None,
            after: None,
            into: None,
            score: None,
        };
        let mut one_by_one = Counts { records_in: 6, ..Counts::default() };
        for (state, reason) in [
            (State::Kept, None),
            (State::Kept, None),
            (State::Dropped, Some("promise")),
            (State::Dropped, Some("promise")),
            (State::Dropped, Some("empty")),
            (State::Changed, Some("promise")),
        ] {
            one_by_one.add(&entry(state, reason));
        }
        let mut at_once = Counts::default();
        at_once.add_records(State::Kept, None, 2);
        at_once.add_records(State::Dropped, Some("promise"), 1);
        at_once.add_records(State::Dropped, Some("promise"), 1);
        at_once.add_records(State::Dropped, Some("empty"), 1);
        at_once.add_records(State::Changed, Some("promise"), 1);
        assert_eq!(one_by_one, at_once);
        let counted = |state: State| at_once.records_in_state(state);
        assert_eq!([State::Kept, State::Dropped, State::Changed, State::Held].map(counted), [2, 3, 1, 0]);
        let reasons: Vec<(&str, u64)> = at_once.reasons.iter().map(|(name, n)| (name.as_str(), *n)).collect();
        assert_eq!(reasons, [("changed/promise", 1), ("dropped/empty", 1), ("dropped/promise", 2)]);
        // Those kept and changed went on.
        at_once.records_out = 3;
        assert_eq!(at_once.check_balance(0, 0), Ok(()));
    }

    #[test]
    fn a_lost_record_is_seen() {
        let counts = counts(&[(State::Kept, 3), (State::Dropped, 1)], 5, 3);
        assert_eq!(
            counts.check_balance(0, 0).unwrap_err().to_string(),
            "5 records in, but 4 accounted for (dropped 1, kept 3)"
        );
    }

    #[test]
    fn a_row_from_nowhere_is_seen() {
        let counts = counts(&[(State::Kept, 3), (State::Expanded, 1)], 4, 6);
        assert_eq!(counts.check_balance(3, 0), Ok(()));
        assert_eq!(counts.check_balance(2, 0), Err(Unbalanced::Out { records_out: 6, expected: 5 }));
        assert_eq!(counts.check_balance(2, 1), Ok(()), "what several went into is a row, too");
    }
}
