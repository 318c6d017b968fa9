//! The join of the default similarity: every pair of texts that [`crate::text::sameness`] calls the
//! same or borderline.
//!
//! Every such pair of different folded texts shares pairs of neighbouring characters, or of
//! neighbouring syllables. An opening shares all of the shorter's, a reworded text a fifth of the
//! lighter's by weight. A common subsequence of L characters breaks at most |a| − L neighbours of one
//! text and |b| − L of the other, so a near or like-sounding text shares 3·L − 1 − |a| − |b|. So each
//! text looks up its rarest neighbours, as many as leave less than that behind, and what it finds is
//! compared in full: no pair is lost, and the comparison alone decides.
//!
//! Texts that no comparison can tell apart are one group, compared once.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::text::sameness::{Comparison, Prepared, Verdict, compare_prepared, view, weight};

/// Every pair that is at least borderline, with texts that compare alike held as one group.
#[derive(Clone, Debug)]
pub struct AlikePairs {
    /// Rows by group, ascending within a group, groups by their first row; blank texts are in none.
    pub groups: Vec<Vec<u32>>,
    /// Pairs of groups, `a < b` by number, ascending.
    pub pairs: Vec<AlikePair>,
}

/// Two groups and how their texts compare.
#[derive(Clone, Copy, Debug)]
pub struct AlikePair {
    /// The group with the earlier first row.
    pub a: u32,
    /// The other group.
    pub b: u32,
    /// Its verdict is never [`Verdict::Different`].
    pub comparison: Comparison,
}

/// Finds every pair of texts that are the same or borderline.
pub fn alike(texts: &[&str]) -> AlikePairs {
    let prepared: Vec<Prepared> = texts.par_iter().map(|text| Prepared::new(text)).collect();
    let groups = group(texts, &prepared);
    let first = |rows: &Vec<u32>| rows[0] as usize;
    let one: Vec<&Prepared> = groups.iter().map(|rows| &prepared[first(rows)]).collect();
    let folded: Vec<String> = groups.par_iter().map(|rows| view::fold(texts[first(rows)])).collect();
    let sounds: Vec<String> = groups.par_iter().map(|rows| view::sound(texts[first(rows)])).collect();
    let written = Neighbours::of(&folded, |c| u64::from(weight(c)), |doc| {
        // Near: L is at least 17/40 of |a| + |b|, which is at least twice the shorter.
        doc.leaving_weight(doc.weight / 5).max(doc.leaving_count((11 * doc.chars).div_ceil(20).saturating_sub(1)))
    });
    // Sound: L is at least 9/20 of |a| + |b|.
    let spoken = Neighbours::of(&sounds, |_| 1, |doc| doc.leaving_count((7 * doc.chars).div_ceil(10).saturating_sub(1)));
    let letters: Vec<Letters> = folded.par_iter().map(|text| Letters::of(text, |c| u64::from(weight(c)))).collect();
    let syllables: Vec<Letters> = sounds.par_iter().map(|text| Letters::of(text, |_| 1)).collect();
    let pairs: Vec<Vec<AlikePair>> = (0..one.len() as u32)
        .into_par_iter()
        .map_init(
            || (Seen::new(one.len()), Seen::new(one.len())),
            |(by_letters, by_sound), a| {
                let mut found = Vec::new();
                by_letters.next();
                by_sound.next();
                written.sharing(a, |b| {
                    if by_letters.first(b) && letters[a as usize].may_be_alike(&letters[b as usize]) {
                        found.extend(compare(&one, a, b));
                    }
                });
                spoken.sharing(a, |b| {
                    if by_sound.first(b) && syllables[a as usize].may_sound_alike(&syllables[b as usize]) {
                        found.extend(compare(&one, a, b));
                    }
                });
                found
            },
        )
        .collect();
    let mut pairs = pairs.concat();
    pairs.extend(same_key(texts, &groups, &one));
    pairs.par_sort_unstable_by_key(|pair| (pair.a, pair.b));
    pairs.dedup_by_key(|pair| (pair.a, pair.b));
    AlikePairs { groups, pairs }
}

fn compare(one: &[&Prepared], a: u32, b: u32) -> Option<AlikePair> {
    let (a, b) = (a.min(b), a.max(b));
    let comparison = compare_prepared(one[a as usize], one[b as usize]);
    (comparison.verdict != Verdict::Different).then_some(AlikePair { a, b, comparison })
}

/// Rows that compare alike with everything.
fn group(texts: &[&str], prepared: &[Prepared]) -> Vec<Vec<u32>> {
    let mut seen: FxHashMap<&Prepared, u32> = FxHashMap::default();
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for (row, _) in texts.iter().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        let group = *seen.entry(&prepared[row]).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() as u32 - 1
        });
        groups[group as usize].push(row as u32);
    }
    groups
}

