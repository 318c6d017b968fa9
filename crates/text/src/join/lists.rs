//! Looks up bags in a block of the index: not record by record, but list by list, with all records that look up a list.
//!
//! Records that share a bigram often share the phrase that it is from, so a list contains many records that
//! have this phrase in common and nothing else. Therefore each list has its own order of letters: letters that many of
//! its records contain come last, all others are ordered from rare to common. The order is the same for both records of
//! a pair, so the argument about prefixes in `keys` applies: the first letter that both contain is before the last one
//! that either may leave unshared. As the letters of the phrase come last, records that meet share something else, too.
//!
//! Two records that share several bigrams are compared only in the list of the first of these. Most of those
//! that meet in another list are recognised by the [`rarest_bigram`](super::rarest_bigram) pairs next to the list's own, for many records
//! at once.
//!
//! Records are accessed in random order, so most time is spent waiting for memory. Data that can decide without reading
//! the record is stored with its key, and data of records is fetched for many records at a time.

use std::ops::Range;

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::block::Block;
use super::index::{FETCHED, Listed, Posting, SHARDS, common_pair, hash_in, shard_of};
use super::keys::{Cutter, Key, hash_of_pair};
use super::letters::Letters;
use super::metric::{Linear, Metric};
use super::rarest_bigram::Rarer;
use super::records::Records;
use super::signature::{Classes, PairWorth, Worth};
use super::tokens::FIRST_PAIR;
use super::verify::Pattern;
use super::watch::{Items, Portions};
use super::{Effort, Match};

/// The number of records that are looked up at once: their keys are in memory, about 700 bytes each. A list is prepared
/// once for all of them, so the fewer are looked up at once, the more often the same work is repeated.
const AT_ONCE: usize = 1 << 20;

/// Reports of progress for all that is looked up at once, about.
const REPORTS: u64 = 1 << 12;

/// Records whose keys are cut in one go.
const CHUNK: usize = 1 << 12;

/// A list with at most this many pairs of records is compared pair by pair, which is faster than counting letters. Nearly
/// none in tests.
const FEW_PAIRS: usize = if cfg!(test) { 2 } else { 1 << 13 };

/// The weights by class of a record with more letters are not computed: it contains nearly every class, and they would be
/// computed again in each of its lists.
const LONG: usize = 1024;

/// The most times that a list is split.
const PARTED: u32 = 8;

/// A record that looks up a key, in twenty bytes: a record has thirty keys and more.
#[derive(Clone, Copy)]
struct Looking {
    record: u32,
    /// The low half of the key's hash, then in words of 16 bits what is left of it but for the shard, and the key's skip,
    /// 65535 where it is more.
    low: u32,
    middle: u16,
    skip: u16,
    rarer: Rarer,
}

impl Looking {
    fn new(hash: u64, record: u32, skip: u32, rarer: Rarer) -> Self {
        let skip = u16::try_from(skip).unwrap_or(u16::MAX);
        Self { record, low: hash as u32, middle: (hash >> 32) as u16, skip, rarer }
    }

    /// What is kept of the key's hash: which shard it is of is known. Keys of one hash cost a comparison, never a pair.
    fn kept_hash(self) -> u64 {
        u64::from(self.middle) << 32 | u64::from(self.low)
    }
}

/// What [`Looking`] keeps of a hash.
const KEPT: u64 = (1 << 48) - 1;

impl Block<'_> {
    /// Every pair of one of these records with an earlier one of the block, in order: of bags list by list, of others
    /// record by record.
    pub fn match_records(
        &self,
        probes: &Records,
        range: Range<u32>,
        items: Items<'_>,
    ) -> (Vec<Match>, Effort) {
        match self.order.weights.is_empty() {
            true => self.probe_records(probes, range, items),
            false => match_by_lists(self, probes, range, items),
        }
    }
}

