//! Rows divided into splits. What belongs together is never apart: rows of one group, near duplicates, and what these
//! connect. A released row stays where it is. The first draw follows counts, shares and strata; later rows go where those
//! that they belong to are, or by hash, so that they move no other.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::DrawStream;

/// How many rows a split has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SplitSize {
    /// A share of the rows that counts leave.
    Share(f64),
    /// So many rows, in the first draw.
    Count(usize),
    /// What the others leave.
    Rest,
    /// Those whose column names it.
    Said,
}

/// A row to be divided.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SplitRow {
    /// What its draw depends on, besides the seed.
    pub key: String,
    /// The groups that it is in: rows of one are never apart.
    pub groups: Vec<String>,
    /// What the first draw divides in proportion.
    pub stratum: String,
    /// Where it was released.
    pub released: Option<InSplit>,
    /// The split that its column names.
    pub said: Option<usize>,
}

/// Where a row was released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InSplit {
    /// In the split of this place.
    At(usize),
    /// In one that is no longer declared.
    Undeclared,
    /// In none: counts and shares left it out.
    Nowhere,
}

/// Why a row is in no split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftApart {
    /// It belongs to rows of two splits.
    Between,
    /// It was released in a split that is no longer declared.
    Undeclared,
    /// Its column names another split than the one that it was released in, or none.
    Said,
    /// Counts and shares leave it out.
    Untaken,
}

impl LeftApart {
    /// Why, in words.
    pub fn reason(self) -> &'static str {
        match self {
            LeftApart::Between => "near rows of two splits, or in a group with them",
            LeftApart::Undeclared => "released in a split that is no longer declared",
            LeftApart::Said => "its column names no split, or another one than it was released in",
            LeftApart::Untaken => "no split takes it: counts and shares leave it out",
        }
    }

    /// Every reason.
    pub fn all_reasons() -> [LeftApart; 4] {
        [LeftApart::Between, LeftApart::Undeclared, LeftApart::Said, LeftApart::Untaken]
    }
}

/// The split of each row, by its place. `examples`: the split that later rows never go to. `near`: pairs of rows that are
/// never apart.
pub fn divide_rows(
    sizes: &[SplitSize],
    examples: Option<usize>,
    seed: u64,
    rows: &[SplitRow],
    near: &[(usize, usize)],
) -> Vec<Result<usize, LeftApart>> {
    let mut ties = Ties::new(rows, near);
    for (at, row) in rows.iter().enumerate() {
        match (row.released, row.said) {
            (Some(InSplit::Undeclared), _) => ties.refuse_row(at, LeftApart::Undeclared),
            (Some(InSplit::Nowhere), _) => ties.refuse_row(at, LeftApart::Untaken),
            (Some(InSplit::At(split)), said) if said.is_some_and(|said| said != split) => {
                ties.refuse_row(at, LeftApart::Said);
            }
            (Some(InSplit::At(split)), _) => ties.claim_split(at, split),
            (None, _) => {}
        }
    }
    if sizes.contains(&SplitSize::Said) {
        for (at, row) in rows.iter().enumerate().filter(|(_, row)| row.released.is_none()) {
            match row.said {
                Some(split) => ties.claim_split(at, split),
                None => ties.refuse_row(at, LeftApart::Said),
            }
        }
        return ties.into_placements();
    }
    ties.follow_ties();
    let blocks = ties.tied_blocks();
    let drawn = |block: &[usize]| {
        let key = block.iter().map(|at| rows[*at].key.as_str()).min().unwrap_or_default();
        (DrawStream::new(seed, "split", key), key.to_owned())
    };
    if rows.iter().any(|row| row.released.is_some()) {
        let weights = split_weights(sizes, examples);
        for block in blocks {
            let split = by_hash(&weights, drawn(&block).0.draw_unit());
            ties.place_block(&block, split);
        }
    } else {
        let mut sorted: Vec<(String, usize, u64, String, Vec<usize>)> = Vec::new();
        for block in blocks {
            let (mut draw, key) = drawn(&block);
            // A group has one value: that of its first row.
            sorted.push((
                rows[block[0]].stratum.clone(),
                usize::MAX - block.len(),
                draw.next_bits(),
                key,
                block,
            ));
        }
        // Within a stratum the large blocks come first, and single rows even out what they leave.
        sorted.sort();
        let blocks: Vec<Vec<usize>> = sorted.into_iter().map(|(.., block)| block).collect();
        let lengths: Vec<usize> = blocks.iter().map(Vec::len).collect();
        for (block, split) in blocks.iter().zip(in_proportion(sizes, &lengths)) {
            ties.place_block(block, split);
        }
    }
    ties.into_placements()
}

