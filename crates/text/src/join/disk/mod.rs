//! The join on disk: memory for one block of the index, whatever the number of rows.
//!
//! It takes four passes, each from one set of files to the next, in a temporary folder that is deleted with the result:
//! `spread` sends rows with equal text to one part; `distinct` reads part by part, sets aside which rows
//! are copies, and counts the statistics; `records` spells each text and sorts by size; then block after
//! block of records is indexed, and the records after it stream past. The blocks are those of the join in
//! memory: one algorithm, two drivers.

mod alike;
mod blocks;
mod distinct;
mod joined;
mod sorter;
mod spread;

pub(crate) use alike::alike_on_disk_each;
pub use alike::{Spill, alike_on_disk};
pub use joined::DiskJoined;
pub use sorter::{LineSorter, SortedLines};
pub(crate) use sorter::{Merge, Reader, Sorter, Writer};

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::stats::Order;
use super::watch::WorkPart;
use super::{Metric, Query, Watch};

/// Why a join on disk ended.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    /// A file of the temporary folder.
    #[error("cannot {what} `{path}`: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// On which file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The observer asked to stop.
    #[error("stopped")]
    Stopped,
    /// Rows are numbered in 32 bits.
    #[error("more than {} rows in one join; split the input", u32::MAX)]
    TooMany,
}

impl DiskError {
    pub(crate) fn io_error(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> DiskError {
        move |source| DiskError::Io { what, path: path.into(), source }
    }

    /// Ends a join that was asked to stop.
    fn unless_stopped(part: WorkPart<'_>) -> Result<(), DiskError> {
        if part.is_stopped() { Err(DiskError::Stopped) } else { Ok(()) }
    }
}

/// How much is held at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct DiskLimits {
    /// Parts that rows are spread over; one is in memory at a time, per thread.
    parts: usize,
    /// Keys of one block, but for bags.
    block_keys: u64,
    /// Records that stream past together.
    chunk: usize,
    /// Words of 32 bits that are sorted in memory.
    sort: usize,
}

/// The bytes of a key of a block, with its share of the records and of the data that the index is built from.
const KEY_BYTES: usize = 40;

/// The additional bytes of a key of bags, in the index and in the data that it is built from. Estimated from the memory of a run: within
/// 4,096 MiB three million posts take 5.8 GB, of which some 0.9 GB are kept for the posts.
const MORE_BYTES_OF_BAGS: usize = 32;

/// The bytes of what is looked up at once in a block of bags, at most: about 700 for each of a million records.
const LOOKED_UP_BYTES: usize = 700 << 20;

impl DiskLimits {
    /// For about this many bytes, in addition to a few for each row.
    fn within_memory(memory: usize) -> DiskLimits {
        // An eighth for what is sorted, and at most a quarter for what is looked up.
        let block = memory - memory / 8 - LOOKED_UP_BYTES.min(memory / 4);
        let block_keys = (block / KEY_BYTES).max(1) as u64;
        DiskLimits { parts: 64, block_keys, chunk: 1 << 16, sort: (memory / 8 / 4).max(1024) }
    }

    /// Keys of one block of a join by this metric.
    fn block_keys(self, metric: Metric) -> u64 {
        let of_bags = KEY_BYTES + MORE_BYTES_OF_BAGS;
        let bytes = if metric.is_of_bags() { of_bags } else { KEY_BYTES };
        (self.block_keys * KEY_BYTES as u64 / bytes as u64).max(1)
    }
}

/// Finds every pair of rows at or over the threshold, with its working files in a new folder under
/// `folder`, which is deleted with the result. It takes about `memory` bytes, and some tens for each row; with
/// more memory the rows are read fewer times.
///
/// ```
/// use riddlemill_text::join::{Metric, Query, disk_join};
/// # let folder = tempfile::tempdir()?;
/// let rows = ["生鱼片是死鱼片", "云会恐高吗", "熟鱼片是死鱼片"];
/// let found = disk_join(rows, &Query { metric: Metric::Indel, threshold: "0.8".parse()? }, folder.path(), 1 << 20)?;
/// let pairs: Vec<(u32, u32)> = found.pairs()?.map(|pair| pair.map(|p| (p.a, p.b))).collect::<Result<_, _>>()?;
/// assert_eq!(pairs, [(0, 2)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`DiskError`] where a file cannot be written or read, or there are too many rows.
pub fn disk_join<T: AsRef<str>>(
    rows: impl IntoIterator<Item = T>,
    query: &Query,
    folder: &Path,
    memory: usize,
) -> Result<DiskJoined, DiskError> {
    join_within(rows, query, folder, DiskLimits::within_memory(memory), WorkPart::without_watch())
}

/// [`disk_join`] with an observer.
///
/// # Errors
/// As of [`disk_join`], and [`DiskError::Stopped`].
pub fn disk_join_watched<T: AsRef<str>>(
    rows: impl IntoIterator<Item = T>,
    query: &Query,
    spill: Spill<'_>,
    watch: &dyn Watch,
) -> Result<DiskJoined, DiskError> {
    join_within(rows, query, spill.folder, DiskLimits::within_memory(spill.memory), WorkPart::of_whole(watch))
}

