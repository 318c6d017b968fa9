//! Ballots, votes, agreement.
