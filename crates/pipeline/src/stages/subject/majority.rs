//! Which of several replies is kept where the most frequent value of a field decides.

use std::collections::BTreeMap;

use super::Drafted;

/// What the replies about one item decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Majority {
    /// The place of the first reply with the most frequent value.
    Kept(usize),
    /// Several values are the most frequent: what is found.
    Tied(String),
}

/// The majority of the values of a field; replies without a value do not count, and if none has one, the first is kept.
pub(super) fn majority(field: &str, replies: &[Drafted]) -> Majority {
    // By value how many gave it, and the first that did.
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (at, reply) in replies.iter().enumerate() {
        let Some(value) = reply.values.get(field) else { continue };
        counts.entry(value.to_string()).or_insert((0, at)).0 += 1;
    }
    let most = counts.values().map(|(count, _)| *count).max().unwrap_or(0);
    let first: Vec<(&String, usize)> =
        counts.iter().filter(|(_, (count, _))| *count == most).map(|(value, (_, at))| (value, *at)).collect();
    match first[..] {
        [] => Majority::Kept(0),
        [(_, at)] => Majority::Kept(at),
        _ => {
            let values: Vec<&str> = first.iter().map(|(value, _)| value.as_str()).collect();
            let of = replies.len();
            Majority::Tied(format!("{field}: {of} replies are tied, {most} each for {}", values.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stages::draft::Slot;

    fn replies(values: &[Option<&str>]) -> Vec<Drafted> {
        let reply = |value: &Option<&str>| Drafted {
            element: 0,
            slot: Slot::default(),
            values: value.iter().map(|value| ("kind", *value)).collect(),
            basis: String::new(),
        };
        values.iter().map(reply).collect()
    }

    #[test]
    fn the_first_reply_of_the_most_frequent_value_is_kept_and_a_tie_is_told() {
        let of = |values: &[Option<&str>]| majority("kind", &replies(values));
        assert_eq!(of(&[Some("a"), Some("b"), Some("b")]), Majority::Kept(1));
        assert_eq!(of(&[None, Some("a"), None]), Majority::Kept(1));
        assert_eq!(of(&[None, None]), Majority::Kept(0));
        let tied = of(&[Some("b"), Some("a"), None]);
        assert_eq!(tied, Majority::Tied("kind: 3 replies are tied, 1 each for a, b".into()));
    }

    proptest! {
        /// Whatever the order of the replies, the same value is kept, or the same tie is told.
        #[test]
        fn the_order_of_replies_decides_nothing(values in prop::collection::vec(0usize..3, 1..12), turn in 0usize..12) {
            let codes = ["a", "b", "c"];
            let mut given: Vec<Option<&str>> = values.iter().map(|at| Some(codes[*at])).collect();
            let value = |given: &[Option<&str>]| match majority("kind", &replies(given)) {
                Majority::Kept(at) => given[at].unwrap().to_owned(),
                Majority::Tied(what) => what,
            };
            let before = value(&given);
            let turn = turn % given.len();
            given.rotate_left(turn);
            prop_assert_eq!(before, value(&given));
        }
    }
}