fn match_by_lists(
    block: &Block<'_>,
    probes: &Records,
    range: Range<u32>,
    items: Items<'_>,
) -> (Vec<Match>, Effort) {
    let all: Vec<u32> = range.collect();
    let (mut matches, mut effort) = (Vec::new(), Effort::default());
    for some in all.chunks(AT_ONCE) {
        let mut of_shards: Vec<Vec<Vec<Looking>>> = (0..SHARDS).map(|_| Vec::new()).collect();
        let cut: Vec<(Vec<Vec<Looking>>, u64)> =
            some.par_chunks(CHUNK).map(|chunk| look_up(block, probes, chunk)).collect();
        for (parts, lookups) in cut {
            effort.probes += lookups;
            of_shards.iter_mut().zip(parts).for_each(|(shard, part)| shard.push(part));
        }
        // The work is in the lists, and one of a common pair may have more of it than all others.
        let sorted: Vec<(Vec<Looking>, u64)> = of_shards
            .into_par_iter()
            .enumerate()
            .map(|(shard, parts)| {
                let mut looking = if items.may_go_on() { parts.concat() } else { Vec::new() };
                looking.sort_unstable_by_key(|one| (one.kept_hash(), one.record));
                let work =
                    |of: &[Looking]| block.index.estimate_work(hash_in(shard, of[0].kept_hash()), of.len());
                let work: u64 = split_lists(&looking).map(work).sum();
                (looking, work)
            })
            .collect();
        let whole: u64 = sorted.iter().map(|(_, work)| work).sum();
        if whole == 0 {
            items.report_items(some.len());
        }
        let of_lists = items.weigh_by_work(some.len(), whole);
        let found: Vec<(Vec<Match>, Effort)> = sorted
            .into_par_iter()
            .enumerate()
            .map_init(
                || ListScratch::new(block, of_lists.in_portions(whole / REPORTS)),
                |scratch, (shard, (looking, _))| in_shard(block, probes, shard, &looking, scratch),
            )
            .collect();
        for (found, spent) in found {
            matches.extend(found);
            effort += spent;
        }
    }
    matches.par_sort_unstable_by_key(|found: &Match| (found.a, found.b));
    (matches, effort)
}

/// The records that look up one list, list by list.
fn split_lists(looking: &[Looking]) -> impl Iterator<Item = &[Looking]> {
    looking.chunk_by(|x, y| x.kept_hash() == y.kept_hash())
}

/// The keys of records that are in the index, by shard, and how many keys the records have in total.
fn look_up(block: &Block<'_>, probes: &Records, chunk: &[u32]) -> (Vec<Vec<Looking>>, u64) {
    let mut shards: Vec<Vec<Looking>> = vec![Vec::new(); SHARDS];
    let (mut cutter, mut keys, mut held) = (Cutter::default(), Vec::<Key>::new(), Vec::<bool>::new());
    let mut lookups = 0;
    for &record in chunk {
        let Some(budget) = block.order.plan.budget_downward(probes.size(record), block.sizes) else {
            continue;
        };
        keys.clear();
        cutter.cut_keys(probes.symbols(record), budget, block.order, &mut keys);
        lookups += keys.len() as u64;
        // All hashes first, so that no lookup waits for the memory of another.
        held.clear();
        held.extend(keys.iter().map(|key| block.index.may_hold(key.hash)));
        let shared = keys
            .iter()
            .zip(&held)
            .filter(|(key, held)| **held && !probes.is_lone(record, key.pair, block.order));
        for (&Key { hash, skip, pair }, _) in shared {
            let rarer = probes.rarer_neighbours(record, pair);
            shards[shard_of(hash)].push(Looking::new(hash, record, skip, rarer));
        }
    }
    (shards, lookups)
}

/// Buffers that are reused from list to list, and the work that is done of them.
struct ListScratch<'a, 'w> {
    done: Portions<'w>,
    list: Vec<Listed>,
    compared_by: Vec<u32>,
    candidates: Vec<(u32, u32)>,
    pattern: Pattern<'a>,
    worth: Worth,
    pair_worth: PairWorth,
    letters: Letters,
}

impl<'a, 'w> ListScratch<'a, 'w> {
    fn new(block: &Block<'a>, done: Portions<'w>) -> Self {
        let alphabet = block.order.alphabet_size();
        Self {
            done,
            list: Vec::new(),
            compared_by: Vec::new(),
            candidates: Vec::new(),
            pattern: block.empty_pattern(),
            worth: Worth::NOTHING,
            pair_worth: PairWorth::NOTHING,
            letters: Letters::new(alphabet),
        }
    }
}

fn in_shard(
    block: &Block<'_>,
    probes: &Records,
    shard: usize,
    looking: &[Looking],
    scratch: &mut ListScratch<'_, '_>,
) -> (Vec<Match>, Effort) {
    let (mut matches, mut effort) = (Vec::new(), Effort::default());
    for group in split_lists(looking) {
        let hash = hash_in(shard, group[0].kept_hash());
        if !scratch.done.begin_task(block.index.estimate_work(hash, group.len())) {
            break;
        }
        let last = group[group.len() - 1].record;
        // Taken out, because `in_parts` borrows the other buffers.
        let mut list = std::mem::take(&mut scratch.list);
        list.clear();
        // Partners are earlier records, so what comes after the last record of the group is not needed.
        list.extend(block.index.listed_bags(hash).take_while(|listed| listed.posting.record < last));
        scratch.candidates.clear();
        effort.met += in_parts(block, probes, group, &list, PARTED, scratch);
        scratch.list = list;
        // A record looks into each part of the list.
        scratch.candidates.sort_unstable();
        verify_list(block, probes, hash, scratch, &mut effort, &mut matches);
    }
    scratch.done.finish();
    (matches, effort)
}

