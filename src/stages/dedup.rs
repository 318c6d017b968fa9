//! Dedup: one record a joke. A record goes only into one that is itself kept and directly similar, so
//! a chain of likenesses never carries a joke into one that it does not resemble.
//!
//! Which record of a pair stays does not depend on the order of the input: records are ranked by the
//! keeper policy, then by id. In that order each one goes into the kept record that it resembles most,
//! or is kept itself.

use std::cmp::Reverse;

use rayon::prelude::*;

use super::{Pulse, StageError, Stop};
use crate::config::sections;
use crate::join::{AlikePair, AlikePairs, Joined, Metric, Pair, Query, Threshold, alike, self_join};
use crate::record::{Outcome, Post, Reason, Witness, record};
use crate::store::StageWriter;
use crate::text::normalise::{Fold, fold};
use crate::text::sameness::{Predicate, Verdict};

record! {
    /// Two records that are alike, down to the margin under the threshold.
    pub struct NearPair {
        /// The record that ranks first.
        a: String,
        /// The other.
        b: String,
        /// What the predicate measured, 0 to 1.
        score: f64,
        /// `same` or `borderline`.
        verdict: String,
        /// The predicate that decided.
        predicate: String,
        /// The veto that demoted the pair, if one did.
        veto: Option<String>,
        /// strsim's normalized Levenshtein of the two texts.
        levenshtein: f64,
        /// strsim's Jaro-Winkler of the two texts.
        jaro_winkler: f64,
        /// strsim's Sørensen-Dice of the two texts.
        sorensen_dice: f64,
    }
}

/// Two groups of texts that are alike.
#[derive(Clone, Copy, Debug)]
pub struct Like {
    /// A group.
    pub a: u32,
    /// Another.
    pub b: u32,
    /// 0 to 1.
    pub score: f64,
    /// Whether the two are one record, or a pair for a person to look at.
    pub same: bool,
    /// What decided.
    pub predicate: &'static str,
    /// What demoted them.
    pub veto: Option<&'static str>,
}

/// The predicate of pairs whose embeddings are near.
const COSINE: &str = "cosine";

/// Removes duplicates among posts.
///
/// # Errors
/// [`StageError`] where the stage cannot be written, or the user stopped.
pub fn dedup(
    posts: Vec<Post>,
    settings: &sections::Dedup,
    writer: &mut StageWriter<Post>,
    stop: &Stop,
    pulse: &dyn Pulse,
) -> Result<(), StageError> {
    let found = Found::among(&posts, settings);
    stop.check()?;
    let mut pairs: Vec<NearPair> =
        found.likes.par_iter().map(|like| near_pair(like, &found.heads, &posts, &found.ranks)).collect();
    pairs.sort_by(|x, y| (&x.a, &x.b).cmp(&(&y.a, &y.b)));
    let mut table = writer.table::<NearPair>("pairs")?;
    pairs.into_iter().for_each(|pair| table.put(pair));
    writer.keep(table)?;
    let outcomes = found.outcomes(&posts);
    for (post, outcome) in posts.into_iter().zip(outcomes) {
        writer.put(post.id.clone(), outcome.unwrap_or(Outcome::Kept(post)));
        pulse.advance(1);
    }
    Ok(writer.flush()?)
}

/// What [`dedup`] would do with each post, in order: a merge, or nothing where it is kept. `each_pair` sees
/// every pair of posts that are alike, by number.
pub(super) fn decide(
    posts: &[Post],
    settings: &sections::Dedup,
    mut each_pair: impl FnMut(u32, u32, Option<&Like>),
) -> Vec<Option<Outcome<Post>>> {
    let found = Found::among(posts, settings);
    row_pairs(&found.groups, &found.likes).for_each(|(a, b, like)| each_pair(a, b, like));
    found.outcomes(posts)
}

