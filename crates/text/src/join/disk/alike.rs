//! The join of the default similarity on disk: its joins one after the other, and what they find compared in full.
//!
//! Each text is read once, and its reading is stored in a file. Equal readings are grouped by their hashes and
//! compared once. The joins find pairs of them, sorted on disk, and only the comparison decides, as in memory.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use positioned_io::ReadAt;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::sorter::{Merge, Runs, Sorter};
use super::{DiskError, DiskLimits, Working, join_within};
use crate::join::forecast::{FORECAST_FROM, Steps, draw_sample};
use crate::join::similarity_join::{BY_BEGINNING, Candidate, joined_text, sampled_steps};
use crate::join::watch::WorkPart;
use crate::join::{AlikePair, AlikePairs, Effort, Watch, default_joins, openings_of};
use crate::text::sameness::{Predicates, PreparedText, Reading, SharedWeights};

/// Where a join stores what is not in memory.
#[derive(Clone, Copy, Debug)]
pub struct Spill<'a> {
    /// The parent of a new folder, which is deleted when the join ends.
    pub folder: &'a Path,
    /// About how many bytes are in memory at once, in addition to some tens for each text.
    pub memory: usize,
    /// About how many texts there are; only affects the progress that is reported.
    pub texts: usize,
}

/// The approximate shares of the steps in the whole: estimates that only affect the progress bar.
const READ: f64 = 0.07;
const OPENINGS: f64 = 0.02;
const REST: f64 = 0.91;

/// The number of texts, readings or pairs that are processed at once.
const BATCH: usize = 1 << 13;

/// Finds what [`alike`](crate::join::find_alike_pairs) finds, with its working files on disk.
///
/// ```
/// use riddlemill_text::join::{Spill, Unwatched, alike_on_disk};
/// # let folder = tempfile::tempdir()?;
/// let texts = ["云会恐高吗？", "鱼会口渴吗", "雲會恐高嗎", "云会恐高吗，那它怎么办"];
/// let spill = Spill { folder: folder.path(), memory: 1 << 20, texts: texts.len() };
/// let found = alike_on_disk(texts, spill, &Unwatched)?;
/// assert_eq!(found.groups, [vec![0, 2], vec![1], vec![3]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`DiskError`] where a file cannot be written or read, there are too many texts, or the observer asked to stop.
pub fn alike_on_disk<T: AsRef<str> + Sync>(
    texts: impl IntoIterator<Item = T>,
    spill: Spill<'_>,
    watch: &dyn Watch,
) -> Result<AlikePairs, DiskError> {
    let mut pairs = Vec::new();
    let (groups, effort) = alike_on_disk_each(texts, spill, watch, |pair| {
        pairs.push(pair);
        Ok(())
    })?;
    Ok(AlikePairs { groups, pairs, effort })
}

/// [`alike_on_disk`] without pairs in memory: each is stored as it is found, in their order.
pub(crate) fn alike_on_disk_each<T: AsRef<str> + Sync>(
    texts: impl IntoIterator<Item = T>,
    spill: Spill<'_>,
    watch: &dyn Watch,
    emit_pair: impl FnMut(AlikePair) -> Result<(), DiskError>,
) -> Result<(Vec<Vec<u32>>, Effort), DiskError> {
    alike_within(texts, spill, DiskLimits::within_memory(spill.memory), WorkPart::of_whole(watch), emit_pair)
}

