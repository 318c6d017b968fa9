//! Items and votes for the tests of this crate.

use super::ballot::{Ballot, Round};
use super::item::{Content, Item};
use super::value::{Value, Values};
use super::votes::Vote;

/// An item of a step that shows one text.
pub(super) fn test_item(ballot: &Ballot, id: &str, draft: &[(&str, &str)]) -> Item {
    let content = Content::from([("text".to_owned(), Value::Text(format!("what {id} says")))]);
    Item::new(ballot, id, content, draft.iter().copied().collect())
}

/// A person's vote, with its correct id.
pub(super) fn test_vote(ballot: &Ballot, item: &Item, round: Round, annotator: &str, values: Values) -> Vote {
    Vote {
        annotator: annotator.into(),
        role: ballot.roles_of_round(round)[0],
        round,
        values,
        at: "2026-01-01T00:00:00Z".into(),
        source: "test".into(),
        ..Vote::on_item(ballot, item)
    }
    .with_id()
}

/// One answer.
pub(super) fn one_answer(field: &str, code: &str) -> Values {
    [(field, code)].into_iter().collect()
}
