//! Pairs of neighbours that are in so many rows that no two rows are reworded copies by them.

use rustc_hash::FxHashSet;

use crate::text::sameness::Prepared;

/// The pairs of neighbours of a corpus that more rows hold than the default similarity allows: what remains of its
/// statistics for who compares two texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommonPairs(FxHashSet<[u32; 2]>);

/// Bytes that are no whole number of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} bytes are not common pairs; they come from the counts of all rows")]
pub struct NoCommonPairs(usize);

/// Two letters, four bytes each.
const PAIR: usize = 8;

impl CommonPairs {
    /// These pairs, as the numbers of their letters.
    pub(super) fn new(pairs: impl Iterator<Item = (u32, u32)>) -> Self {
        Self(pairs.map(|(first, second)| [first, second]).collect())
    }

    /// As bytes, for [`CommonPairs::from_bytes`].
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut pairs: Vec<[u32; 2]> = self.0.iter().copied().collect();
        pairs.sort_unstable();
        pairs.into_iter().flatten().flat_map(u32::to_le_bytes).collect()
    }

    /// Of bytes from [`CommonPairs::to_bytes`].
    ///
    /// # Errors
    /// [`NoCommonPairs`] where they are not.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NoCommonPairs> {
        let (pairs, rest) = bytes.as_chunks::<PAIR>();
        if !rest.is_empty() {
            return Err(NoCommonPairs(bytes.len()));
        }
        let pair = |&[a, b, c, d, e, f, g, h]: &[u8; PAIR]| {
            [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])]
        };
        Ok(Self(pairs.iter().map(pair).collect()))
    }

    /// Whether two texts may be reworded copies: equal ones, and those that share another pair.
    pub(super) fn allow(&self, a: &Prepared, b: &Prepared) -> bool {
        if self.0.is_empty() || a.folded() == b.folded() {
            return true;
        }
        let pairs = |text: &str| -> Vec<[u32; 2]> {
            text.chars().zip(text.chars().skip(1)).map(|(x, y)| [x.into(), y.into()]).collect()
        };
        let held: FxHashSet<[u32; 2]> =
            pairs(a.folded()).into_iter().filter(|pair| !self.0.contains(pair)).collect();
        pairs(b.folded()).iter().any(|pair| held.contains(pair))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Measure, PartStats};
    use super::*;
    use crate::join::{Spill, Unwatched};
    use crate::offline::dedup::{SimilarPair, similar_pairs, similar_pairs_on_disk};
    use crate::offline::settings;
    use crate::text::sameness::MOST_POSTS;

    /// Posts of one frame, each with two letters that no other has.
    fn framed(count: u32) -> Vec<String> {
        let own = |n: u32| char::from_u32('\u{5000}' as u32 + n).expect("a letter");
        let post = |n: u32| format!("{}为什么冰箱里的灯会亮{}", own(2 * n), own(2 * n + 1));
        (0..count).map(post).collect()
    }

    #[test]
    fn what_too_many_rows_hold_makes_no_pair_of_two() {
        let settings = settings::Dedup::default();
        let measure = Measure::new(&settings);
        for (count, is_pair) in [(MOST_POSTS, true), (MOST_POSTS + 1, false)] {
            let texts = framed(count);
            let rows: Vec<&str> = texts.iter().map(String::as_str).collect();
            let (groups, found) = similar_pairs(&rows, &settings, &Unwatched);
            assert_eq!(groups.len(), rows.len());
            // Where two letters sound alike, the posts are a pair of another predicate.
            let reworded =
                |found: &[SimilarPair]| found.iter().filter(|pair| pair.predicate == "reworded").count();
            assert_eq!(reworded(&found) > 0, is_pair, "{count} posts");

            let folder = tempfile::tempdir().expect("a folder");
            let spill = Spill { folder: folder.path(), memory: 1 << 20, texts: rows.len() };
            let on_disk =
                similar_pairs_on_disk(&texts, &settings, spill, &Unwatched).expect("room on disk").1;
            let on_disk = on_disk.into_memory().expect("what was written");
            assert_eq!(format!("{on_disk:?}"), format!("{found:?}"), "{count} posts");

            let mut stats = PartStats::new(&measure);
            rows.iter().for_each(|row| stats.add(&measure, row));
            let common = CommonPairs::from_bytes(&stats.common_pairs().to_bytes()).expect("its own bytes");
            let some: Vec<(u32, u32)> = (0..60).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
            let texts = some.iter().map(|&(a, b)| (rows[a as usize], rows[b as usize]));
            for (&(a, b), compared) in some.iter().zip(measure.compared(&common, texts)) {
                let found = found.iter().find(|pair| (pair.a, pair.b) == (a, b));
                let found = found.map(|pair| (pair.score, pair.same, pair.predicate, pair.veto));
                let compared = compared.map(|pair| (pair.score, pair.same, pair.predicate, pair.veto));
                assert_eq!(compared, found, "{count} posts");
            }
        }
    }

    #[test]
    fn half_a_pair_is_refused() {
        assert_eq!(CommonPairs::from_bytes(&[0; 9]), Err(NoCommonPairs(9)));
        assert_eq!(CommonPairs::from_bytes(&[]), Ok(CommonPairs::default()));
    }
}
