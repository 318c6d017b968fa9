//! Keys in blocks of bytes: what a shuffle that counts its rows carries in place of one line per key.
//!
//! A block holds keys of one lane, and of each row that has one what all of its keys have in common. A post has over a hundred
//! keys, so that a byte less of each is a tenth less to bring together. All numbers are little-endian:
//!
//! | | bytes |
//! |---|---|
//! | how many members, how many keys | 4, 4 |
//! | a member: kind, row, size, signature, how many keys | 1, 8, 4, 32, 4 |
//! | a key, in the order of their members: the lowest 47 bits of its hash with [`Role::Larger`] as the lowest bit, skip | 6, 2 |

use std::collections::BTreeMap;

use super::measure::{KeyKind, Measure};
use crate::join::{Role, RowKey, RowSketch, Signature, can_meet};

const HEADER: usize = 8;
const MEMBER: usize = 49;
const KEY: usize = 8;

/// The bits of a hash that blocks have room for. Rows whose keys differ beyond them are compared once more than they need be.
const HASH: u64 = (1 << 47) - 1;

/// So many pairs are sorted, and those that came twice left out, before more are looked for.
const PAIRS: usize = 1 << 22;

/// Bytes that are not a block of keys, or one of another measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// Their length is wrong, or a key has no member.
    #[error("{0} bytes are not a block of keys")]
    Damaged(usize),
    /// The measure has no such kind of key.
    #[error(
        "keys of kind {0}, which the measure does not have; verify with the settings that they were cut with"
    )]
    Kind(u8),
}

/// Keys with too many rows for one task: by kind and hash, into how many shards they are split. Each shard has all of the
/// smaller rows and its own of the larger ones.
pub type Heavy = BTreeMap<(u8, u64), u32>;

/// The keys of some rows, by lane: all rows of one key meet in one lane, or in those of its shards.
#[derive(Debug)]
pub struct KeyBlocks<'a> {
    lanes: Vec<Lane>,
    heavy: &'a Heavy,
}

#[derive(Clone, Debug, Default)]
struct Lane {
    members: Vec<u8>,
    keys: Vec<u8>,
    /// The member that keys were put for last, and how many.
    last: Option<((u64, u8), u32)>,
}

impl Lane {
    /// Writes how many keys the last member has.
    fn close_member(&mut self) {
        if let Some((_, keys)) = self.last.take() {
            self.members.extend(keys.to_le_bytes());
        }
    }
}