fn alike_within<T: AsRef<str> + Sync>(
    texts: impl IntoIterator<Item = T>,
    spill: Spill<'_>,
    limits: DiskLimits,
    part: WorkPart<'_>,
    emit_pair: impl FnMut(AlikePair) -> Result<(), DiskError>,
) -> Result<(Vec<Vec<u32>>, Effort), DiskError> {
    let folder = Working::new(spill.folder, ".alike-")?;
    let mut candidates = Sorter::new(folder.path(), "candidates", limits.sort);
    let (readings, groups) =
        Readings::store_texts(texts, spill.texts, folder.path(), limits, part.narrow_to(READ))?;
    let mut readings = readings.in_groups(groups, &mut candidates, part)?;
    readings.collect_openings(&mut candidates, part.narrow_to(OPENINGS))?;
    let mut effort = Effort::default();
    let steps = readings.forecast_steps(part)?;
    for (join, step) in default_joins().into_iter().zip(&steps.joins) {
        let mut failed = None;
        let views = readings.map_readings(&mut failed, |reading| joined_text(reading, &join).into_owned());
        let part_of_join = part.narrow_to(REST * step.share).as_join(step.probing);
        let joined = join_within(views, &join.query, folder.path(), limits, part_of_join)?;
        failed.map_or(Ok(()), Err)?;
        effort += joined.effort;
        for (pair, n) in joined.pairs_with_shared()?.zip(0..) {
            if n % BATCH == 0 {
                DiskError::unless_stopped(part)?;
            }
            let (pair, shared) = pair?;
            let of = Predicates::of_one(join.predicate);
            push_candidate(&mut candidates, Candidate::new(pair.a, pair.b, of, shared))?;
        }
    }
    // The index of the last join is no longer in memory.
    readings.load_into_memory(spill.memory)?;
    effort.compared =
        readings.compare_candidates(candidates.finish()?, part.narrow_to(REST * steps.compare), emit_pair)?;
    Ok((readings.groups, effort))
}

/// Readings in a file, one behind the other.
struct Readings {
    path: PathBuf,
    file: File,
    /// By text: where its reading begins; and where the last one ends.
    starts: Vec<u64>,
    /// Texts by group.
    groups: Vec<Vec<u32>>,
    /// The whole file, where there is memory for it.
    held: Option<Vec<u8>>,
}

/// Half of a hash that nobody finds a second text for.
type Hash = [u32; 4];

fn hash_bytes(bytes: &[u8]) -> Hash {
    let hash = *blake3::hash(bytes).as_bytes();
    let mut words = hash.as_chunks().0.iter().map(|&word| u32::from_be_bytes(word));
    std::array::from_fn(|_| words.next().unwrap_or_default())
}

