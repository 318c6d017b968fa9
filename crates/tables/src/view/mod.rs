//! Finds a page of a stage's records among millions.
//!
//! A stage's tables are parts of one row group each. For a stage being viewed, `index` keeps a few bytes per
//! record in memory: its outcome and reason, and the index of its text among input and output rows. A filter
//! or a page is then arithmetic over these, and only the parts that contain the page's fifty records are
//! decoded (`frames` caches the last ones, bounded), or only a few pages of them for few records (`rows`).
//! Caches are keyed by the hashes of the files, so that a rebuilt stage is a new one.
//!
//! This is here and not beside the pages because it passes over every record: what passes over millions of
//! rows belongs to a crate that is compiled for speed.

mod index;
mod query;
mod rows;
mod small_cache;
mod stage_view;

pub use query::{PairQuery, Query, Sort};
pub use small_cache::SmallCache;
pub use stage_view::{Cluster, Record, StageView};

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use index::Index;
use polars::prelude::{Column, DataFrame};
use query::Pairs;
use rayon::prelude::*;
use rustc_hash::{FxHashSet, FxHasher};
use small_cache::Frames;

use crate::{Error, StageReader, part_columns};

/// Most bytes of cached indexes.
const INDEXES: usize = 48 << 20;

/// Most bytes of cached names.
const NAMES: usize = 40 << 20;

/// Most bytes of cached pairs.
const PAIRS: usize = 16 << 20;

/// Most bytes of cached query results.
const ANSWERS: usize = 8 << 20;

/// Bounded caches of the stages being viewed.
#[derive(Default)]
pub struct Views {
    frames: Frames,
    indexes: SmallCache<Index>,
    names: SmallCache<Names>,
    pairs: SmallCache<Pairs>,
    answers: SmallCache<Vec<u32>>,
}

impl Views {
    /// Opens a stage, with the stages that it was made from.
    ///
    /// # Errors
    /// [`Error`] if a part is not a Parquet file, or lacks a column.
    pub fn open(&self, stage: StageReader, inputs: Vec<StageReader>) -> Result<StageView<'_>, Error> {
        let hash = |reader: &StageReader, table: &str| reader.table(table).hash;
        let key = [hash(&stage, "ledger"), hash(&stage, "rows")]
            .into_iter()
            .chain(inputs.iter().map(|input| hash(input, "rows")))
            .collect::<Vec<_>>()
            .join(" ");
        let build = || Index::build(&stage, &inputs, self.ledger_names(&stage)?);
        let index = self.indexes.get(&key, Index::estimate_bytes, INDEXES, build)?;
        Ok(StageView::new(self, stage, inputs, index, key))
    }

    /// The names in a stage's ledger.
    fn ledger_names(&self, stage: &StageReader) -> Result<Arc<Names>, Error> {
        self.names
            .get(&stage.table("ledger").hash, Names::estimate_bytes, NAMES, || Names::read_from_stage(stage))
    }

    /// The pairs that a stage compared, ordered by score.
    fn compared_pairs(&self, stage: &StageReader) -> Result<Arc<Pairs>, Error> {
        self.pairs.get(&stage.table("pairs").hash, query::Pairs::estimate_bytes, PAIRS, || {
            query::Pairs::read_from_stage(stage)
        })
    }

    /// The records that match a query in a stage; cached, because paging repeats the query.
    fn cached_answer(
        &self,
        stage: &str,
        query: &Query,
        find: impl FnOnce() -> Result<Vec<u32>, Error>,
    ) -> Result<Arc<Vec<u32>>, Error> {
        self.answers.get(&format!("{stage} {query:?}"), |found| found.len() * 4, ANSWERS, find)
    }
}

/// The hashes of a ledger's names. Collisions are resolved by reading the entry.
struct Names {
    /// Each record's id, in the ledger's order.
    ids: Vec<u64>,
    /// The indices of records that became or were merged into another one, with that one's id, ascending.
    into: Vec<(u32, u64)>,
}

impl Names {
    fn read_from_stage(stage: &StageReader) -> Result<Names, Error> {
        let parts = stage.table("ledger").parts.len();
        let read = |part| Names::new(&part_columns(stage, "ledger", part, &["id", "into"])?, stage);
        let read: Vec<Result<Names, Error>> = (0..parts).into_par_iter().map(read).collect();
        let rows = stage.table("ledger").rows as usize;
        let mut whole = Names { ids: Vec::with_capacity(rows), into: Vec::new() };
        for part in read {
            whole.append(part?);
        }
        Ok(whole)
    }

    /// The names of one part, with indices from 0.
    fn new(frame: &DataFrame, stage: &StageReader) -> Result<Names, Error> {
        let column = |name: &str| {
            let column = frame.column(name).and_then(Column::str);
            column.map_err(|e| Error::stale_file(&stage.folder().join("ledger"), e))
        };
        let ids = column("id")?.iter().map(|id| id.map_or(0, hash_id)).collect();
        let into =
            column("into")?.iter().zip(0..).filter_map(|(into, at)| Some((at, hash_id(into?)))).collect();
        Ok(Names { ids, into })
    }

    /// Appends the names of another part.
    fn append(&mut self, part: Names) {
        let from = self.ids.len() as u32;
        self.ids.extend(part.ids);
        self.into.extend(part.into.into_iter().map(|(at, into)| (from + at, into)));
    }

    /// The indices of these ids and of records that became or were merged into one of `into`, in the ledger's
    /// order.
    fn places_of_ids(&self, ids: &[&str], into: &[&str]) -> Vec<u32> {
        let hashes = |names: &[&str]| names.iter().map(|name| hash_id(name)).collect::<FxHashSet<u64>>();
        let (ids, into) = (hashes(ids), hashes(into));
        // Nearly always one id: a comparison per record, at the speed of memory.
        let mut places: Vec<u32> = match ids.iter().copied().collect::<Vec<_>>().as_slice() {
            [] => Vec::new(),
            [one] => (0..).zip(&self.ids).filter(|(_, id)| *id == one).map(|(at, _)| at).collect(),
            _ => (0..).zip(&self.ids).filter(|(_, id)| ids.contains(id)).map(|(at, _)| at).collect(),
        };
        places.extend(self.into.iter().filter(|(_, id)| into.contains(id)).map(|(at, _)| *at));
        places.sort_unstable();
        places.dedup();
        places
    }

    fn estimate_bytes(&self) -> usize {
        self.ids.len() * 8 + self.into.len() * 16
    }
}

/// Never 0, which means none.
fn hash_id(id: &str) -> u64 {
    let mut hasher = FxHasher::default();
    id.hash(&mut hasher);
    hasher.finish().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_hash_and_never_none() {
        assert_eq!(hash_id("tieba:1"), hash_id("tieba:1"));
        assert_ne!(hash_id("tieba:1"), hash_id("tieba:2"));
    }

    #[test]
    fn names_are_found_where_they_are_over_all_parts() {
        let part = |ids: &[&str], into: &[(u32, &str)]| Names {
            ids: ids.iter().map(|id| hash_id(id)).collect(),
            into: into.iter().map(|(at, id)| (*at, hash_id(id))).collect(),
        };
        let mut names = part(&["a", "b"], &[(1, "a")]);
        names.append(part(&["c", "d"], &[(0, "a"), (1, "c")]));
        assert_eq!(names.places_of_ids(&["c"], &[]), [2]);
        assert_eq!(names.places_of_ids(&["a"], &["a"]), [0, 1, 2]);
        assert_eq!(names.places_of_ids(&["b", "d"], &["c"]), [1, 3]);
        assert!(names.places_of_ids(&["x"], &["x"]).is_empty());
    }
}