impl<'a> KeyBlocks<'a> {
    /// No keys yet, in this many lanes.
    pub fn new(lanes: u32, heavy: &'a Heavy) -> KeyBlocks<'a> {
        KeyBlocks { lanes: vec![Lane::default(); lanes.max(1) as usize], heavy }
    }

    /// Takes a key of a row.
    pub(super) fn insert(&mut self, row: u64, kind: KeyKind, key: RowKey) {
        let shards =
            self.heavy.get(&(kind.code(), key.hash & HASH)).copied().filter(|_| kind != KeyKind::Identical);
        match (shards, key.role) {
            (None, _) => self.add_to_lane(key.hash, row, kind, key),
            (Some(shards), Role::Larger) => {
                self.add_to_lane(shard_of(key.hash, row % u64::from(shards.max(1))), row, kind, key)
            }
            (Some(shards), Role::Smaller) => {
                (0..u64::from(shards.max(1)))
                    .for_each(|n| self.add_to_lane(shard_of(key.hash, n), row, kind, key));
            }
        }
    }

    fn add_to_lane(&mut self, place: u64, row: u64, kind: KeyKind, key: RowKey) {
        // By the lowest bits: shares of keys are selected by the highest.
        let at = ((place & 0xFFFF_FFFF) * self.lanes.len() as u64) >> 32;
        let lane = &mut self.lanes[at as usize];
        let member = (row, kind.code());
        if lane.last.is_none_or(|(last, _)| last != member) {
            lane.close_member();
            lane.members.push(kind.code());
            lane.members.extend(row.to_le_bytes());
            lane.members.extend(key.sketch.size.to_le_bytes());
            // All bits set mean that there is no signature.
            let words = key.sketch.signature.map_or([u64::MAX; 4], Signature::words);
            words.iter().for_each(|word| lane.members.extend(word.to_le_bytes()));
        }
        let keys = lane.last.map_or(0, |(_, keys)| keys);
        lane.last = Some((member, keys + 1));
        let hash = (key.hash & HASH) << 1 | u64::from(key.role == Role::Larger);
        lane.keys.extend(&hash.to_le_bytes()[..6]);
        // It is the least that is unshared: a lower figure lets more rows be compared, and loses none.
        lane.keys.extend(u16::try_from(key.sketch.skip).unwrap_or(u16::MAX).to_le_bytes());
    }

    /// The lanes that hold keys, each with its block.
    pub fn finish(self) -> impl Iterator<Item = (u32, Vec<u8>)> {
        let block = |mut lane: Lane| {
            lane.close_member();
            let counts = [lane.members.len() / MEMBER, lane.keys.len() / KEY];
            let mut block = Vec::with_capacity(HEADER + lane.members.len() + lane.keys.len());
            counts.iter().for_each(|count| block.extend((*count as u32).to_le_bytes()));
            block.extend(lane.members);
            block.extend(lane.keys);
            block
        };
        (0u32..)
            .zip(self.lanes)
            .filter(|(_, lane)| !lane.keys.is_empty())
            .map(move |(n, lane)| (n, block(lane)))
    }
}

/// The destination of a shard of a key.
fn shard_of(hash: u64, n: u64) -> u64 {
    hash.wrapping_add((n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0x9FB2_1C65_1E98_DF25) >> 16
}

/// A row as its keys show it.
struct BlockMember {
    row: u64,
    kind: KeyKind,
    size: u32,
    signature: Option<Signature>,
}

/// A key of a member: small, because a lane has tens of millions of them to sort.
struct KeyEntry {
    /// From the highest bit: hash, kind, and whether it is looked up among smaller rows.
    key: u64,
    member: u32,
    skip: u16,
}

impl KeyEntry {
    /// `hash` is as a block has it.
    fn new(hash: u64, kind: u8, skip: u16, member: u32) -> KeyEntry {
        KeyEntry { key: (hash >> 1) << 17 | u64::from(kind) << 1 | hash & 1, member, skip }
    }

    /// What the rows of a group have in common: hash and kind.
    fn group_key(&self) -> u64 {
        self.key >> 1
    }

    fn hash(&self) -> u64 {
        self.key >> 17
    }

    fn kind_code(&self) -> u8 {
        (self.key >> 1) as u8
    }

    fn is_larger(&self) -> bool {
        self.key & 1 == 1
    }
}

/// The pairs of rows of one lane that may be similar, the lower row first, in order, each once.
///
/// # Errors
/// [`BlockError`].
pub fn pairs_of_blocks(measure: &Measure, blocks: &[&[u8]]) -> Result<Vec<(u64, u64)>, BlockError> {
    let (mut members, mut entries) = (Vec::new(), Vec::new());
    for block in blocks {
        read_block(measure, block, &mut members, &mut entries).ok_or(BlockError::Damaged(block.len()))??;
    }
    entries.sort_unstable_by_key(|entry| entry.key);
    let (mut pairs, mut bound) = (Vec::new(), PAIRS);
    for group in entries.chunk_by(|a, b| a.group_key() == b.group_key()) {
        find_pairs(measure, group, &members, &mut pairs);
        if pairs.len() >= bound {
            remove_repeats(&mut pairs);
            bound = (2 * pairs.len()).max(PAIRS);
        }
    }
    remove_repeats(&mut pairs);
    Ok(pairs)
}

/// How many rows are looked up under each key of a lane, for keys with more than a limit: by kind and hash.
///
/// # Errors
/// [`BlockError`].
pub fn heavy_of_blocks(
    measure: &Measure,
    blocks: &[&[u8]],
    most: u64,
) -> Result<Vec<(u8, u64, u64)>, BlockError> {
    let (mut members, mut entries) = (Vec::new(), Vec::new());
    for block in blocks {
        read_block(measure, block, &mut members, &mut entries).ok_or(BlockError::Damaged(block.len()))??;
    }
    entries.sort_unstable_by_key(KeyEntry::group_key);
    let groups = entries.chunk_by(|a, b| a.group_key() == b.group_key());
    let counted = groups.map(|group| (group[0].kind_code(), group[0].hash(), group.len() as u64));
    Ok(counted.filter(|(.., count)| *count > most).collect())
}

fn remove_repeats(pairs: &mut Vec<(u64, u64)>) {
    pairs.sort_unstable();
    pairs.dedup();
}

fn find_pairs(measure: &Measure, group: &[KeyEntry], members: &[BlockMember], pairs: &mut Vec<(u64, u64)>) {
    let member = |entry: &KeyEntry| &members[entry.member as usize];
    let Some(kind) = group.first().map(|entry| member(entry).kind) else { return };
    let mut pair = |a: u64, b: u64| {
        if a != b {
            pairs.push((a.min(b), a.max(b)));
        }
    };
    if kind == KeyKind::Identical {
        for (n, a) in group.iter().enumerate() {
            group[..n].iter().for_each(|b| pair(member(a).row, member(b).row));
        }
        return;
    }
    let (smaller, larger) = group.split_at(group.partition_point(|entry| !entry.is_larger()));
    let sketch = |entry: &KeyEntry| {
        let BlockMember { size, signature, .. } = *member(entry);
        RowSketch { size, skip: entry.skip.into(), signature }
    };
    if smaller.is_empty() || larger.is_empty() {
        return;
    }
    let held: Vec<(u64, RowSketch)> =
        smaller.iter().map(|entry| (member(entry).row, sketch(entry))).collect();
    let query = measure.query_of_kind(kind);
    for entry in larger {
        let (row, own) = (member(entry).row, sketch(entry));
        for (other, held) in &held {
            if query.is_none_or(|query| can_meet(query, own, *held)) {
                pair(row, *other);
            }
        }
    }
}

/// Reads a block; `None` if it is not one.
fn read_block(
    measure: &Measure,
    block: &[u8],
    members: &mut Vec<BlockMember>,
    entries: &mut Vec<KeyEntry>,
) -> Option<Result<(), BlockError>> {
    let (header, rest) = block.split_at_checked(HEADER)?;
    let (counts, _) = header.as_chunks::<4>();
    let (own, keys) = (u32::from_le_bytes(counts[0]) as usize, u32::from_le_bytes(counts[1]) as usize);
    let (of_members, of_keys) = rest.split_at_checked(own.checked_mul(MEMBER)?)?;
    if of_keys.len() != keys.checked_mul(KEY)? {
        return None;
    }
    let (mut of_keys, mut left) = (of_keys.as_chunks::<KEY>().0.iter(), keys);
    members.reserve(own);
    entries.reserve(keys);
    for member in of_members.as_chunks::<MEMBER>().0 {
        let Some(kind) = measure.kind_of_code(member[0]) else {
            return Some(Err(BlockError::Kind(member[0])));
        };
        let words: Vec<u64> =
            member[13..45].as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let words: [u64; 4] = words.try_into().ok()?;
        let count = u32::from_le_bytes(*member.last_chunk()?) as usize;
        // The members of a damaged block may claim more keys than there are.
        left = left.checked_sub(count)?;
        let number = members.len() as u32;
        entries.extend(of_keys.by_ref().take(count).map(|key| {
            let [a, b, c, d, e, f, g, h] = *key;
            let hash = u64::from_le_bytes([a, b, c, d, e, f, 0, 0]);
            KeyEntry::new(hash, kind.code(), u16::from_le_bytes([g, h]), number)
        }));
        members.push(BlockMember {
            row: u64::from_le_bytes(*member[1..].first_chunk()?),
            kind,
            size: u32::from_le_bytes(*member[9..].first_chunk()?),
            signature: (words != [u64::MAX; 4]).then(|| Signature::of_words(words)),
        });
    }
    (left == 0).then_some(Ok(()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::{Keyer, PartStats, Share};
    use super::*;
    use crate::join::Unwatched;
    use crate::offline::dedup::similar_pairs;
    use crate::offline::settings::{self, DedupMetric};
    use crate::text::language::tag_language;
    use riddlemill_record::Language;

    /// The candidate pairs, of texts without copies.
    fn met(
        texts: &[&str],
        settings: &settings::Dedup,
        lanes: u32,
        heavy: &Heavy,
        shares: u32,
    ) -> BTreeSet<(u64, u64)> {
        let measure = Measure::new(settings);
        let mut stats = PartStats::new(&measure);
        texts.iter().for_each(|text| stats.add(&measure, text));
        let mut read = PartStats::new(&measure);
        read.add_bytes(&stats.to_bytes()).unwrap();
        assert_eq!(read, stats);
        let keyer = Keyer::new(measure.clone(), &read);
        let mut pairs = BTreeSet::new();
        for share in 1..=shares {
            let share: Share = format!("{share}/{shares}").parse().unwrap();
            let mut by_lane: BTreeMap<u32, Vec<Vec<u8>>> = BTreeMap::new();
            for (n, texts) in texts.chunks(3).enumerate() {
                let mut blocks = KeyBlocks::new(lanes, heavy);
                for (row, text) in (n as u64 * 3..).zip(texts) {
                    keyer.fill_blocks(row, text, share, &mut blocks).unwrap();
                }
                blocks.finish().for_each(|(lane, block)| by_lane.entry(lane).or_default().push(block));
            }
            for blocks in by_lane.values() {
                let blocks: Vec<&[u8]> = blocks.iter().map(Vec::as_slice).collect();
                pairs.extend(pairs_of_blocks(&measure, &blocks).unwrap());
            }
        }
        pairs
    }

    fn texts_of_languages() -> impl Strategy<Value = String> {
        let text = prop_oneof!["[天地人你我鱼为什么]{0,12}", "( cats| dogs| bird| the| 3| not| boat){0,9}"];
        let language = prop::sample::select(vec![Language::Zh, Language::Zh, Language::En, Language::Und]);
        (text, language).prop_map(|(text, language)| tag_language(&text, language).into_owned())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn whatever_is_alike_meets(
            rows in prop::collection::btree_set(texts_of_languages(), 0..24),
            metric in prop::sample::select(vec![DedupMetric::Default, DedupMetric::Indel, DedupMetric::Jaccard]),
            lanes in 1u32..9,
            shares in 1u32..4,
        ) {
            let texts: Vec<&str> = rows.iter().map(String::as_str).collect();
            let settings = settings::Dedup { metric, threshold: 0.6, ..settings::Dedup::default() };
            let (groups, found) = similar_pairs(&texts, &settings, &Unwatched);
            let heads: Vec<&str> = groups.iter().map(|rows| texts[rows[0] as usize]).collect();
            let all = met(&heads, &settings, lanes, &Heavy::new(), shares);
            for pair in found {
                let (a, b) = (u64::from(pair.a.min(pair.b)), u64::from(pair.a.max(pair.b)));
                prop_assert!(all.contains(&(a, b)), "{} and {}", heads[a as usize], heads[b as usize]);
            }
            // Keys that are split bring the same rows together.
            let measure = Measure::new(&settings);
            let mut stats = PartStats::new(&measure);
            heads.iter().for_each(|text| stats.add(&measure, text));
            let keyer = Keyer::new(measure.clone(), &stats);
            let none = Heavy::new();
            let mut blocks = KeyBlocks::new(1, &none);
            for (row, text) in (0..).zip(&heads) {
                keyer.fill_blocks(row, text, Share::WHOLE, &mut blocks).unwrap();
            }
            let blocks: Vec<Vec<u8>> = blocks.finish().map(|(_, block)| block).collect();
            let blocks: Vec<&[u8]> = blocks.iter().map(Vec::as_slice).collect();
            let heavy = heavy_of_blocks(&measure, &blocks, 2).unwrap();
            let heavy: Heavy = heavy.into_iter().map(|(kind, hash, count)| ((kind, hash), count as u32)).collect();
            prop_assert_eq!(met(&heads, &settings, lanes, &heavy, 1), all);
        }
    }

    #[test]
    fn what_is_no_block_is_refused() {
        let measure =
            Measure::new(&settings::Dedup { metric: DedupMetric::Indel, ..settings::Dedup::default() });
        let refused = |block: &[u8]| pairs_of_blocks(&measure, &[block]);
        assert_eq!(refused(b""), Err(BlockError::Damaged(0)));
        assert_eq!(refused(&[0; 9]), Err(BlockError::Damaged(9)));
        assert_eq!(refused(&[0; 8]), Ok(Vec::new()));
        assert_eq!(
            refused(&[&[1u8, 0, 0, 0, 0, 0, 0, 0, 7][..], &[0; 48]].concat()),
            Err(BlockError::Kind(7))
        );
        assert_eq!(
            refused(&[&[0u8, 0, 0, 0, 1, 0, 0, 0][..], &[0; 8]].concat()),
            Err(BlockError::Damaged(16))
        );
        // A member with more keys than there are.
        assert_eq!(
            refused(&[&[1u8, 0, 0, 0, 0, 0, 0, 0][..], &[0; 45], &[1, 0, 0, 0]].concat()),
            Err(BlockError::Damaged(57))
        );
    }
}