/// Groups with one key: the same folded text with other issue numbers or list marks. There are few.
fn same_key(texts: &[&str], groups: &[Vec<u32>], one: &[&Prepared]) -> Vec<AlikePair> {
    let mut by_key: FxHashMap<String, Vec<u32>> = FxHashMap::default();
    for (i, rows) in groups.iter().enumerate() {
        by_key.entry(view::key(texts[rows[0] as usize])).or_default().push(i as u32);
    }
    let mut pairs = Vec::new();
    for rows in by_key.into_values().filter(|rows| rows.len() > 1) {
        for (i, &a) in rows.iter().enumerate() {
            pairs.extend(rows[i + 1..].iter().filter_map(|&b| compare(one, a, b)));
        }
    }
    pairs
}

/// Pairs of neighbouring characters, each as one number.
type Token = u64;

/// An index of neighbours, and how many of its rarest a text must look up.
struct Neighbours {
    docs: Vec<Doc>,
    holders: FxHashMap<Token, Vec<u32>>,
    prefix: Vec<usize>,
}

struct Doc {
    chars: u64,
    /// Distinct tokens, the rarest first, with their count and weight in this text.
    tokens: Vec<(Token, u64, u64)>,
    /// The weight of all of them.
    weight: u64,
}

impl Neighbours {
    /// `prefix(doc)` is how many of its rarest tokens a text must look up.
    fn of(texts: &[String], weigh: impl Fn(char) -> u64 + Sync, prefix: impl Fn(&Doc) -> usize) -> Neighbours {
        let mut docs: Vec<Doc> = texts.par_iter().map(|text| Doc::of(text, &weigh)).collect();
        let mut holders: FxHashMap<Token, Vec<u32>> = FxHashMap::default();
        for (i, doc) in docs.iter().enumerate() {
            for (token, _, _) in &doc.tokens {
                holders.entry(*token).or_default().push(i as u32);
            }
        }
        docs.par_iter_mut().for_each(|doc| {
            doc.tokens.sort_unstable_by_key(|(token, _, _)| (holders.get(token).map_or(0, Vec::len), *token));
        });
        let prefix = docs.iter().map(prefix).collect();
        Neighbours { docs, holders, prefix }
    }

    /// Hands out the texts that hold one of the rarest neighbours of a text, some more than once.
    fn sharing(&self, a: u32, mut take: impl FnMut(u32)) {
        for (token, _, _) in &self.docs[a as usize].tokens[..self.prefix[a as usize]] {
            let holders = self.holders.get(token).map_or(&[][..], Vec::as_slice);
            holders.iter().filter(|b| **b != a).for_each(|b| take(*b));
        }
    }
}

/// Which texts were met since the last [`Seen::next`].
struct Seen {
    round: u32,
    met: Vec<u32>,
}

impl Seen {
    fn new(texts: usize) -> Seen {
        Seen { round: 0, met: vec![0; texts] }
    }

    fn next(&mut self) {
        self.round += 1;
    }

    fn first(&mut self, text: u32) -> bool {
        std::mem::replace(&mut self.met[text as usize], self.round) != self.round
    }
}

/// A text's characters as a set of 256 bits, to bound what two texts share in a few nanoseconds: two
/// characters may have one bit, so the bound is never too low.
struct Letters {
    bits: [u64; 4],
    /// Each character's bit and weight.
    each: Vec<(u8, u32)>,
    weight: u64,
}

/// [`Need::SharedOfLighter`](crate::text::sameness::Need) of reworded texts.
const LIGHTER: (u64, u64) = (3, 5);
/// [`Need::CommonSubsequence`](crate::text::sameness::Need) of near texts.
const NEAR: (u64, u64) = (17, 40);
/// The same of like-sounding ones.
const SOUND: (u64, u64) = (9, 20);

impl Letters {
    fn of(text: &str, weigh: impl Fn(char) -> u64) -> Letters {
        let mut letters = Letters { bits: [0; 4], each: Vec::new(), weight: 0 };
        for c in text.chars() {
            let bit = (u32::from(c).wrapping_mul(0x9e37_79b1) >> 24) as u8;
            letters.bits[usize::from(bit >> 6)] |= 1 << (bit & 63);
            letters.each.push((bit, weigh(c) as u32));
            letters.weight += weigh(c);
        }
        letters
    }

    /// At most how many of its characters, and how much of their weight, this text shares with another.
    fn shared_at_most(&self, other: &Letters) -> (u64, u64) {
        let (mut count, mut weight) = (0, 0);
        for (bit, each) in &self.each {
            let held = other.bits[usize::from(bit >> 6)] >> (bit & 63) & 1;
            count += held;
            weight += held * u64::from(*each);
        }
        (count, weight)
    }

    /// False only where no predicate over characters can hold: reworded, near, or one the opening of
    /// the other.
    fn may_be_alike(&self, other: &Letters) -> bool {
        let (count, weight) = self.shared_at_most(other);
        let (a, b) = (self.each.len() as u64, other.each.len() as u64);
        weight * LIGHTER.1 >= LIGHTER.0 * self.weight.min(other.weight)
            || count * NEAR.1 >= NEAR.0 * (a + b)
            || count >= a.min(b)
    }

