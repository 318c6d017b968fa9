//! Dedup within bounded memory: the join works on disk, its pairs wait there, and what is decided of them is decided
//! as they are read. Memory is limited to what the [`Spill`] allows, plus some tens of bytes for each text.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use positioned_io::ReadAt;

use super::pair_file::{OFTEN, PairWriter, PairsOnDisk, until_failed};
use super::ranks::{keepers_of, likeness_by_rank};
use super::similar_pairs::{
    SimilarPair, decimal_threshold, join_query, similar_by_comparison, similar_by_metric, with_groups,
};
use super::whole::{Gone, merged_rows};
use crate::join::{DiskError, Pair, Spill, Watch, Working, alike_on_disk_each, disk_join_watched};
use crate::offline::settings;
use crate::text::language::split_tag;
use crate::text::normalise::{Fold, fold};

/// What [`similar_pairs`](super::similar_pairs()) finds, for more texts or pairs than fit in memory. The texts are read
/// once, in order, each with its language.
///
/// # Errors
/// [`DiskError`] if a working file cannot be written or read, or if `watch` asked to stop.
pub fn similar_pairs_on_disk<T: AsRef<str> + Sync>(
    texts: impl IntoIterator<Item = T>,
    settings: &settings::Dedup,
    spill: Spill<'_>,
    watch: &dyn Watch,
) -> Result<(Vec<Vec<u32>>, PairsOnDisk), DiskError> {
    let mut pairs = PairWriter::create(spill)?;
    let Some(query) = join_query(settings) else {
        let (groups, _) =
            alike_on_disk_each(texts, spill, watch, |pair| pairs.push(&similar_by_comparison(&pair)))?;
        return Ok((groups, pairs.finish()?));
    };
    let mut blank: Vec<bool> = Vec::with_capacity(spill.texts);
    let folded = texts.into_iter().map(|text| {
        let (_, text) = split_tag(text.as_ref());
        let text = if settings.normalize { fold(text, Fold::KEY) } else { text.into() };
        blank.push(text.is_empty());
        text
    });
    let joined = disk_join_watched(folded, &query, spill, watch)?;
    // As in memory: a row equal to an earlier one joins that row's group, and groups are ordered by their
    // first rows.
    let mut copy = blank;
    joined.copies().values().for_each(|rows| rows[1..].iter().for_each(|row| copy[*row as usize] = true));
    let firsts: Vec<u32> = (0u32..).zip(&copy).filter(|(_, copy)| !**copy).map(|(row, _)| row).collect();
    let group = |row: u32| firsts.partition_point(|first| *first < row) as u32;
    let same = decimal_threshold(settings.threshold);
    let pair = |pair: Pair| {
        similar_by_metric(&Pair { a: group(pair.a), b: group(pair.b), ..pair }, query.metric, same)
    };
    for (found, n) in joined.distinct_pairs()?.zip(0usize..) {
        if n.is_multiple_of(OFTEN) && watch.is_stopped() {
            return Err(DiskError::Stopped);
        }
        pairs.push(&pair(found?))?;
    }
    let groups =
        firsts.iter().map(|first| joined.copies().get(first).cloned().unwrap_or_else(|| vec![*first]));
    Ok((groups.collect(), pairs.finish()?))
}

/// For each row that is merged, as `merged_rows` decides it, by pairs on disk.
///
/// # Errors
/// [`DiskError`] where a working file cannot be written or read, or a stop was requested.
pub fn gone_on_disk(
    groups: &[Vec<u32>],
    heads: &[usize],
    ranks: &[u32],
    pairs: &PairsOnDisk,
    watch: &dyn Watch,
) -> Result<Vec<Gone>, DiskError> {
    let of = |pair: &SimilarPair| likeness_by_rank(pair, heads, ranks);
    let sorted = pairs.sorted_by(watch, |pair| {
        let like = of(pair);
        pair.same.then_some((like.from, like.into))
    })?;
    let mut failed = None;
    let sorted = sorted.zip(0usize..).map_while(|(found, n)| {
        if n.is_multiple_of(OFTEN) && watch.is_stopped() {
            failed = Some(DiskError::Stopped);
            return None;
        }
        found.map_err(|error| failed = Some(error)).ok()
    });
    let keepers = keepers_of(heads.len(), sorted.map(|(_, pair)| of(&pair)));
    // An error ends the pairs early, and the keepers are then incomplete.
    failed.map_or(Ok(()), Err)?;
    Ok(merged_rows(groups, heads, &keepers, ranks.len()))
}