/// How many of so many rows each split has in the first draw; what is left goes to none.
pub(super) fn target_counts(sizes: &[SplitSize], rows: usize) -> Vec<usize> {
    let counted = |size: &SplitSize| if let SplitSize::Count(count) = size { *count } else { 0 };
    let left = rows.saturating_sub(sizes.iter().map(counted).sum());
    let of = |share: f64| ((share * left as f64).round() as usize).min(left);
    let mut shared = 0.0;
    let mut targets: Vec<usize> = Vec::new();
    for size in sizes {
        targets.push(match size {
            SplitSize::Share(share) => {
                let before = of(shared);
                shared += share;
                of(shared) - before
            }
            SplitSize::Count(count) => *count,
            SplitSize::Rest | SplitSize::Said => 0,
        });
    }
    if let Some(rest) = sizes.iter().position(|size| *size == SplitSize::Rest) {
        targets[rest] = left - of(shared);
    }
    targets
}

/// The split of each of these blocks: at every point each split has had about its part of the rows, so that it has of each
/// stratum, too. A split has no more than its target, unless no block fits.
pub(super) fn in_proportion(sizes: &[SplitSize], lengths: &[usize]) -> Vec<Option<usize>> {
    let rows: usize = lengths.iter().sum();
    let mut targets = target_counts(sizes, rows);
    targets.push(rows.saturating_sub(targets.iter().sum()));
    let mut had = vec![0usize; targets.len()];
    let (mut passed, mut split) = (0, Vec::new());
    for length in lengths {
        passed += length;
        // Whole numbers, because the order of equal ones must not depend on rounding.
        let lacks = |at: usize| (targets[at] * passed) as i128 - (had[at] * rows) as i128;
        let left = |at: usize| targets[at] as i128 - had[at] as i128;
        let fitting = (0..targets.len()).filter(|at| left(*at) >= *length as i128);
        let best = fitting.max_by_key(|at| (lacks(*at), std::cmp::Reverse(*at)));
        let best = best.or_else(|| (0..sizes.len()).max_by_key(|at| (left(*at), std::cmp::Reverse(*at))));
        split.push(best.filter(|at| *at < sizes.len()));
        if let Some(best) = best {
            had[best] += length;
        }
    }
    split
}

/// How likely a later row is in each split.
pub(super) fn split_weights(sizes: &[SplitSize], examples: Option<usize>) -> Vec<f64> {
    let shares: f64 =
        sizes.iter().map(|size| if let SplitSize::Share(share) = size { *share } else { 0.0 }).sum();
    let open = |size: &SplitSize| matches!(size, SplitSize::Share(_) | SplitSize::Rest);
    let counts: usize = sizes
        .iter()
        .enumerate()
        .map(|(at, size)| match size {
            SplitSize::Count(count) if Some(at) != examples => *count,
            _ => 0,
        })
        .sum();
    let by_counts = !sizes.iter().any(open) && counts > 0;
    let weight = |(at, size): (usize, &SplitSize)| match size {
        SplitSize::Share(share) => *share,
        SplitSize::Rest => (1.0 - shares).max(0.0),
        SplitSize::Count(count) if by_counts && Some(at) != examples => *count as f64 / counts as f64,
        SplitSize::Count(_) | SplitSize::Said => 0.0,
    };
    sizes.iter().enumerate().map(weight).collect()
}