/// Those of the candidates in the list of a key that are pairs; candidates that belong to another list are not compared.
fn verify_list(
    block: &Block<'_>,
    probes: &Records,
    hash: u64,
    scratch: &mut ListScratch<'_, '_>,
    effort: &mut Effort,
    matches: &mut Vec<Match>,
) {
    let ListScratch { done, candidates, pattern, pair_worth, .. } = scratch;
    // Meeting them was the other part of the list's work.
    let each = done.remaining_items() / candidates.len().div_ceil(FETCHED).max(1) as u64;
    let of_other_list = |pair: u32| hash_of_pair(pair) & KEPT != hash & KEPT;
    let (mut looks, mut set) = (None, false);
    for (n, &(a, b)) in candidates.iter().enumerate() {
        if n.is_multiple_of(FETCHED) {
            if !done.report_items(each) {
                return;
            }
            let some = candidates[n..].iter().take(FETCHED);
            probes.fetch_pairs(some.clone().map(|pair| pair.0));
            block.records.fetch_pairs(some.map(|pair| pair.1));
        }
        let (pairs, weight) = (probes.letters_and_pairs(a).1, probes.classes_of_pairs(a).1);
        let is_short = pairs.len() <= LONG;
        if looks != Some(a) {
            (looks, set) = (Some(a), false);
            if is_short {
                pair_worth.set_pairs(pairs, block.order);
            }
        }
        let (classes, of_other) = block.records.classes_of_pairs(b);
        if is_short && !pair_worth.may_share(Metric::need_of_pairs(weight, of_other), classes) {
            continue;
        }
        if first_of_both(pairs, block.records.letters_and_pairs(b).1).is_none_or(of_other_list) {
            continue;
        }
        if !set {
            pattern.set_record(probes.symbols(a), probes.size(a));
            set = true;
        }
        effort.compared += 1;
        if let Some(score) = pattern.score_with(block.records.symbols(b), block.records.size(b)) {
            matches.push(Match { a, b, score, shared_pairs: pattern.shared_pairs() });
        }
    }
}

/// Pairs of a looked-up record and one of the list, both ascending, that may be similar; returns how many were compared.
///
/// In most records of a list the same rarer pair is next to the list's own, where a phrase continues. Two of those are
/// never compared here. If a list has many of them, they are separated, and are not even looked up together.
fn in_parts(
    block: &Block<'_>,
    probes: &Records,
    looking: &[Looking],
    list: &[Listed],
    parted: u32,
    scratch: &mut ListScratch<'_, '_>,
) -> u64 {
    if looking.is_empty() || list.is_empty() {
        return 0;
    }
    let all = looking.len() * list.len();
    if all > FEW_PAIRS
        && parted > 0
        && let Some((side, beside)) = common_pair(list)
    {
        let (with, without): (Vec<Listed>, Vec<Listed>) =
            list.iter().partition(|listed| listed.rarer.pair_on_side(side) == beside);
        let others: Vec<Looking> =
            looking.iter().copied().filter(|looking| looking.rarer.pair_on_side(side) != beside).collect();
        // Otherwise it costs more than it saves.
        if (looking.len() - others.len()) * with.len() >= all / 8 {
            return in_parts(block, probes, looking, &without, parted - 1, scratch)
                + in_parts(block, probes, &others, &with, parted - 1, scratch);
        }
    }
    let ListScratch { done, compared_by, candidates, letters, worth, .. } = scratch;
    compared_by.clear();
    compared_by.resize(list.len(), u32::MAX);
    block.arch.dispatch(InList {
        block,
        probes,
        list,
        compared_by,
        looking,
        worth,
        letters,
        candidates,
        done,
    })
}

/// The first element that is in both of two ascending sequences.
fn first_of_both(a: &[u32], b: &[u32]) -> Option<u32> {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => return (a[i] >= FIRST_PAIR).then_some(a[i]),
        }
    }
    None
}

/// Compares records that look up a key with those in its list.
struct InList<'s, 'a, 'w> {
    block: &'s Block<'a>,
    probes: &'s Records,
    list: &'s [Listed],
    /// By record of the list: the number of the record that was last compared with it.
    compared_by: &'s mut [u32],
    looking: &'s [Looking],
    worth: &'s mut Worth,
    letters: &'s mut Letters,
    candidates: &'s mut Vec<(u32, u32)>,
    done: &'s mut Portions<'w>,
}

