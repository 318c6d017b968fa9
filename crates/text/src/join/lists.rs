//! Bags against a block: not record after record, but list after list of the index, with all records that look there.
//!
//! Who shares a pair of neighbours often shares the phrase that it is from, so that a list is full of records that are
//! alike in this and in nothing else. Within a list letters therefore have an order of its own: those that many of its
//! records hold come last, all others stay in the order from rare to common. It is the same order for both records of a
//! pair, so that the argument of prefixes in `keys` holds: the first letter that both hold is before the last that
//! either may leave unshared. Letters of the phrase are out of the way, and what is met shares something else, too.
//!
//! A pair of records that share several pairs of neighbours is compared in the list of the first of these alone. Most that
//! meet in another list are told by the [`rarer`](super::rarer) pairs beside the list's.

use std::ops::Range;

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::block::Block;
use super::found::{Effort, Match};
use super::index::{Posting, SHARDS, hash_in, shard_of};
use super::keys::{Key, Placed, cut, finds_alone, placed};
use super::letters::Letters;
use super::metric::{Linear, Metric};
use super::rarer::Rarer;
use super::records::Records;
use super::signature::{Classes, PairWorth, Worth};
use super::tokens::FIRST_PAIR;
use super::verify::Pattern;
use super::watch::Items;

/// Records that look at once: what they look under is held in memory, some half of a kilobyte each. A list is made ready
/// once for all of them, so that the fewer look at once, the more often the same is done.
const AT_ONCE: usize = 1 << 20;

/// Records whose keys are cut in one go.
const CHUNK: usize = 1 << 12;

/// So many pairs of records of a list are tried one by one: it is done before letters are counted. In tests nearly none.
const FEW_PAIRS: usize = if cfg!(test) { 2 } else { 1 << 13 };

/// What a record of more letters is worth by class is not counted: it holds nearly every class, and is counted anew in each
/// of its lists.
const LONG: usize = 1024;

/// A record that looks under a key, in twelve bytes: there are thirty and more a record.
#[derive(Clone, Copy)]
struct Looking {
    record: u32,
    /// The low half of the key's hash, then in words of 16 bits what is left of it but for the shard, and the key's skip,
    /// 65535 where it is more.
    low: u32,
    middle: u16,
    skip: u16,
}

impl Looking {
    fn new(hash: u64, record: u32, skip: u32) -> Self {
        let skip = u16::try_from(skip).unwrap_or(u16::MAX);
        Self { record, low: hash as u32, middle: (hash >> 32) as u16, skip }
    }

    /// What is kept of the key's hash: which shard it is of is known. Keys of one hash cost a comparison, never a pair.
    fn key(self) -> u64 {
        u64::from(self.middle) << 32 | u64::from(self.low)
    }
}

/// A record of a list, for those who look.
#[derive(Clone, Copy)]
struct Listed {
    /// Who has met it last, by their number.
    met_by: u32,
    rarer: Rarer,
}

/// What [`Looking`] keeps of a hash.
const KEPT: u64 = (1 << 48) - 1;

impl Block<'_> {
    /// Every pair of one of these records with an earlier one of the block, in order: of bags list by list, of others
    /// record by record.
    pub fn matches(&self, probes: &Records, range: Range<u32>, items: Items<'_>) -> (Vec<Match>, Effort) {
        match self.order.weights.is_empty() {
            true => self.probed(probes, range, items),
            false => matches(self, probes, range, items),
        }
    }
}

fn matches(block: &Block<'_>, probes: &Records, range: Range<u32>, items: Items<'_>) -> (Vec<Match>, Effort) {
    let all: Vec<u32> = range.collect();
    let (mut matches, mut effort) = (Vec::new(), Effort::default());
    for some in all.chunks(AT_ONCE) {
        let mut of_shards: Vec<Vec<Vec<Looking>>> = (0..SHARDS).map(|_| Vec::new()).collect();
        let cut: Vec<(Vec<Vec<Looking>>, u64)> =
            some.par_chunks(CHUNK).map(|chunk| look(block, probes, chunk)).collect();
        for (parts, lookups) in cut {
            effort.probes += lookups;
            of_shards.iter_mut().zip(parts).for_each(|(shard, part)| shard.push(part));
        }
        // The work is in the lists; who waits is told shard by shard.
        let share = some.len() / SHARDS;
        let found: Vec<(Vec<Match>, Effort)> = of_shards
            .into_par_iter()
            .enumerate()
            .map_init(
                || Scratch::new(block),
                |scratch, (shard, parts)| {
                    let parts = if items.go(share) { parts } else { Vec::new() };
                    in_shard(block, probes, shard, parts.concat(), scratch)
                },
            )
            .collect();
        items.go(some.len() - share * SHARDS);
        for (found, spent) in found {
            matches.extend(found);
            effort += spent;
        }
    }
    // Of pairs so common that keys go on with letters, one may be found under several.
    matches.par_sort_unstable_by_key(|found: &Match| (found.a, found.b));
    matches.dedup_by_key(|found| (found.a, found.b));
    (matches, effort)
}