/// Every pair of rows that are the same, ascending by row number, with its score, as
/// [`row_pairs`](super::row_pairs) gives them.
///
/// # Errors
/// [`DiskError`] where a working file cannot be written or read, or a stop was requested.
pub fn same_rows_on_disk<'a>(
    groups: &'a [Vec<u32>],
    pairs: &'a PairsOnDisk,
    watch: &dyn Watch,
) -> Result<impl Iterator<Item = Result<(u32, u32, f64), DiskError>> + 'a, DiskError> {
    let partners = Partners::write_partners(groups.len(), pairs, watch)?;
    let (mut rows, mut of_row) = (with_groups(groups).into_iter(), Vec::new().into_iter());
    Ok(until_failed(move || {
        loop {
            if let Some(pair) = of_row.next() {
                return Ok(Some(pair));
            }
            let Some((a, group)) = rows.next() else { return Ok(None) };
            let mut found: Vec<(u32, u32, f64)> = Vec::new();
            for (other, score) in partners.of_group(group)?.into_iter().chain([(group, 1.0)]) {
                let rows = &groups[other as usize];
                let later = &rows[rows.partition_point(|b| *b <= a)..];
                found.extend(later.iter().map(|&b| (a, b, score)));
            }
            found.sort_unstable_by_key(|(_, b, _)| *b);
            of_row = found.into_iter();
        }
    }))
}

/// The groups that each group is the same as, one group's behind another's in a file.
struct Partners {
    path: PathBuf,
    file: File,
    /// By group: how many rows are before its own; and how many there are.
    starts: Vec<u64>,
    /// Last, so that the file is removed after its readers are closed.
    _folder: Working,
}

/// A partner's number and score.
const OF_PARTNER: usize = 4 + 8;

impl Partners {
    fn write_partners(groups: usize, pairs: &PairsOnDisk, watch: &dyn Watch) -> Result<Self, DiskError> {
        let folder = Working::new(pairs.folder(), ".partners-")?;
        let path = folder.path().join("partners");
        let file = File::options().create_new(true).read(true).write(true).open(&path);
        let mut out = BufWriter::with_capacity(1 << 20, file.map_err(DiskError::io_error("create", &path))?);
        let mut starts: Vec<u64> = Vec::with_capacity(groups + 1);
        let both = |pair: &SimilarPair| {
            let both = if pair.same { &[(pair.a, pair.b), (pair.b, pair.a)][..] } else { &[] };
            both.to_vec()
        };
        for (n, found) in pairs.sorted_by(watch, both)?.enumerate() {
            if n.is_multiple_of(OFTEN) && watch.is_stopped() {
                return Err(DiskError::Stopped);
            }
            let ((group, partner), pair) = found?;
            starts.resize((group as usize + 1).max(starts.len()), n as u64);
            let put = out.write_all(&partner.to_le_bytes());
            let put = put.and_then(|()| out.write_all(&pair.score.to_le_bytes()));
            put.map_err(DiskError::io_error("write", &path))?;
        }
        let file = out.into_inner().map_err(|e| DiskError::io_error("write", &path)(e.into_error()))?;
        let length = file.metadata().map_err(DiskError::io_error("read", &path))?.len();
        starts.resize(groups + 1, length / OF_PARTNER as u64);
        Ok(Partners { path, file, starts, _folder: folder })
    }