/// What [`dedup`] would do, and the pairs it lists, where texts that are near are the same only if `agree` says so of
/// the two posts, by number. `similar` are further pairs that are near, whatever the strings say.
pub(super) fn decide_where(
    posts: &[Post],
    settings: &sections::Dedup,
    similar: &[(usize, usize, f64)],
    agree: impl Fn(usize, usize) -> bool,
) -> (Vec<Option<Outcome<Post>>>, Vec<NearPair>) {
    let mut found = Found::among(posts, settings);
    let mut group_of = vec![0u32; posts.len()];
    for (rows, group) in found.groups.iter().zip(0u32..) {
        rows.iter().for_each(|row| group_of[*row as usize] = group);
    }
    let mut known: std::collections::BTreeMap<(u32, u32), usize> =
        found.likes.iter().enumerate().map(|(at, like)| ((like.a, like.b), at)).collect();
    for &(first, second, score) in similar {
        let (a, b) = (group_of[first].min(group_of[second]), group_of[first].max(group_of[second]));
        match known.get(&(a, b)) {
            _ if a == b => {}
            Some(&at) if found.likes[at].same => {}
            Some(&at) => found.likes[at] = Like { a, b, score, same: true, predicate: COSINE, veto: None },
            None => {
                known.insert((a, b), found.likes.len());
                found.likes.push(Like { a, b, score, same: true, predicate: COSINE, veto: None });
            }
        }
    }
    for like in &mut found.likes {
        like.same &= agree(found.heads[like.a as usize], found.heads[like.b as usize]);
    }
    let pair = |like: &Like| near_pair(like, &found.heads, posts, &found.ranks);
    let mut pairs: Vec<NearPair> = found.likes.iter().map(pair).collect();
    pairs.sort_by(|x, y| (&x.a, &x.b).cmp(&(&y.a, &y.b)));
    (found.outcomes(posts), pairs)
}

/// Groups of equal texts, what is alike among them, and who keeps whom.
struct Found {
    groups: Vec<Vec<u32>>,
    likes: Vec<Like>,
    ranks: Vec<u32>,
    heads: Vec<usize>,
}

impl Found {
    fn among(posts: &[Post], settings: &sections::Dedup) -> Found {
        let texts: Vec<&str> = posts.iter().map(|p| p.text.as_str()).collect();
        let (groups, likes) = likes(&texts, settings);
        let ranks = ranks(posts, settings);
        let heads = groups.iter().map(|rows| best(rows, &ranks)).collect();
        Found { groups, likes, ranks, heads }
    }

    fn outcomes(&self, posts: &[Post]) -> Vec<Option<Outcome<Post>>> {
        let keepers = keepers(&self.heads, &self.likes, &self.ranks);
        let mut outcomes: Vec<Option<Outcome<Post>>> = Vec::new();
        outcomes.resize_with(posts.len(), || None);
        for (group, rows) in self.groups.iter().enumerate() {
            let keeper = keepers[group];
            let into = keeper.map_or(self.heads[group], |k| self.heads[k.into as usize]);
            for &row in rows.iter().filter(|row| **row as usize != into) {
                outcomes[row as usize] = Some(merged(&posts[row as usize], &posts[into], keeper));
            }
        }
        outcomes
    }
}

/// Groups of texts that are the same for every purpose, and pairs of groups that are alike.
fn likes(texts: &[&str], settings: &sections::Dedup) -> (Vec<Vec<u32>>, Vec<Like>) {
    let metric = match settings.metric.as_str() {
        "levenshtein" => Metric::Levenshtein,
        "indel" => Metric::Indel,
        "jaccard" => Metric::Jaccard { n: 2 },
        _ => return default_likes(texts),
    };
    let folded: Vec<String> = match settings.normalize {
        true => texts.par_iter().map(|text| fold(text, Fold::KEY)).collect(),
        false => Vec::new(),
    };
    let folded: Vec<&str> =
        if settings.normalize { folded.iter().map(String::as_str).collect() } else { texts.to_vec() };
    let same = decimal(settings.threshold);
    let Joined { groups, pairs } =
        self_join(&folded, &Query { metric, threshold: decimal(settings.threshold - settings.margin) });
    let like = |pair: &Pair| Like {
        a: pair.a,
        b: pair.b,
        score: pair.score.value(),
        same: same.admits(pair.score),
        predicate: match metric {
            Metric::Levenshtein => "levenshtein",
            Metric::Indel => "indel",
            Metric::Jaccard { .. } => "jaccard",
        },
        veto: None,
    };
    let likes = pairs.iter().map(like).collect();
    (groups, likes)
}

fn default_likes(texts: &[&str]) -> (Vec<Vec<u32>>, Vec<Like>) {
    let AlikePairs { groups, pairs } = alike(texts);
    let like = |pair: &AlikePair| Like {
        a: pair.a,
        b: pair.b,
        score: pair.comparison.score,
        same: pair.comparison.verdict == Verdict::Same,
        predicate: pair.comparison.predicate.map_or("none", Predicate::name),
        veto: pair.comparison.veto.map(|v| v.name()),
    };
    let likes = pairs.iter().map(like).collect();
    (groups, likes)
}