impl Readings {
    /// Reads texts, and sorts those that are not blank by the hashes of key and reading.
    fn store_texts<T: AsRef<str> + Sync>(
        texts: impl IntoIterator<Item = T>,
        expected: usize,
        folder: &Path,
        limits: DiskLimits,
        part: WorkPart<'_>,
    ) -> Result<(Self, Runs), DiskError> {
        let path = folder.join("readings");
        let open = File::options().create_new(true).read(true).write(true).open(&path);
        let mut out = BufWriter::with_capacity(1 << 20, open.map_err(DiskError::io_error("create", &path))?);
        let (mut starts, mut sorter) = (vec![0], Sorter::new(folder, "groups", limits.sort));
        let (mut texts, items) = (texts.into_iter().fuse(), part.over_items(expected));
        loop {
            let batch: Vec<T> = texts.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                break;
            }
            if !items.begin_items(batch.len()) {
                return Err(DiskError::Stopped);
            }
            let read = |text: &T| {
                let (reading, mut bytes) = (Reading::new(text.as_ref()), Vec::new());
                reading.write(&mut bytes);
                let hashes =
                    (!reading.is_blank()).then(|| [hash_bytes(reading.key().as_bytes()), hash_bytes(&bytes)]);
                (bytes, hashes)
            };
            for (bytes, hashes) in batch.par_iter().map(read).collect::<Vec<_>>() {
                let n = u32::try_from(starts.len() - 1).ok().filter(|&n| n < u32::MAX);
                let n = n.ok_or(DiskError::TooMany)?;
                out.write_all(&bytes).map_err(DiskError::io_error("write", &path))?;
                starts.push(starts.last().copied().unwrap_or_default() + bytes.len() as u64);
                if let Some([[a, b, c, d], [e, f, g, h]]) = hashes {
                    sorter.push(&[a, b, c, d, e, f, g, h, n])?;
                }
            }
        }
        let file = out.into_inner().map_err(|e| DiskError::io_error("write", &path)(e.into_error()))?;
        Ok((Self { path, file, starts, groups: Vec::new(), held: None }, sorter.finish()?))
    }

    /// Makes groups of equal readings, and candidates of those that have the key in common alone.
    fn in_groups(
        mut self,
        sorted: Runs,
        same_key: &mut Sorter,
        part: WorkPart<'_>,
    ) -> Result<Self, DiskError> {
        let (mut merge, mut list) = (sorted.merge_runs()?, Vec::new());
        let mut groups: Vec<Vec<u32>> = Vec::new();
        let mut keys: Vec<(u32, u32)> = Vec::new();
        let (mut before, mut of_key) = (Vec::new(), 0);
        for n in 0.. {
            if n % BATCH == 0 {
                DiskError::unless_stopped(part)?;
            }
            if !merge.next(&mut list)? {
                break;
            }
            let row = list.pop().unwrap_or_default();
            match groups.last_mut().filter(|_| before == list) {
                Some(rows) => rows.push(row),
                None => {
                    if before.get(..4) != list.get(..4) {
                        of_key = groups.len();
                    }
                    keys.extend(groups[of_key..].iter().map(|rows| (rows[0], row)));
                    groups.push(vec![row]);
                    before.clone_from(&list);
                }
            }
        }
        sorted.remove_files()?;
        groups.par_sort_unstable_by_key(|rows| rows[0]);
        let group = |row: u32| groups.partition_point(|rows| rows[0] < row) as u32;
        for (a, b) in keys {
            push_candidate(same_key, Candidate::new(group(a), group(b), Predicates::ALL, None))?;
        }
        self.groups = groups;
        Ok(self)
    }

    /// The bytes from the reading of one text to the end of another's.
    fn read_bytes(&self, first: u32, last: u32) -> Result<Vec<u8>, DiskError> {
        let (start, end) = (self.starts[first as usize], self.starts[last as usize + 1]);
        let mut bytes = vec![0; (end - start) as usize];
        self.file.read_exact_at(start, &mut bytes).map_err(DiskError::io_error("read", &self.path))?;
        Ok(bytes)
    }

    fn parse_reading(&self, bytes: &[u8]) -> Result<Reading, DiskError> {
        let torn = || std::io::Error::from(std::io::ErrorKind::InvalidData);
        Reading::parse_bytes(bytes).ok_or_else(|| DiskError::io_error("read", &self.path)(torn()))
    }

    fn read_group(&self, group: u32) -> Result<Reading, DiskError> {
        let first = self.groups[group as usize][0];
        if let Some(held) = &self.held {
            let (start, end) = (self.starts[first as usize], self.starts[first as usize + 1]);
            return self.parse_reading(&held[start as usize..end as usize]);
        }
        self.parse_reading(&self.read_bytes(first, first)?)
    }

    /// Reads the file into memory if it takes at most half of what is allowed: each pair needs a reading from anywhere
    /// in it, and asking the system for each takes longer than comparing the two.
    fn load_into_memory(&mut self, memory: usize) -> Result<(), DiskError> {
        let length = self.starts.last().copied().unwrap_or_default() as usize;
        if length <= memory / 2 {
            let mut bytes = vec![0; length];
            self.file.read_exact_at(0, &mut bytes).map_err(DiskError::io_error("read", &self.path))?;
            self.held = Some(bytes);
        }
        Ok(())
    }

    /// Something of the reading of each group, in order, so many at once.
    fn map_batches<R: Send>(
        &self,
        of: impl Fn(&Reading) -> R + Sync,
    ) -> impl Iterator<Item = Result<Vec<R>, DiskError>> {
        self.groups.chunks(BATCH).map(move |groups| {
            let (first, last) = (groups[0][0], groups[groups.len() - 1][0]);
            let (bytes, start) = (self.read_bytes(first, last)?, self.starts[first as usize]);
            let reading = |rows: &Vec<u32>| {
                let row = rows[0] as usize;
                let own = (self.starts[row] - start) as usize..(self.starts[row + 1] - start) as usize;
                Ok(of(&self.parse_reading(&bytes[own])?))
            };
            groups.par_iter().map(reading).collect()
        })
    }

    /// The shares of the steps that are left, by a sample of the readings.
    fn forecast_steps(&self, part: WorkPart<'_>) -> Result<Steps, DiskError> {
        if self.groups.len() < FORECAST_FROM || part.is_stopped() {
            return Ok(Steps::without_forecast(&default_joins()));
        }
        let drawn = draw_sample(self.groups.len()).into_iter().map(|at| self.read_group(at as u32));
        let drawn: Vec<Reading> = drawn.collect::<Result<_, _>>()?;
        Ok(sampled_steps(&drawn.iter().collect::<Vec<_>>(), self.groups.len(), part))
    }

    /// The same one by one. An error ends them.
    fn map_readings<R: Send>(
        &self,
        failed: &mut Option<DiskError>,
        of: impl Fn(&Reading) -> R + Sync,
    ) -> impl Iterator<Item = R> {
        self.map_batches(of).map_while(|batch| batch.map_err(|error| *failed = Some(error)).ok()).flatten()
    }

    /// Pairs of which one may begin with the other: by the hash of its whole, which the comparison looks behind.
    fn collect_openings(&self, candidates: &mut Sorter, part: WorkPart<'_>) -> Result<(), DiskError> {
        let items = part.over_items(2 * self.groups.len());
        let mut last: FxHashMap<u64, u32> = FxHashMap::default();
        last.reserve(self.groups.len());
        let mut before: Vec<u32> = Vec::with_capacity(self.groups.len());
        for batch in self.map_batches(|reading| openings_of(reading.folded()).0) {
            let batch = batch?;
            if !items.begin_items(batch.len()) {
                return Err(DiskError::Stopped);
            }
            for whole in batch {
                let group = before.len() as u32;
                before.push(whole.and_then(|whole| last.insert(whole, group)).unwrap_or(u32::MAX));
            }
        }
        let found = |reading: &Reading| {
            let mut found = Vec::new();
            for hash in openings_of(reading.folded()).1 {
                let mut short = last.get(&hash).copied().unwrap_or(u32::MAX);
                while short != u32::MAX {
                    found.push(short);
                    short = before[short as usize];
                }
            }
            found
        };
        let mut long = 0;
        for batch in self.map_batches(found) {
            let batch = batch?;
            if !items.begin_items(batch.len()) {
                return Err(DiskError::Stopped);
            }
            for found in batch {
                for short in found.into_iter().filter(|short| *short != long) {
                    push_candidate(candidates, Candidate::new(short, long, BY_BEGINNING, None))?;
                }
                long += 1;
            }
        }
        Ok(())
    }

    /// Puts away those of these pairs that are at least borderline. How many were compared.
    fn compare_candidates(
        &self,
        candidates: Runs,
        part: WorkPart<'_>,
        mut emit_pair: impl FnMut(AlikePair) -> Result<(), DiskError>,
    ) -> Result<u64, DiskError> {
        let mut merge = candidates.merge_runs()?;
        let (mut compared_pairs, mut done, mut ahead) = (0, 0, None);
        let items = part.over_items(self.groups.len());
        loop {
            let batch = next_candidates(&mut merge, &mut ahead)?;
            let Some(&Candidate { a: through, .. }) = batch.last() else { break };
            // Candidates come in the order of their first groups: how far those are is how far this is.
            if !items.begin_items(through.saturating_sub(done) as usize) {
                return Err(DiskError::Stopped);
            }
            done = through;
            compared_pairs += batch.len() as u64;
            let found: Vec<Vec<AlikePair>> = batch
                .par_chunk_by(|x, y| x.a == y.a)
                .map(|partners| {
                    let first = PreparedText::from(&self.read_group(partners[0].a)?);
                    let mut found = Vec::new();
                    for pair in partners {
                        found.extend(
                            pair.compare_texts(&first, &PreparedText::from(&self.read_group(pair.b)?)),
                        );
                    }
                    Ok(found)
                })
                .collect::<Result<_, DiskError>>()?;
            found.into_iter().flatten().try_for_each(&mut emit_pair)?;
        }
        Ok(compared_pairs)
    }
}

