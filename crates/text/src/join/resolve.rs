//! From pairs to keepers: which rows go into which.

use std::hash::Hash;

use rustc_hash::FxHashSet;

/// Two rows that are one, each by its rank: its place in the order in which rows would be kept, 0 before
/// all others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Likeness<T, R = u32> {
    /// The rank of the row that would be kept.
    pub into: R,
    /// The rank of the row that would go, always greater.
    pub from: R,
    /// How like they are; more is liker.
    pub score: f64,
    /// What else is known of the pair.
    pub with: T,
}

/// Decides, in the order of rank, where each row goes: into the kept row that it is most like, the first
/// of them by rank; or nowhere, and it is kept. So a chain of likenesses never carries a row into one that
/// it does not resemble.
///
/// `similar_pairs` come in the order of `from`; what is decided comes in the same order, each row that goes once.
/// Memory is for the rows that go.
///
/// ```
/// use riddlemill_text::join::{Likeness, resolve};
/// let like = |into, from, score| Likeness { into, from, score, with: () };
/// // 0 ~ 1 ~ 2, but not 0 ~ 2.
/// let gone: Vec<_> = resolve([like(0, 1, 0.9), like(1, 2, 0.95)]).map(|l| (l.from, l.into)).collect();
/// assert_eq!(gone, [(1, 0)]);
/// ```
pub fn resolve<T, R: Clone + Ord + Hash>(
    similar_pairs: impl IntoIterator<Item = Likeness<T, R>>,
) -> impl Iterator<Item = Likeness<T, R>> {
    let mut similar_pairs = similar_pairs.into_iter().peekable();
    let mut gone: FxHashSet<R> = FxHashSet::default();
    std::iter::from_fn(move || {
        loop {
            let mut best = similar_pairs.next()?;
            let from = best.from.clone();
            let mut found = !gone.contains(&best.into);
            while let Some(like) = similar_pairs.next_if(|like| like.from == from) {
                let better =
                    like.score.total_cmp(&best.score).then_with(|| best.into.cmp(&like.into)).is_gt();
                if !gone.contains(&like.into) && (better || !found) {
                    best = like;
                    found = true;
                }
            }
            if found {
                gone.insert(from);
                return Some(best);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gone(similar_pairs: &[(u32, u32, f64)]) -> Vec<(u32, u32)> {
        let similar_pairs =
            similar_pairs.iter().map(|&(into, from, score)| Likeness { into, from, score, with: () });
        resolve(similar_pairs).map(|like| (like.from, like.into)).collect()
    }

    #[test]
    fn the_likest_kept_row_takes_it() {
        assert_eq!(gone(&[(0, 2, 0.85), (1, 2, 0.95)]), [(2, 1)]);
        assert_eq!(gone(&[(1, 2, 0.9), (0, 2, 0.9)]), [(2, 0)], "of equals the first by rank");
    }

    #[test]
    fn a_row_that_went_takes_none() {
        assert_eq!(gone(&[(0, 1, 0.9), (1, 2, 0.99), (0, 2, 0.8)]), [(1, 0), (2, 0)]);
        assert_eq!(gone(&[(0, 1, 0.9), (1, 2, 0.99), (2, 3, 0.8)]), [(1, 0), (3, 2)]);
    }
}