/// The approximate shares of the passes in a join: estimates that only affect the progress bar.
const DISTINCT: f64 = 0.10;

const SPELL: f64 = 0.10;

const BLOCKS: f64 = 0.80;

pub(super) fn join_within<T: AsRef<str>>(
    rows: impl IntoIterator<Item = T>,
    query: &Query,
    folder: &Path,
    limits: DiskLimits,
    part: WorkPart<'_>,
) -> Result<DiskJoined, DiskError> {
    let folder = Working::new(folder, ".join-")?;
    let parts = spread::spread_rows(rows, folder.path(), limits.parts, part)?;
    let (distinct, copies, stats) = distinct::separate_copies(parts, query.metric, part.narrow_to(DISTINCT))?;
    let order = Order::new(&stats, query.threshold);
    drop(stats);
    let (records, count) =
        distinct::write_records(distinct, &order, folder.path(), limits.sort, part.narrow_to(SPELL))?;
    let (pairs, effort) =
        blocks::match_blocks(&records, count, &order, folder.path(), limits, part.narrow_to(BLOCKS))?;
    Ok(DiskJoined::new(folder, copies, pairs, effort))
}

/// A file in each folder, locked for as long as its process lives.
const LOCK: &str = "lock";

/// A new folder under another. It goes when this does; where its process was killed, with the next of its
/// kind under the same folder.
pub struct Working {
    folder: TempDir,
    _lock: File,
}

impl Working {
    /// Makes a folder whose name begins so, and removes those of processes that are no more.
    ///
    /// # Errors
    /// [`DiskError`] where the folder cannot be made.
    pub fn new(under: &Path, prefix: &str) -> Result<Self, DiskError> {
        sweep_leftovers(under, prefix);
        loop {
            let made =
                Self::try_new(under, prefix).map_err(DiskError::io_error("make a folder in", under))?;
            if let Some(made) = made {
                return Ok(made);
            }
        }
    }

    /// None where another process took the folder for a dead one's before it was locked.
    fn try_new(under: &Path, prefix: &str) -> io::Result<Option<Self>> {
        let folder = tempfile::Builder::new().prefix(prefix).tempdir_in(under)?;
        let path = folder.path().join(LOCK);
        let lock = match File::create(&path) {
            Err(_) if !folder.path().exists() => return Ok(None),
            created => created?,
        };
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => Ok(None),
            Ok(()) if !path.exists() => Ok(None),
            // A file system without locks: nobody can take it for a dead one's.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Some(Self { folder, _lock: lock })),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes what was left by processes that were killed. What cannot be removed is in nobody's way.
fn sweep_leftovers(under: &Path, prefix: &str) {
    let folders = under.read_dir().into_iter().flatten().flatten();
    for folder in folders.filter(|folder| folder.file_name().to_string_lossy().starts_with(prefix)) {
        let lock = File::open(folder.path().join(LOCK));
        if lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            let _ = std::fs::remove_dir_all(folder.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::join::{Pair, self_join};

    fn queries() -> impl Strategy<Value = Query> {
        let few = Metric::Reworded { most_rows: 3 };
        let metrics =
            vec![Metric::Levenshtein, Metric::Indel, Metric::Jaccard { n: 2 }, Metric::REWORDED, few];
        (prop::sample::select(metrics), 8u32..=20).prop_map(|(metric, p)| Query {
            metric,
            threshold: crate::join::Threshold::new(p, 20).expect("at most 20/20"),
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// The join in memory is compared with brute force; this one against that.
        #[test]
        fn both_drivers_find_the_same(
            rows in prop::collection::vec("[天地人你我鱼ab]{0,9}", 0..60),
            query in queries(),
        ) {
            let texts: Vec<&str> = rows.iter().map(String::as_str).collect();
            let expected: Vec<Pair> = self_join(&texts, &query).pairs().collect();
            let folder = tempfile::tempdir().expect("a folder");
            let limits = DiskLimits { parts: 3, block_keys: 40, chunk: 4, sort: 50 };
            let found = join_within(&rows, &query, folder.path(), limits, WorkPart::without_watch())
                .expect("room on disk");
            let pairs: Vec<Pair> =
                found.pairs().and_then(|pairs| pairs.collect()).expect("what was written");
            prop_assert_eq!(pairs, expected);
            drop(found);
            prop_assert_eq!(folder.path().read_dir().expect("a folder").count(), 0, "nothing is left");
        }
    }

    #[test]
    fn folders_of_the_dead_are_swept_and_no_others() {
        let under = tempfile::tempdir().expect("a folder");
        let (dead, other) = (under.path().join(".join-dead"), under.path().join(".joinery"));
        for folder in [&dead, &other] {
            std::fs::create_dir(folder).expect("a folder");
            std::fs::write(folder.join(LOCK), "").expect("room on disk");
            std::fs::write(folder.join("rows-0"), "left").expect("room on disk");
        }
        let alive = Working::new(under.path(), ".join-").expect("room on disk");
        let second = Working::new(under.path(), ".join-").expect("room on disk");
        assert!(!dead.exists() && other.exists() && alive.path().exists() && second.path().exists());
        let path = alive.path().to_owned();
        drop(alive);
        assert!(!path.exists());
    }
}
