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

mod frames;
mod index;
mod names;
mod pairs;
mod query;
mod rows;
mod small_cache;
mod stage_view;

use std::sync::Arc;

pub use pairs::PairQuery;
pub use query::{Query, Sort};
pub use small_cache::SmallCache;
pub use stage_view::{Cluster, Record, StageView};

use crate::{Error, StageReader};
use frames::Frames;
use index::Index;
use names::Names;
use pairs::Pairs;

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
        let build = || Index::build(&stage, &inputs, self.names(&stage)?);
        let index = self.indexes.get(&key, Index::bytes, INDEXES, build)?;
        Ok(StageView::new(self, stage, inputs, index, key))
    }

    /// The names in a stage's ledger.
    fn names(&self, stage: &StageReader) -> Result<Arc<Names>, Error> {
        self.names.get(&stage.table("ledger").hash, Names::bytes, NAMES, || Names::read(stage))
    }

    /// The pairs that a stage compared, ordered by score.
    fn pairs(&self, stage: &StageReader) -> Result<Arc<Pairs>, Error> {
        self.pairs.get(&stage.table("pairs").hash, Pairs::bytes, PAIRS, || Pairs::read(stage))
    }

    /// The records that match a query in a stage; cached, because paging repeats the query.
    fn answer(
        &self,
        stage: &str,
        query: &Query,
        find: impl FnOnce() -> Result<Vec<u32>, Error>,
    ) -> Result<Arc<Vec<u32>>, Error> {
        self.answers.get(&format!("{stage} {query:?}"), |found| found.len() * 4, ANSWERS, find)
    }
}