/// The place of the weight into which a number from 0 to 1 falls; `None` beyond all of them.
pub(super) fn by_hash(weights: &[f64], drawn: f64) -> Option<usize> {
    let mut sum = 0.0;
    let found = weights.iter().position(|weight| {
        sum += weight;
        drawn < sum
    });
    // Shares that sum to 1 may sum to a little less.
    found.or_else(|| weights.iter().rposition(|weight| *weight > 0.0).filter(|_| sum > 1.0 - 1e-9))
}

/// What belongs together, and where it is so far.
struct Ties {
    near: Vec<Vec<usize>>,
    /// The groups of each row, by number.
    of_row: Vec<Vec<usize>>,
    /// The rows of each group.
    in_group: Vec<Vec<usize>>,
    /// The split that a group is in.
    group: Vec<Option<usize>>,
    placed: Vec<Option<Result<usize, LeftApart>>>,
}

impl Ties {
    fn new(rows: &[SplitRow], pairs: &[(usize, usize)]) -> Ties {
        let mut near = vec![Vec::new(); rows.len()];
        for (a, b) in pairs {
            near[*a].push(*b);
            near[*b].push(*a);
        }
        let mut numbers: FxHashMap<&str, usize> = FxHashMap::default();
        let mut in_group: Vec<Vec<usize>> = Vec::new();
        let mut of_row = Vec::with_capacity(rows.len());
        for (at, row) in rows.iter().enumerate() {
            let mut groups = Vec::new();
            for name in &row.groups {
                let number = *numbers.entry(name).or_insert(in_group.len());
                if number == in_group.len() {
                    in_group.push(Vec::new());
                }
                in_group[number].push(at);
                groups.push(number);
            }
            of_row.push(groups);
        }
        let group = vec![None; in_group.len()];
        Ties { near, of_row, in_group, group, placed: vec![None; rows.len()] }
    }

    /// The splits that a row belongs to, by those placed before.
    fn splits_of_row(&self, row: usize) -> BTreeSet<usize> {
        let near = self.near[row].iter().filter_map(|other| self.placed[*other]?.ok());
        near.chain(self.of_row[row].iter().filter_map(|group| self.group[*group])).collect()
    }

    fn refuse_row(&mut self, row: usize, why: LeftApart) {
        self.placed[row] = Some(Err(why));
    }

    fn assign_split(&mut self, row: usize, split: usize) {
        self.placed[row] = Some(Ok(split));
        for group in &self.of_row[row] {
            self.group[*group] = Some(split);
        }
    }

    /// Puts a row into a split, unless it belongs to another.
    fn claim_split(&mut self, row: usize, split: usize) {
        match self.splits_of_row(row).into_iter().all(|other| other == split) {
            true => self.assign_split(row, split),
            false => self.refuse_row(row, LeftApart::Between),
        }
    }

    /// Puts rows where those are that they belong to, one after the other; one that belongs to two splits into none.
    fn follow_ties(&mut self) {
        let tied =
            |ties: &Ties, row: usize| ties.placed[row].is_none() && !ties.splits_of_row(row).is_empty();
        let mut waiting: BTreeSet<usize> = (0..self.placed.len()).filter(|row| tied(self, *row)).collect();
        let mut followed = BTreeSet::new();
        while let Some(row) = waiting.pop_first() {
            let splits: Vec<usize> = self.splits_of_row(row).into_iter().collect();
            let [split] = splits[..] else {
                self.refuse_row(row, LeftApart::Between);
                continue;
            };
            self.assign_split(row, split);
            let mut next = self.near[row].clone();
            for group in self.of_row[row].iter().filter(|group| followed.insert(**group)) {
                next.extend(&self.in_group[*group]);
            }
            waiting.extend(next.into_iter().filter(|other| self.placed[*other].is_none()));
        }
    }