/// What records look under, as far as it is in the index, by shard; and how many keys they have.
fn look(block: &Block<'_>, probes: &Records, chunk: &[u32]) -> (Vec<Vec<Looking>>, u64) {
    let mut shards: Vec<Vec<Looking>> = vec![Vec::new(); SHARDS];
    let (mut tokens, mut keys) = (Vec::<Placed>::new(), Vec::<Key>::new());
    let mut lookups = 0;
    for &record in chunk {
        let Some(budget) = block.order.plan.downward(probes.size(record), block.sizes) else { continue };
        keys.clear();
        placed(probes.symbols(record), block.order, &mut tokens);
        cut(&tokens, probes.parts(record).1, budget, block.order, &mut keys);
        lookups += keys.len() as u64;
        for &Key { hash, skip } in keys.iter().filter(|key| block.index.may_hold(key.hash)) {
            shards[shard_of(hash)].push(Looking::new(hash, record, skip));
        }
    }
    (shards, lookups)
}

/// Reused from list to list.
struct Scratch<'a> {
    list: Vec<Posting>,
    listed: Vec<Listed>,
    candidates: Vec<(u32, u32)>,
    pattern: Pattern<'a>,
    worth: Worth,
    pair_worth: PairWorth,
    letters: Letters,
}

impl<'a> Scratch<'a> {
    fn new(block: &Block<'a>) -> Self {
        let alphabet = block.order.alphabet();
        Self {
            list: Vec::new(),
            listed: Vec::new(),
            candidates: Vec::new(),
            pattern: block.pattern(),
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
    mut looking: Vec<Looking>,
    scratch: &mut Scratch<'_>,
) -> (Vec<Match>, Effort) {
    looking.sort_unstable_by_key(|one| (one.key(), one.record));
    let (mut matches, mut effort) = (Vec::new(), Effort::default());
    for group in looking.chunk_by(|x, y| x.key() == y.key()) {
        let hash = hash_in(shard, group[0].key());
        scratch.list.clear();
        scratch.list.extend(block.index.list(hash));
        let last = group[group.len() - 1].record;
        scratch.list.truncate(scratch.list.partition_point(|posting| posting.record < last));
        if scratch.list.is_empty() {
            continue;
        }
        scratch.candidates.clear();
        let Scratch { list, listed, candidates, letters, worth, .. } = scratch;
        let pair = pair_of_list(block, list, hash);
        listed.clear();
        listed.extend(list.iter().map(|posting| {
            let rarer = pair.map(|pair| block.records.rarer(posting.record, pair));
            Listed { met_by: u32::MAX, rarer: rarer.unwrap_or_default() }
        }));
        let looking = group;
        let in_list = InList { block, probes, pair, list, listed, looking, worth, letters, candidates };
        effort.met += block.arch.dispatch(in_list);
        for of_one in scratch.candidates.chunk_by(|x, y| x.0 == y.0) {
            let a = of_one[0].0;
            let (symbols, size, pairs) = (probes.symbols(a), probes.size(a), probes.parts(a).1);
            let mut set = false;
            let weight = probes.pairs(a).1;
            let is_short = pairs.len() <= LONG;
            if is_short {
                scratch.pair_worth.set(pairs, block.order);
            }
            for &(_, b) in of_one {
                let (classes, of_other) = block.records.pairs(b);
                if is_short && !scratch.pair_worth.may_share(Metric::need_of_pairs(weight, of_other), classes)
                {
                    continue;
                }
                let others = block.records.symbols(b);
                let other = |pair: u32| {
                    finds_alone(pair, block.order).is_some_and(|alone| alone & KEPT != hash & KEPT)
                };
                if first_of_both(pairs, block.records.parts(b).1).is_none_or(other) {
                    continue;
                }
                if !set {
                    scratch.pattern.set(symbols, size);
                    set = true;
                }
                effort.compared += 1;
                if let Some(score) = scratch.pattern.score(others, block.records.size(b)) {
                    matches.push(Match { a, b, score });
                }
            }
        }
    }
    (matches, effort)
}

/// The pair of neighbours whose list this is; none where a key is longer than a pair.
fn pair_of_list(block: &Block<'_>, list: &[Posting], hash: u64) -> Option<u32> {
    let of_list = |pair: &u32| {
        let alone = finds_alone(*pair, block.order);
        alone.is_some_and(|alone| alone & KEPT == hash & KEPT && shard_of(alone) == shard_of(hash))
    };
    block.records.parts(list.first()?.record).1.iter().copied().find(of_list)
}

/// The first of two ascending sequences that is in both.
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

/// Records that look under a key, against those that are there.
struct InList<'s, 'a> {
    block: &'s Block<'a>,
    probes: &'s Records,
    pair: Option<u32>,
    list: &'s [Posting],
    listed: &'s mut [Listed],
    looking: &'s [Looking],
    worth: &'s mut Worth,
    letters: &'s mut Letters,
    candidates: &'s mut Vec<(u32, u32)>,
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
        let partner = posting.size().unwrap_or_else(|| block.records.size(posting.record));
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
            let letters = probes.parts(self.record).0;
            if letters.len() > LONG {
                return true;
            }
            worth.set(letters, block.order);
            self.is_worth_known = true;
        }
        !worth.is_over(over / self.of, self.classes, theirs)
    }
}

