//! Which joins find the pairs of the default similarity: one for each predicate.

use std::borrow::Cow;

use super::{Metric, Query, Threshold};
use crate::text::sameness::{Predicate, PredicateSpec, all_predicates, view};

/// A join that finds every pair of one predicate.
#[derive(Clone, Copy, Debug)]
pub struct DefaultJoin {
    pub predicate: Predicate,
    /// Its approximate share in the time of all joins, measured at three and ten million posts; only affects the progress bar.
    pub(super) share: f64,
    /// What is joined.
    pub query: Query,
    /// Of a folded text, what is joined.
    pub view: fn(&str) -> Cow<'_, str>,
    /// Characters that the folded texts of a pair have at least.
    pub least_chars: usize,
}

/// The joins of the default similarity. Texts of one key, and openings, are found without.
pub fn default_joins() -> Vec<DefaultJoin> {
    type ViewFunction = fn(&str) -> Cow<'_, str>;
    let join = |spec: &PredicateSpec| {
        let (share, metric, view): (f64, Metric, ViewFunction) = match spec.predicate {
            Predicate::Identical | Predicate::Opening => return None,
            Predicate::Near => (0.31, Metric::Indel, |text| text.into()),
            Predicate::Sound => (0.29, Metric::Indel, |text| view::sound_of(text).into()),
            Predicate::Reworded => (0.40, Metric::REWORDED, |text| text.into()),
        };
        let threshold = Threshold::new(spec.borderline.num as u32, spec.borderline.den as u32);
        let query = Query { metric, threshold: threshold.unwrap_or(Threshold::ONE) };
        Some(DefaultJoin { predicate: spec.predicate, share, query, view, least_chars: spec.least_chars })
    };
    all_predicates().iter().filter_map(join).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::sameness::{Need, Ratio};

    #[test]
    fn the_joins_are_those_of_the_predicates() {
        let needs = |which| all_predicates().iter().find(|p| p.predicate == which).unwrap().needs;
        assert!(needs(Predicate::Near).contains(&Need::CommonSubsequence(Ratio::new(17, 40))));
        assert!(needs(Predicate::Sound).contains(&Need::CommonSubsequence(Ratio::new(9, 20))));
        assert!(needs(Predicate::Reworded).contains(&Need::SharedOfLighter(Ratio::new(3, 5))));
        assert!(needs(Predicate::Opening).contains(&Need::PrefixOfOther));
        assert_eq!(all_predicates().len(), 5, "a new predicate needs its join here");
    }
}