/// A record that looks, with what decides whether another may be its partner.
struct Looker {
    record: u32,
    skip: u64,
    classes: Classes,
    small: u64,
    of: u64,
    large: u64,
    own: u64,
    is_worth_known: bool,
}

impl Looker {
    #[inline(always)]
    fn may_meet(&mut self, posting: Posting, block: &Block<'_>, probes: &Records, worth: &mut Worth) -> bool {
        let partner = posting.known_size().unwrap_or_else(|| block.records.size(posting.record));
        // How far each is over its need, in parts of a unit of size.
        let need = self.small * u64::from(partner) + self.large;
        let partners_own = self.of * u64::from(partner);
        if posting.record >= self.record || self.own < need || partners_own < need {
            return false;
        }
        let (over, partners_over) = (self.own - need, partners_own - need);
        if self.of * self.skip > over || self.of * u64::from(posting.skip) > partners_over {
            return false;
        }
        let theirs = posting.classes();
        if self.of * u64::from(theirs.weight_missing_from(self.classes)) > partners_over
            || self.of * u64::from(self.classes.weight_missing_from(theirs)) > over
        {
            return false;
        }
        if !self.is_worth_known {
            let letters = probes.letters_and_pairs(self.record).0;
            if letters.len() > LONG {
                return true;
            }
            worth.set_letters(letters, block.order);
            self.is_worth_known = true;
        }
        !worth.is_over(over / self.of, self.classes, theirs)
    }
}

impl WithSimd for InList<'_, '_, '_> {
    type Output = u64;

    /// Nothing here is written in vectors: it is compiled once more for processors that count bits in one step.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> u64 {
        let Self { block, probes, list, compared_by, looking, worth, letters, candidates, done } = self;
        let query = block.order.query;
        let Linear { small, large, of } = query.metric.linear_bound(query.threshold);
        let looker = |one: &Looking| {
            let size = u64::from(probes.size(one.record));
            let classes = probes.signature(one.record).classes();
            let (record, skip) = (one.record, one.skip.into());
            Looker {
                record,
                skip,
                classes,
                small,
                of,
                large: large * size,
                own: of * size,
                is_worth_known: false,
            }
        };
        let mut met = 0;
        if list.len() * looking.len() <= FEW_PAIRS {
            for some in looking.chunks(FETCHED) {
                probes.fetch_with_letters(some.iter().map(|one| one.record));
                for one in some {
                    let mut looker = looker(one);
                    let earlier = list.iter().take_while(|listed| listed.posting.record < one.record);
                    for listed in earlier.filter(|listed| !listed.rarer.shares_one(one.rarer)) {
                        met += 1;
                        if looker.may_meet(listed.posting, block, probes, worth) {
                            candidates.push((one.record, listed.posting.record));
                        }
                    }
                }
            }
            return met;
        }
        letters.count_letters(block, list);
        letters.index(block, list, probes.size(looking[0].record));
        let first = block.records.size(list[0].posting.record);
        for (some, numbers) in looking.chunks(FETCHED).zip((0u32..).step_by(FETCHED)) {
            // The other half is for what comes of it.
            if !done.report_items((some.len() * list.len() / 2) as u64) {
                break;
            }
            probes.fetch_with_letters(some.iter().map(|one| one.record));
            for (one, number) in some.iter().zip(numbers..) {
                let mut looker = looker(one);
                let size = probes.size(one.record);
                let least = query.metric.least_partner(query.threshold, size).max(first);
                let spare =
                    size - query.metric.least_shared(query.threshold, size, least.min(size)).min(size);
                letters.each_prefix_letter(
                    probes.letters_and_pairs(one.record).0,
                    spare,
                    block,
                    |letters, letter, skip| {
                        // What is left may be all that a partner of this size must share, and of no larger one.
                        let skip = u64::from(skip.max(one.skip.into()));
                        let Some(left) = looker.own.checked_sub(of * skip + looker.large) else { return };
                        let nodes = letters.records_with(letter);
                        let from =
                            if nodes.len() > 8 { nodes.partition_point(|node| node.size < least) } else { 0 };
                        for node in &nodes[from..] {
                            let partner = u64::from(node.size);
                            if small * partner > left {
                                break;
                            }
                            if small * partner + looker.large + of * u64::from(node.skip) > of * partner {
                                continue;
                            }
                            let (listed, compared_by) =
                                (&list[node.i as usize], &mut compared_by[node.i as usize]);
                            if *compared_by == number || listed.rarer.shares_one(one.rarer) {
                                continue;
                            }
                            *compared_by = number;
                            met += 1;
                            if looker.may_meet(listed.posting, block, probes, worth) {
                                candidates.push((one.record, listed.posting.record));
                            }
                        }
                    },
                );
            }
        }
        letters.reset_letters();
        met
    }
}