impl WithSimd for InList<'_, '_> {
    type Output = u64;

    /// Nothing here is written in vectors: it is compiled once more for processors that count bits in one step.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> u64 {
        let Self { block, probes, pair, list, listed, looking, worth, letters, candidates } = self;
        let rarer = |record: u32| pair.map(|pair| probes.rarer(record, pair)).unwrap_or_default();
        let query = block.order.query;
        let Linear { small, large, of } = query.metric.linear(query.threshold);
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
            for mut looker in looking.iter().map(looker) {
                let (record, rarer) = (looker.record, rarer(looker.record));
                let earlier = list.iter().zip(&*listed).take_while(|(posting, _)| posting.record < record);
                for (&posting, _) in earlier.filter(|(_, listed)| !listed.rarer.shares_one(rarer)) {
                    met += 1;
                    if looker.may_meet(posting, block, probes, worth) {
                        candidates.push((looker.record, posting.record));
                    }
                }
            }
            return met;
        }
        letters.count(block, list);
        letters.index(block, list, probes.size(looking[0].record));
        let first = block.records.size(list[0].record);
        for (one, number) in looking.iter().zip(0u32..) {
            let (mut looker, rarer) = (looker(one), rarer(one.record));
            let size = probes.size(one.record);
            let least = query.metric.least_partner(query.threshold, size).max(first);
            let spare = size - query.metric.need(query.threshold, size, least.min(size)).min(size);
            letters.prefix(probes.parts(one.record).0, spare, block, |letters, letter, skip| {
                // What is left may be all that a partner of this size must share, and of no larger one.
                let Some(left) = looker.own.checked_sub(of * u64::from(skip) + looker.large) else { return };
                let nodes = letters.records_with(letter);
                let from = if nodes.len() > 8 { nodes.partition_point(|node| node.size < least) } else { 0 };
                for node in &nodes[from..] {
                    let partner = u64::from(node.size);
                    if small * partner > left {
                        break;
                    }
                    if small * partner + looker.large + of * u64::from(node.skip) > of * partner {
                        continue;
                    }
                    let listed = &mut listed[node.i as usize];
                    if listed.met_by == number || listed.rarer.shares_one(rarer) {
                        continue;
                    }
                    listed.met_by = number;
                    met += 1;
                    let posting = list[node.i as usize];
                    if looker.may_meet(posting, block, probes, worth) {
                        candidates.push((one.record, posting.record));
                    }
                }
            });
        }
        letters.forget();
        met
    }
}