    /// The rows without a split, those that belong together in one block each, in order.
    fn tied_blocks(&self) -> Vec<Vec<usize>> {
        let mut seen: Vec<bool> = self.placed.iter().map(Option::is_some).collect();
        let mut groups = vec![false; self.in_group.len()];
        let mut blocks = Vec::new();
        for first in 0..seen.len() {
            if std::mem::replace(&mut seen[first], true) {
                continue;
            }
            let (mut block, mut at) = (vec![first], 0);
            while let Some(row) = block.get(at).copied() {
                at += 1;
                let mut next = self.near[row].clone();
                for group in &self.of_row[row] {
                    if !std::mem::replace(&mut groups[*group], true) {
                        next.extend(&self.in_group[*group]);
                    }
                }
                block.extend(next.into_iter().filter(|other| !std::mem::replace(&mut seen[*other], true)));
            }
            block.sort_unstable();
            blocks.push(block);
        }
        blocks
    }

    fn place_block(&mut self, block: &[usize], split: Option<usize>) {
        for row in block {
            match split {
                Some(split) => self.assign_split(*row, split),
                None => self.refuse_row(*row, LeftApart::Untaken),
            }
        }
    }

    fn into_placements(self) -> Vec<Result<usize, LeftApart>> {
        self.placed.into_iter().map(|placed| placed.unwrap_or(Err(LeftApart::Untaken))).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    const SIZES: [SplitSize; 3] = [SplitSize::Share(0.75), SplitSize::Share(0.25), SplitSize::Count(4)];

    fn rows(n: usize) -> Vec<SplitRow> {
        let row = |at: usize| SplitRow {
            key: format!("post:{at}"),
            stratum: ["a", "b", "c"][at % 3].into(),
            ..SplitRow::default()
        };
        (0..n).map(row).collect()
    }

    /// How many rows each split has, by its place.
    fn split_counts(placed: &[Result<usize, LeftApart>]) -> BTreeMap<usize, usize> {
        let mut counts = BTreeMap::new();
        placed.iter().flatten().for_each(|split| *counts.entry(*split).or_default() += 1);
        counts
    }

    /// How many rows of each stratum are in each split.
    fn of_strata(rows: &[SplitRow], placed: &[Result<usize, LeftApart>]) -> BTreeMap<(String, usize), usize> {
        let mut counts = BTreeMap::new();
        for (row, split) in rows.iter().zip(placed) {
            *counts.entry((row.stratum.clone(), split.unwrap())).or_default() += 1;
        }
        counts
    }

    #[test]
    fn the_first_draw_follows_counts_shares_and_strata() {
        let rows = rows(124);
        let placed = divide_rows(&SIZES, Some(2), 1, &rows, &[]);
        let counts: Vec<usize> = split_counts(&placed).into_values().collect();
        assert_eq!(counts, [90, 30, 4]);
        let strata = of_strata(&rows, &placed);
        for stratum in ["a", "b", "c"] {
            let of = |split| strata.get(&(stratum.to_owned(), split)).copied().unwrap_or(0);
            assert!((29..=32).contains(&of(0)) && (9..=12).contains(&of(1)) && of(2) <= 2, "{strata:?}");
        }
        assert_ne!(placed, divide_rows(&SIZES, Some(2), 2, &rows, &[]), "by the seed");
        // With the rest, and with rows that nobody takes.
        let rest = [SplitSize::Count(20), SplitSize::Rest];
        assert_eq!(
            split_counts(&divide_rows(&rest, None, 1, &rows, &[])),
            BTreeMap::from([(0, 20), (1, 104)])
        );
        let some = [SplitSize::Share(0.5)];
        let placed = divide_rows(&some, None, 1, &rows, &[]);
        assert_eq!(placed.iter().filter(|split| **split == Err(LeftApart::Untaken)).count(), 62);
    }

    #[test]
    fn a_new_row_goes_to_its_like_and_between_two_splits_to_none() {
        let mut rows = rows(6);
        rows[0].released = Some(InSplit::At(0));
        rows[1].released = Some(InSplit::At(1));
        rows[2].released = Some(InSplit::Undeclared);
        rows[1].groups = vec!["g".into()];
        rows[4].groups = vec!["g".into()];
        let near = [(0, 3), (1, 5), (3, 5)];
        let placed = divide_rows(&SIZES, Some(2), 1, &rows, &near);
        let between = Err(LeftApart::Between);
        assert_eq!(placed, [Ok(0), Ok(1), Err(LeftApart::Undeclared), Ok(0), Ok(1), between]);
        // Later rows of their own never go to the examples.
        for at in 0..200 {
            rows[4] = SplitRow { key: format!("new:{at}"), ..SplitRow::default() };
            assert!(matches!(divide_rows(&SIZES, Some(2), 1, &rows, &[])[4], Ok(0 | 1)));
        }
    }

    #[test]
    fn a_column_says_the_split_and_does_not_part_what_belongs_together() {
        let mut rows = rows(5);
        for (at, said) in [Some(0), Some(1), Some(1), None, Some(1)].into_iter().enumerate() {
            rows[at].said = said;
        }
        rows[4].released = Some(InSplit::At(0));
        let placed = divide_rows(&[SplitSize::Said; 2], None, 0, &rows, &[(0, 2)]);
        let said = Err(LeftApart::Said);
        assert_eq!(placed, [Ok(0), Ok(1), Err(LeftApart::Between), said, said]);
    }

    proptest! {
        #[test]
        fn nothing_is_apart_and_nothing_moves_however_the_set_grows(
            groups in prop::collection::vec(prop::option::of(0usize..6), 1..40),
            pairs in prop::collection::vec((0usize..40, 0usize..40), 0..30),
            steps in prop::collection::vec(1usize..12, 1..5),
            seed in 0u64..4,
        ) {
            let mut all = rows(groups.len());
            for (row, group) in all.iter_mut().zip(&groups) {
                row.groups = group.iter().map(|group| format!("g{group}")).collect();
            }
            let (mut n, mut released) = (0, BTreeMap::new());
            for step in steps {
                n = (n + step).min(all.len());
                for (at, row) in all.iter_mut().enumerate() {
                    row.released = released.get(&at).copied().map(InSplit::At);
                }
                let near: Vec<_> = pairs.iter().filter(|(a, b)| a != b && *a < n && *b < n).copied().collect();
                let placed = divide_rows(&SIZES, Some(2), seed, &all[..n], &near);
                prop_assert_eq!(&placed, &divide_rows(&SIZES, Some(2), seed, &all[..n], &near), "drawn again");
                for (at, split) in placed.iter().enumerate() {
                    if let Some(was) = released.get(&at) {
                        // A pair of released rows is known at their release, so that none of them is left out.
                        prop_assert_eq!(split, &Ok(*was), "row {} moved", at);
                    }
                }
                for (a, b) in &near {
                    if let (Ok(a), Ok(b)) = (placed[*a], placed[*b]) {
                        prop_assert_eq!(a, b, "near rows apart");
                    }
                }
                let mut of_group: BTreeMap<usize, usize> = BTreeMap::new();
                for (at, group) in groups[..n].iter().enumerate() {
                    if let (Some(group), Ok(split)) = (group, placed[at]) {
                        prop_assert_eq!(*of_group.entry(*group).or_insert(split), split, "a group apart");
                    }
                }
                released = placed.iter().enumerate().filter_map(|(at, split)| Some((at, split.ok()?))).collect();
            }
        }
    }
}