    fn of_group(&self, group: u32) -> Result<Vec<(u32, f64)>, DiskError> {
        let (start, end) = (self.starts[group as usize], self.starts[group as usize + 1]);
        let mut bytes = vec![0; (end - start) as usize * OF_PARTNER];
        let place = start * OF_PARTNER as u64;
        self.file.read_exact_at(place, &mut bytes).map_err(DiskError::io_error("read", &self.path))?;
        let partner = |bytes: &[u8; OF_PARTNER]| {
            let (number, score) = bytes.split_first_chunk::<4>()?;
            Some((u32::from_le_bytes(*number), f64::from_le_bytes(score.try_into().ok()?)))
        };
        Ok(bytes.as_chunks().0.iter().filter_map(partner).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::join::{Stopped, Unwatched};
    use crate::offline::dedup::{Found, Keeper, row_pairs, similar_pairs};
    use crate::offline::settings::DedupMetric;
    use crate::text::language::tag_language;
    use riddlemill_record::Language;

    fn found() -> impl Strategy<Value = Found> {
        let pair = (any::<bool>(), 0usize..4, prop::option::of(0usize..2), 0u32..=8);
        let pairs = prop::collection::btree_map((0u32..20, 0u32..20), pair, 0..80);
        let groups = prop::collection::vec(1usize..4, 20);
        (pairs, groups, Just((0u32..60).collect::<Vec<u32>>()).prop_shuffle(), any::<u64>()).prop_map(
            |(pairs, sizes, mut ranks, seed)| {
                let rows = sizes.iter().sum::<usize>();
                ranks.retain(|rank| (*rank as usize) < rows);
                // Rows of a group are not neighbours.
                let mut groups: Vec<Vec<u32>> = vec![Vec::new(); sizes.len()];
                let mut free: Vec<usize> =
                    sizes.iter().enumerate().flat_map(|(group, size)| vec![group; *size]).collect();
                free.sort_by_key(|group| (*group as u64 + 1).wrapping_mul(seed | 1).rotate_left(17) % 7);
                free.iter().zip(0u32..).for_each(|(group, row)| groups[*group].push(row));
                let names = ["near", "sound", "reworded", "opening"];
                let pairs = pairs.into_iter().filter(|((a, b), _)| a < b);
                let pair = |((a, b), (same, predicate, veto, score)): (_, (_, usize, Option<usize>, u32))| {
                    let veto = veto.map(|veto| ["series", "negation"][veto]);
                    let score = f64::from(score) / 8.0;
                    SimilarPair { a, b, score, same, predicate: names[predicate], veto }
                };
                Found::from_join(groups, pairs.map(pair).collect(), ranks)
            },
        )
    }

    fn filed(pairs: &[SimilarPair], folder: &Path) -> PairsOnDisk {
        // Three pairs a run.
        let mut writer = PairWriter::within_limit(folder, 20).expect("room on disk");
        pairs.iter().for_each(|pair| writer.push(pair).expect("room on disk"));
        writer.finish().expect("room on disk")
    }

    fn all<T>(found: impl Iterator<Item = Result<T, DiskError>>) -> Vec<T> {
        found.collect::<Result<_, _>>().expect("what was written")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn the_disk_decides_as_memory_does(found in found()) {
            let folder = tempfile::tempdir().expect("a folder");
            let pairs = filed(&found.similar_pairs, folder.path());
            let printed = |pairs: &[SimilarPair]| format!("{pairs:?}");
            prop_assert_eq!(pairs.len(), found.similar_pairs.len());
            prop_assert_eq!(printed(&all(pairs.read_pairs().expect("a file"))), printed(&found.similar_pairs));
            let gone = gone_on_disk(&found.groups, &found.heads, &found.ranks, &pairs, &Unwatched);
            let printed = |gone: Vec<Gone>| {
                let keeper = |keeper: Keeper| (keeper.into, keeper.score, keeper.predicate);
                gone.into_iter().map(|gone| gone.map(|(into, why)| (into, why.map(keeper)))).collect::<Vec<_>>()
            };
            prop_assert_eq!(printed(gone.expect("room on disk")), printed(found.merged_rows()));
            let rows = same_rows_on_disk(&found.groups, &pairs, &Unwatched).expect("room on disk");
            let in_memory = row_pairs(&found.groups, &found.similar_pairs);
            let in_memory = in_memory.filter(|(.., like)| like.is_none_or(|like| like.same));
            let in_memory = in_memory.map(|(a, b, like)| (a, b, like.map_or(1.0, |like| like.score)));
            prop_assert_eq!(all(rows), in_memory.collect::<Vec<_>>());
            drop(pairs);
            prop_assert_eq!(folder.path().read_dir().expect("a folder").count(), 0, "nothing is left");
        }
    }

    #[test]
    fn who_stops_waits_for_no_sort() {
        let folder = tempfile::tempdir().expect("a folder");
        let pair = SimilarPair { a: 0, b: 1, score: 0.9, same: true, predicate: "near", veto: None };
        let pairs = filed(&[pair], folder.path());
        let gone = gone_on_disk(&[vec![0], vec![1]], &[0, 1], &[0, 1], &pairs, &Stopped);
        assert!(matches!(gone, Err(DiskError::Stopped)));
    }

    #[test]
    fn memory_and_disk_find_the_same_by_any_measure() {
        let frames =
            ["冰箱里的灯关门后还亮吗，我钻进去看过", "云会恐高吗", "", "我家的鱼学会了游泳", "云会恐高嗎？"];
        let texts: Vec<String> = (0..60)
            .map(|n| {
                format!("{}{}", frames[n % frames.len()], ["", "了", "，于是我把水倒了", "吗"][n / 7 % 4])
            })
            .collect();
        let english = (0..40).map(|n| {
            let subject = ["cats", "dogs", "the early bird", "penguins"][n % 4];
            format!("why do {subject} hate water{}", ["", " so much", ", I ask my friend"][n / 4 % 3])
        });
        let language = |n: usize| [Language::Zh, Language::En, Language::Und][n % 3];
        let chinese =
            texts.iter().enumerate().map(|(n, text)| tag_language(text, language(n / 5)).into_owned());
        let texts: Vec<String> =
            chinese.chain(english.map(|text| tag_language(&text, Language::En).into_owned())).collect();
        let rows: Vec<&str> = texts.iter().map(String::as_str).collect();
        let folder = tempfile::tempdir().expect("a folder");
        let spill = Spill { folder: folder.path(), memory: 1 << 16, texts: texts.len() };
        for &metric in DedupMetric::ALL {
            for normalize in [true, false] {
                let settings = settings::Dedup { metric, normalize, ..Default::default() };
                let memory = similar_pairs(&rows, &settings, &Unwatched);
                let disk = similar_pairs_on_disk(&texts, &settings, spill, &Unwatched);
                let (groups, pairs) = disk.expect("room on disk");
                let disk = (groups, pairs.into_memory().expect("what was written"));
                assert_eq!(format!("{disk:?}"), format!("{memory:?}"), "{metric} {normalize}");
            }
        }
    }
}