    fn may_sound_alike(&self, other: &Letters) -> bool {
        let (count, _) = self.shared_at_most(other);
        count * SOUND.1 >= SOUND.0 * (self.each.len() + other.each.len()) as u64
    }
}

impl Doc {
    fn of(text: &str, weigh: &impl Fn(char) -> u64) -> Doc {
        let mut tokens: Vec<(Token, u64, u64)> = text
            .chars()
            .zip(text.chars().skip(1))
            .map(|(a, b)| (u64::from(u32::from(a)) << 32 | u64::from(u32::from(b)), 1, weigh(a) + weigh(b)))
            .collect();
        tokens.sort_unstable();
        tokens.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
                kept.2 += next.2;
            }
            same
        });
        let weight = tokens.iter().map(|(_, _, weight)| weight).sum();
        Doc { chars: text.chars().count() as u64, tokens, weight }
    }

    /// How many of the rarest tokens leave less than `least` of the weight behind them: a text that
    /// shares `least` with this one shares one of these.
    fn leaving_weight(&self, least: u64) -> usize {
        self.leaving(self.weight, least, |(_, _, weight)| *weight)
    }

    /// The same by count.
    fn leaving_count(&self, least: u64) -> usize {
        self.leaving(self.chars.saturating_sub(1), least, |(_, count, _)| *count)
    }

    fn leaving(&self, mut behind: u64, least: u64, measure: impl Fn(&(Token, u64, u64)) -> u64) -> usize {
        for (i, token) in self.tokens.iter().enumerate() {
            if behind < least.max(1) {
                return i;
            }
            behind -= measure(token);
        }
        self.tokens.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::sameness::{Need, Predicate, Ratio, predicates};

    fn brute(texts: &[String]) -> Vec<(String, String)> {
        let mut firsts: Vec<(&String, Prepared)> = Vec::new();
        for text in texts.iter().filter(|t| !t.trim().is_empty()) {
            let prepared = Prepared::new(text);
            if firsts.iter().all(|(_, first)| *first != prepared) {
                firsts.push((text, prepared));
            }
        }
        let mut pairs = Vec::new();
        for (i, (a, first)) in firsts.iter().enumerate() {
            for (b, second) in &firsts[i + 1..] {
                if compare_prepared(first, second).verdict != Verdict::Different {
                    pairs.push((a.to_string(), b.to_string()));
                }
            }
        }
        pairs.sort();
        pairs
    }

    fn joined(texts: &[String]) -> Vec<(String, String)> {
        let rows: Vec<&str> = texts.iter().map(String::as_str).collect();
        let found = alike(&rows);
        let text = |group: u32| texts[found.groups[group as usize][0] as usize].clone();
        let mut pairs: Vec<_> = found.pairs.iter().map(|p| (text(p.a), text(p.b))).collect();
        pairs.sort();
        pairs
    }

    fn posts() -> impl Strategy<Value = Vec<String>> {
        let words = ["云", "会", "恐高", "吗", "？", "为什么", "鱼", "口渴", "，", "医生", "一生", "第二期", "第三期", "不", "X", "Ｘ", "雲"];
        let word = prop::sample::select(words.to_vec());
        prop::collection::vec(prop::collection::vec(word, 0..14).prop_map(|w| w.concat()), 2..14)
    }

    proptest! {
        #[test]
        fn the_join_finds_what_brute_force_finds(mut texts in posts(), cut in 1usize..30) {
            // Copies, openings and texts with one word more, which random texts hardly make.
            let (first, last) = (texts[0].clone(), texts[texts.len() - 1].clone());
            texts.push(first.chars().take(cut).collect());
            texts.push(format!("{first}然后呢"));
            texts.push(format!("{last}{first}"));
            prop_assert_eq!(joined(&texts), brute(&texts));
        }
    }

    #[test]
    fn the_bounds_are_those_of_the_predicates() {
        let needs = |which| predicates().iter().find(|p| p.predicate == which).unwrap().needs;
        let ratio = |(num, den)| Ratio::new(num, den);
        assert!(needs(Predicate::Reworded).contains(&Need::SharedOfLighter(ratio(LIGHTER))));
        assert!(needs(Predicate::Reworded).contains(&Need::SharedPairsOfLighter(Ratio::new(1, 5))));
        assert!(needs(Predicate::Near).contains(&Need::CommonSubsequence(ratio(NEAR))));
        assert!(needs(Predicate::Sound).contains(&Need::CommonSubsequence(ratio(SOUND))));
        assert_eq!(predicates().len(), 5, "a new predicate needs its candidates here");
    }

    #[test]
    fn identical_rows_are_one_group() {
        let rows = vec!["云会恐高吗，鱼会口渴吗"; 50_000];
        let found = alike(&rows);
        assert_eq!((found.groups.len(), found.pairs.len()), (1, 0));
        assert_eq!(found.groups[0].len(), 50_000);
    }
}