/// A threshold as the decimal that was written: 0.8 is four fifths, not the double next to it. What is
/// not over 0 becomes the least there is.
fn decimal(threshold: f64) -> Threshold {
    let millionths = (threshold * 1e6).round().clamp(1.0, 1e6) as u32;
    Threshold::new(millionths, 1_000_000).unwrap_or(Threshold::ONE)
}

/// Every pair of rows that are alike, by row number, ascending, with what decided; rows of one group are
/// alike at 1. One pair at a time: identical rows by the hundred thousand fill no memory.
pub(super) fn row_pairs<'a>(
    groups: &'a [Vec<u32>],
    likes: &'a [Like],
) -> impl Iterator<Item = (u32, u32, Option<&'a Like>)> + 'a {
    let mut partners: Vec<Vec<(u32, Option<&Like>)>> =
        (0..groups.len() as u32).map(|own| vec![(own, None)]).collect();
    for like in likes {
        partners[like.a as usize].push((like.b, Some(like)));
        partners[like.b as usize].push((like.a, Some(like)));
    }
    let mut rows: Vec<(u32, u32)> = groups
        .iter()
        .zip(0u32..)
        .flat_map(|(rows, group)| rows.iter().map(move |row| (*row, group)))
        .collect();
    rows.sort_unstable();
    rows.into_iter().flat_map(move |(a, group)| {
        let later = |group: u32| {
            let rows = &groups[group as usize];
            &rows[rows.partition_point(|b| *b <= a)..]
        };
        let mut pairs: Vec<_> = partners[group as usize]
            .iter()
            .flat_map(|&(other, like)| later(other).iter().map(move |&b| (a, b, like)))
            .collect();
        pairs.sort_unstable_by_key(|(_, b, _)| *b);
        pairs
    })
}

/// Where each post stands in the keeper policy: 0 is kept before all others.
fn ranks(posts: &[Post], settings: &sections::Dedup) -> Vec<u32> {
    let mut order: Vec<u32> = (0..posts.len() as u32).collect();
    let chars: Vec<usize> = posts.par_iter().map(|p| p.text.chars().count()).collect();
    let id = |row: &u32| &posts[*row as usize].id;
    let long = |row: &u32| Reverse(chars[*row as usize]);
    match settings.keep.as_str() {
        "best-scored" => order.par_sort_by(|x, y| {
            let score = |row: &u32| posts[*row as usize].score.unwrap_or(f64::NEG_INFINITY);
            score(y).total_cmp(&score(x)).then_with(|| (long(x), id(x)).cmp(&(long(y), id(y))))
        }),
        "earliest" => order.par_sort_by_key(|row| {
            let time = posts[*row as usize].time.as_deref().and_then(seconds);
            (time.is_none(), time, id(row).clone())
        }),
        _ => order.par_sort_by_key(|row| (long(row), id(row).clone())),
    }
    let mut ranks = vec![0; posts.len()];
    for (rank, row) in order.into_iter().enumerate() {
        ranks[row as usize] = rank as u32;
    }
    ranks
}

/// Seconds since 1970 of the two forms that dumps have: a Unix time, or `2018-12-24 00:02` at UTC+8.
fn seconds(time: &str) -> Option<i64> {
    if let Ok(unix) = time.parse() {
        return Some(unix);
    }
    let mut numbers = time.split(|c: char| !c.is_ascii_digit()).map(|n| n.parse::<i64>().ok());
    let mut next = || numbers.next().flatten();
    let (year, month, day) = (next()?, next()?, next()?);
    let (hour, minute, second) = (next().unwrap_or(0), next().unwrap_or(0), next().unwrap_or(0));
    // Days from the civil calendar, with years that begin in March.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * y + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400) + (153 * m + 2) / 5 + day
        - 1
        - 719_468;
    Some(((days * 24 + hour - 8) * 60 + minute) * 60 + second)
}

fn best(rows: &[u32], ranks: &[u32]) -> usize {
    rows.iter().map(|row| *row as usize).min_by_key(|row| ranks[*row]).unwrap_or(0)
}

/// The group that a group goes into, and why.
#[derive(Clone, Copy)]
struct Keeper {
    into: u32,
    score: f64,
    predicate: &'static str,
}

/// In the order of rank, each group goes into the kept group that it is most like, or is kept.
fn keepers(heads: &[usize], likes: &[Like], ranks: &[u32]) -> Vec<Option<Keeper>> {
    let mut near: Vec<Vec<Keeper>> = vec![Vec::new(); heads.len()];
    for like in likes.iter().filter(|like| like.same) {
        let (score, predicate) = (like.score, like.predicate);
        near[like.a as usize].push(Keeper { into: like.b, score, predicate });
        near[like.b as usize].push(Keeper { into: like.a, score, predicate });
    }
    let rank = |group: u32| ranks[heads[group as usize]];
    let mut order: Vec<u32> = (0..heads.len() as u32).collect();
    order.sort_unstable_by_key(|group| rank(*group));
    let mut keepers: Vec<Option<Keeper>> = vec![None; heads.len()];
    for group in order {
        let kept = near[group as usize]
            .iter()
            .filter(|other| rank(other.into) < rank(group) && keepers[other.into as usize].is_none());
        keepers[group as usize] = kept
            .copied()
            .max_by(|x, y| x.score.total_cmp(&y.score).then_with(|| rank(y.into).cmp(&rank(x.into))));
    }
    keepers
}

fn near_pair(like: &Like, heads: &[usize], posts: &[Post], ranks: &[u32]) -> NearPair {
    let (mut a, mut b) = (heads[like.a as usize], heads[like.b as usize]);
    if ranks[b] < ranks[a] {
        (a, b) = (b, a);
    }
    let Witness { levenshtein, jaro_winkler, sorensen_dice } = witness(&posts[a].text, &posts[b].text);
    NearPair {
        a: posts[a].id.clone(),
        b: posts[b].id.clone(),
        score: like.score,
        verdict: if like.same { "same" } else { "borderline" }.into(),
        predicate: like.predicate.into(),
        veto: like.veto.map(str::to_string),
        levenshtein,
        jaro_winkler,
        sorensen_dice,
    }
}

fn merged(post: &Post, into: &Post, like: Option<Keeper>) -> Outcome<Post> {
    let Witness { levenshtein, jaro_winkler, sorensen_dice } = witness(&post.text, &into.text);
    let figures =
        format!("levenshtein {levenshtein:.4}, jaro-winkler {jaro_winkler:.4}, dice {sorensen_dice:.4}");
    let (reason, score, predicate) = match like {
        None => (Reason::ExactDuplicate, 1.0, Predicate::Identical.name()),
        Some(k) if k.predicate == Predicate::Identical.name() => {
            (Reason::ExactDuplicate, k.score, k.predicate)
        }
        Some(k) => (Reason::NearDuplicate, k.score, k.predicate),
    };
    Outcome::Merged { into: into.id.clone(), reason, score, evidence: format!("{predicate}; {figures}") }
}

/// The figures of a merge that any string library gives for the same two texts.
pub fn witness(a: &str, b: &str) -> Witness {
    Witness {
        levenshtein: strsim::normalized_levenshtein(a, b),
        jaro_winkler: strsim::jaro_winkler(a, b),
        sorensen_dice: strsim::sorensen_dice(a, b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn like(a: u32, b: u32, score: f64) -> Like {
        Like { a, b, score, same: true, predicate: "near", veto: None }
    }

    #[test]
    fn a_chain_of_likenesses_is_no_bridge() {
        // 0 ~ 1 ~ 2, but not 0 ~ 2.
        let keepers = keepers(&[0, 1, 2], &[like(0, 1, 0.9), like(1, 2, 0.95)], &[0, 1, 2]);
        assert_eq!(keepers[1].map(|k| k.into), Some(0));
        assert!(keepers[2].is_none(), "its only likeness was merged away");
    }

    #[test]
    fn the_likest_kept_record_takes_it() {
        let keepers = keepers(&[0, 1, 2], &[like(0, 2, 0.85), like(1, 2, 0.95)], &[0, 1, 2]);
        assert_eq!(keepers[2].map(|k| k.into), Some(1));
    }

    #[test]
    fn times_of_both_forms_compare() {
        assert_eq!(seconds("1545580920"), Some(1_545_580_920));
        assert_eq!(seconds("2018-12-24 00:02"), Some(1_545_580_920));
        assert_eq!(seconds("昨天"), None);
    }
}