fn push_candidate(
    candidates: &mut Sorter,
    Candidate { a, b, of, shared }: Candidate,
) -> Result<(), DiskError> {
    let of = of.to_bits().into();
    match shared {
        Some(SharedWeights { letters, pairs }) => candidates.push(&[a, b, of, letters, pairs]),
        None => candidates.push(&[a, b, of]),
    }
}

/// The next candidates in order, each pair once. The one that comes `ahead` of them waits for the next time.
fn next_candidates(merge: &mut Merge, ahead: &mut Option<Candidate>) -> Result<Vec<Candidate>, DiskError> {
    let (mut candidates, mut list) = (Vec::<Candidate>::with_capacity(BATCH), Vec::new());
    candidates.extend(ahead.take());
    while merge.next(&mut list)? {
        let &[a, b, of, ref shared @ ..] = list.as_slice() else { continue };
        let shared = match *shared {
            [letters, pairs] => Some(SharedWeights { letters, pairs }),
            _ => None,
        };
        let next = Candidate { a, b, of: Predicates::of_bits(of as u8), shared };
        if candidates.last_mut().is_some_and(|last| last.merge_if_same(&next)) {
            continue;
        }
        if candidates.len() == BATCH {
            *ahead = Some(next);
            break;
        }
        candidates.push(next);
    }
    Ok(candidates)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::join::{Stopped, find_alike_pairs};

    fn limits() -> DiskLimits {
        DiskLimits { parts: 3, block_keys: 40, chunk: 4, sort: 50 }
    }

    fn on_disk(texts: &[String]) -> AlikePairs {
        let folder = tempfile::tempdir().expect("a folder");
        let spill = Spill { folder: folder.path(), memory: 0, texts: texts.len() };
        let mut pairs = Vec::new();
        let put = |pair| {
            pairs.push(pair);
            Ok(())
        };
        let found = alike_within(texts, spill, limits(), WorkPart::without_watch(), put);
        let (groups, effort) = found.expect("room on disk");
        assert_eq!(folder.path().read_dir().expect("a folder").count(), 0, "nothing is left");
        AlikePairs { groups, pairs, effort }
    }

    fn described(found: &AlikePairs) -> Vec<String> {
        found.pairs.iter().map(|pair| format!("{pair:?}")).collect()
    }

    fn texts() -> impl Strategy<Value = Vec<String>> {
        let words = [
            "云",
            "会恐高",
            "吗？",
            "为什么",
            "鱼口渴",
            "，",
            "医生",
            "第二期",
            "第三期",
            "不",
            "雲",
            "🐟",
            "\n1、",
        ];
        let word = prop::sample::select(words.to_vec());
        prop::collection::vec(prop::collection::vec(word, 0..12).prop_map(|words| words.concat()), 2..16)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// The join in memory is compared with brute force; this one with that.
        #[test]
        fn both_drivers_find_the_same(mut texts in texts(), cut in 1usize..30) {
            let first = texts[0].clone();
            texts.push(first.chars().take(cut).collect());
            texts.push(format!("{first}然后呢，一二三四五六七八九十"));
            texts.push(format!("第二期{first}"));
            let rows: Vec<&str> = texts.iter().map(String::as_str).collect();
            let (memory, disk) = (find_alike_pairs(&rows), on_disk(&texts));
            prop_assert_eq!(&disk.groups, &memory.groups);
            prop_assert_eq!(described(&disk), described(&memory));
        }
    }

    #[test]
    fn who_stops_waits_no_longer() {
        let folder = tempfile::tempdir().expect("a folder");
        let spill = Spill { folder: folder.path(), memory: 1 << 20, texts: 1 };
        assert!(matches!(alike_on_disk(["云会恐高吗"], spill, &Stopped), Err(DiskError::Stopped)));
        assert_eq!(folder.path().read_dir().expect("a folder").count(), 0, "nothing is left");
    }
}
