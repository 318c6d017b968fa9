//! What a join on disk found.

use rustc_hash::FxHashMap;

use super::distinct::Copies;
use super::sorter::{Merge, Runs};
use super::{DiskError, Working};
use crate::join::metric::shared_letters;
use crate::join::{Effort, Pair, Score};
use crate::text::sameness::SharedWeights;

/// A row that is similar to another, their score, and what the two share, if the metric provides it.
type SimilarRow = (u32, Score, Option<SharedWeights>);

/// Two rows, and what they share, if the metric provides it.
pub(super) type PairAndShared = (Pair, Option<SharedWeights>);

/// Every pair of a join on disk. Its files are deleted with it.
pub struct DiskJoined {
    copies: Copies,
    runs: Runs,
    /// What it took.
    pub effort: Effort,
    /// The last field, so that the files are deleted when nothing reads them any more.
    _folder: Working,
}

impl DiskJoined {
    pub(super) fn new(folder: Working, copies: Copies, runs: Runs, effort: Effort) -> Self {
        Self { copies, runs, effort, _folder: folder }
    }

    /// Rows with equal texts, ascending, by the first of them; rows without a copy are not included.
    pub fn copies(&self) -> &FxHashMap<u32, Vec<u32>> {
        &self.copies
    }

    /// Every pair of distinct texts, each text as its first row, ascending by (a, b).
    ///
    /// # Errors
    /// [`DiskError`] where a working file cannot be read.
    pub fn distinct_pairs(&self) -> Result<impl Iterator<Item = Result<Pair, DiskError>> + '_, DiskError> {
        let mut matches = Matches::open(&self.runs)?;
        Ok(std::iter::from_fn(move || {
            loop {
                match matches.next() {
                    Ok(Some((a, (b, score, _)))) if a < b => return Some(Ok(Pair { a, b, score })),
                    Ok(Some(_)) => {}
                    Ok(None) => return None,
                    Err(error) => return Some(Err(error)),
                }
            }
        }))
    }

    /// Every pair of rows, ascending by (a, b). Memory is for rows that have copies only.
    ///
    /// # Errors
    /// [`DiskError`] where a working file cannot be read.
    pub fn pairs(&self) -> Result<impl Iterator<Item = Result<Pair, DiskError>> + '_, DiskError> {
        Ok(self.pairs_with_shared()?.map(|found| found.map(|(pair, _)| pair)))
    }

    /// The same, with what the two share.
    pub(super) fn pairs_with_shared(
        &self,
    ) -> Result<impl Iterator<Item = Result<PairAndShared, DiskError>> + '_, DiskError> {
        let mut copied: Vec<(u32, u32)> =
            self.copies.iter().flat_map(|(&first, rows)| rows.iter().map(move |&row| (row, first))).collect();
        copied.sort_unstable();
        let mut copied = copied.into_iter().peekable();
        let mut matches = Matches::open(&self.runs)?;
        // What texts with copies are like, for the copies to come.
        let mut kept: FxHashMap<u32, Vec<SimilarRow>> = FxHashMap::default();
        let next_of_row = move || -> Result<Option<Vec<PairAndShared>>, DiskError> {
            let (row, first) = match (copied.peek().copied(), matches.next_row()) {
                (None, None) => return Ok(None),
                (Some((row, first)), next) if next.is_none_or(|next| row <= next) => {
                    copied.next();
                    (row, first)
                }
                (_, next) => {
                    let row = next.unwrap_or_default();
                    (row, row)
                }
            };
            let mut like = Vec::new();
            while matches.next_row() == Some(row) {
                like.extend(matches.next()?.map(|(_, like)| like));
            }
            let like = match self.copies.contains_key(&first) {
                true => &*kept.entry(first).or_insert(like),
                false => &like,
            };
            let mut pairs = Vec::new();
            for &(partner, score, shared) in like.iter().chain(&[(first, Score::ONE, None)]) {
                let alone = [partner];
                let rows = self.copies.get(&partner).map_or(&alone[..], Vec::as_slice);
                let later = &rows[rows.partition_point(|&other| other <= row)..];
                pairs.extend(later.iter().map(|&b| (Pair { a: row, b, score }, shared)));
            }
            pairs.sort_unstable_by_key(|(pair, _)| pair.b);
            Ok(Some(pairs))
        };
        Ok(flatten_pairs(next_of_row))
    }
}

/// The pairs of row after row; after an error, nothing.
fn flatten_pairs(
    mut next: impl FnMut() -> Result<Option<Vec<PairAndShared>>, DiskError>,
) -> impl Iterator<Item = Result<PairAndShared, DiskError>> {
    let (mut row, mut done) = (Vec::new().into_iter(), false);
    std::iter::from_fn(move || {
        loop {
            if let Some(pair) = row.next() {
                return Some(Ok(pair));
            }
            if done {
                return None;
            }
            match next() {
                Ok(Some(pairs)) => row = pairs.into_iter(),
                Ok(None) => done = true,
                Err(error) => {
                    done = true;
                    return Some(Err(error));
                }
            }
        }
    })
}

/// Matches in order, with a look at the next one's row.
struct Matches {
    merge: Merge,
    ahead: Option<Vec<u32>>,
}

impl Matches {
    fn open(runs: &Runs) -> Result<Self, DiskError> {
        let mut matches = Self { merge: runs.merge_runs()?, ahead: Some(Vec::new()) };
        matches.read_next()?;
        Ok(matches)
    }

    fn read_next(&mut self) -> Result<(), DiskError> {
        let mut list = self.ahead.take().unwrap_or_default();
        if self.merge.next(&mut list)? {
            self.ahead = Some(list);
        }
        Ok(())
    }

    /// The row of the next match.
    fn next_row(&self) -> Option<u32> {
        self.ahead.as_ref().and_then(|list| list.first().copied())
    }

    /// A row, and what it is like.
    fn next(&mut self) -> Result<Option<(u32, SimilarRow)>, DiskError> {
        let found = match self.ahead.as_deref() {
            Some(&[row, partner, num, den, ref pairs @ ..]) => {
                let score = Score { num, den };
                let letters = shared_letters(score);
                let shared = pairs.first().map(|&pairs| SharedWeights { letters, pairs });
                Some((row, (partner, score, shared)))
            }
            _ => return Ok(None),
        };
        self.read_next()?;
        Ok(found)
    }
}
