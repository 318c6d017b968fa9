//! The stage: posts in, one outcome each out, and a table of all that is alike.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::decided::{DECISION, Decided, Goes, ordered};
use crate::config::sections;
use crate::stages::{Pulse, StageError, Stop, Waiting};
use riddlemill_review::decisions::{StageDecisions, seen_pair};
use riddlemill_tables::StageWriter;
use riddlemill_text::join::Watch;
use riddlemill_text::offline::dedup::{Found, Keeper, SimilarPair, merged, witness};
use riddlemill_text::record::{Outcome, Post, Reason, Record, Witness, is_published, record};

record! {
    /// Two records that are alike, down to the margin under the threshold.
    pub struct NearPair {
        /// The record that ranks first.
        a: String,
        /// The other.
        b: String,
        /// What the predicate measured, 0 to 1.
        score: f64,
        /// `same` or `borderline`; where a person decided, `joined` or `split`.
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

/// Removes duplicates among posts, as the texts and people's decisions say.
///
/// # Errors
/// [`StageError`] where the stage cannot be written, or the user stopped.
pub fn dedup(
    posts: Vec<Post>,
    settings: &sections::Dedup,
    decisions: &StageDecisions,
    writer: &mut StageWriter<Post>,
    stop: &Stop,
    pulse: &dyn Pulse,
) -> Result<(), StageError> {
    let count = posts.len() as u64;
    // Some records are left for the writing, which is the stage's end.
    let (joined, written) = (count - count / WRITING, count / WRITING);
    let found = Found::among(&posts, settings, &Waiting::new(stop, pulse, joined));
    stop.check()?;
    let (outcomes, pairs) = decided(found, &posts, decisions, &|| stop.asked());
    stop.check()?;
    emptied(&posts, &outcomes).iter().for_each(|words| pulse.tell(words));
    let mut table = writer.table::<NearPair>("pairs")?;
    pairs.iter().for_each(|pair| table.put(pair));
    writer.keep(table)?;
    let written = Waiting::new(stop, pulse, written);
    for (post, outcome) in posts.into_iter().zip(outcomes) {
        let id = post.id.clone();
        let outcome = match outcome {
            Some(outcome) => unmerged(&post, outcome, Post::clone),
            None => Outcome::Kept(post),
        };
        writer.put(&id, &outcome);
        written.advance(1.0 / count as f64);
        stop.check()?;
    }
    Ok(writer.flush()?)
}

/// Of a source with fewer posts nobody is told that half of them went: chance does that.
const MANY_OF_A_SOURCE: usize = 10;

/// A line on each source of which over half of the posts go into others: a dump that is there twice, or a rule that
/// takes its posts for one.
fn emptied(posts: &[Post], outcomes: &[Option<Outcome<Post>>]) -> Vec<String> {
    let mut of_source: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (post, outcome) in posts.iter().zip(outcomes) {
        let (all, gone) = of_source.entry(&post.source).or_default();
        *all += 1;
        *gone += usize::from(matches!(outcome, Some(Outcome::Merged { .. })));
    }
    let told = |(source, (all, gone)): (&str, (usize, usize))| {
        (all >= MANY_OF_A_SOURCE && 2 * gone > all).then(|| {
            format!(
                "dedup: {gone} of {all} posts of `{source}` went into others; is it there twice? \
                 `riddlemill show dedup --outcome merged` lists them"
            )
        })
    };
    of_source.into_iter().filter_map(told).collect()
}

/// A published record stays where a rule would merge it into another; where a person joined the two, it goes.
pub(in crate::stages) fn unmerged<R: Record>(
    record: &R,
    outcome: Outcome<R>,
    row: impl FnOnce(&R) -> R,
) -> Outcome<R> {
    match &outcome {
        Outcome::Merged { reason, evidence, .. }
            if is_published(record.id()) && *reason != Reason::DecidedOne =>
        {
            Outcome::Changed {
                row: row(record),
                rule: Reason::Published.code(),
                evidence: format!("{}: {evidence}", crate::stages::overrule::by_rule(&outcome)),
                before: String::new(),
                after: String::new(),
            }
        }
        _ => outcome,
    }
}

/// One in so many records of the bar stands for the writing.
const WRITING: u64 = 20;

/// The predicate of pairs whose embeddings are near.
const COSINE: &str = "cosine";

/// What [`dedup`] would do, and the pairs it lists, where texts that are near are the same only if `agree` says so of
/// the two posts, by number. `similar` are further pairs that are near, whatever the strings say.
pub(in crate::stages) fn decide_where(
    posts: &[Post],
    settings: &sections::Dedup,
    decisions: &StageDecisions,
    similar: &[(usize, usize, f64)],
    watch: &dyn Watch,
    agree: impl Fn(usize, usize) -> bool,
) -> (Vec<Option<Outcome<Post>>>, Vec<NearPair>) {
    let mut found = Found::among(posts, settings, watch);
    let mut group_of = vec![0u32; posts.len()];
    for (rows, group) in found.groups.iter().zip(0u32..) {
        rows.iter().for_each(|row| group_of[*row as usize] = group);
    }
    let mut known: BTreeMap<(u32, u32), usize> =
        found.similar_pairs.iter().enumerate().map(|(at, like)| ((like.a, like.b), at)).collect();
    for &(first, second, score) in similar {
        let (a, b) = (group_of[first].min(group_of[second]), group_of[first].max(group_of[second]));
        match known.get(&(a, b)) {
            _ if a == b => {}
            Some(&at) if found.similar_pairs[at].same => {}
            Some(&at) => {
                found.similar_pairs[at] =
                    SimilarPair { a, b, score, same: true, predicate: COSINE, veto: None }
            }
            None => {
                known.insert((a, b), found.similar_pairs.len());
                found.similar_pairs.push(SimilarPair {
                    a,
                    b,
                    score,
                    same: true,
                    predicate: COSINE,
                    veto: None,
                });
            }
        }
    }
    for like in &mut found.similar_pairs {
        like.same &= agree(found.heads[like.a as usize], found.heads[like.b as usize]);
    }
    decided(found, posts, decisions, &|| false)
}

/// What becomes of each post where people decided about pairs, and the table of all that is alike.
fn decided(
    found: Found,
    posts: &[Post],
    decisions: &StageDecisions,
    stopped: &(dyn Fn() -> bool + Sync),
) -> (Vec<Option<Outcome<Post>>>, Vec<NearPair>) {
    let ids = posts.iter().map(|post| post.id.as_str());
    let text = |row: u32| (posts[row as usize].id.as_str(), posts[row as usize].text.as_str());
    let pairings = decisions.pairings(ids, |a, b| seen_pair(text(a), text(b)));
    let by_rule = found.outcomes(posts);
    if pairings.is_empty() {
        let pairs =
            near_pairs(&found.similar_pairs, &found.heads, posts, &found.ranks, &BTreeMap::new(), stopped);
        return (by_rule, pairs);
    }
    let Found { groups, similar_pairs, ranks, .. } = found;
    let mut decided = Decided::new(groups, similar_pairs, &ranks, &pairings);
    let mut outcomes: Vec<Option<Outcome<Post>>> = Vec::new();
    outcomes.resize_with(posts.len(), || None);
    for (row, goes) in decided.goes(&ranks) {
        let post = &posts[row];
        outcomes[row] = Some(match goes {
            Goes::ByRule(into, found) => {
                let keeper = found.map(|(score, predicate)| Keeper { into: 0, score, predicate });
                merged(post, &posts[into], keeper)
            }
            Goes::ByDecision(into, decision) => Outcome::Merged {
                into: posts[into].id.clone(),
                reason: Reason::DecidedOne,
                score: 1.0,
                evidence: format!("{decision}; {}", told(by_rule[row].as_ref())),
            },
        });
    }
    // Who is kept because two were split is told with what the rule would have done.
    for (row, decision) in decided.apart() {
        let row = row as usize;
        let rule @ Some(Outcome::Merged { into: before, .. }) = by_rule[row].as_ref() else { continue };
        match &mut outcomes[row] {
            Some(Outcome::Merged { into, .. }) if into == before => {}
            Some(Outcome::Merged { evidence, .. }) => {
                evidence.push_str(&format!("; {decision}; {}", told(rule)));
            }
            kept => {
                *kept = Some(Outcome::Changed {
                    row: posts[row].clone(),
                    rule: Reason::DecidedTwo.code(),
                    evidence: format!("{decision}; {}", told(rule)),
                    before: String::new(),
                    after: String::new(),
                });
            }
        }
    }
    let words = decided.words();
    let known: std::collections::BTreeSet<(u32, u32)> =
        decided.similar_pairs.iter().map(|like| ordered(like.a, like.b)).collect();
    for ((a, b), word) in words.iter().filter(|(pair, _)| !known.contains(pair)) {
        let score = if *word == "joined" { 1.0 } else { 0.0 };
        let (a, b) = (*a, *b);
        decided.similar_pairs.push(SimilarPair { a, b, score, same: false, predicate: DECISION, veto: None });
    }
    let pairs = near_pairs(&decided.similar_pairs, &decided.heads, posts, &ranks, &words, stopped);
    (outcomes, pairs)
}

/// What the rule alone does with a record.
fn told(outcome: Option<&Outcome<Post>>) -> String {
    outcome.map_or_else(|| "by rule kept".to_string(), crate::stages::overrule::by_rule)
}

/// The table of all that is alike, with a word for the pairs that people decided about.
fn near_pairs(
    similar_pairs: &[SimilarPair],
    heads: &[usize],
    posts: &[Post],
    ranks: &[u32],
    words: &BTreeMap<(u32, u32), &'static str>,
    stopped: &(dyn Fn() -> bool + Sync),
) -> Vec<NearPair> {
    let pair = |like: &SimilarPair| {
        let pair = near_pair(like, heads, posts, ranks);
        match words.get(&ordered(like.a, like.b)) {
            Some(word) => NearPair { verdict: (*word).into(), ..pair },
            None => pair,
        }
    };
    // Whoever asked to stop takes none of them.
    let similar_pairs = similar_pairs.par_iter().filter(|_| !stopped());
    let mut pairs: Vec<NearPair> = similar_pairs.map(pair).collect();
    pairs.sort_by(|x, y| (&x.a, &x.b).cmp(&(&y.a, &y.b)));
    pairs
}

fn near_pair(like: &SimilarPair, heads: &[usize], posts: &[Post], ranks: &[u32]) -> NearPair {
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

#[cfg(test)]
mod tests {
    use riddlemill_text::record::Reason;

    use super::*;

    #[test]
    fn a_source_that_loses_over_half_of_its_posts_is_told() {
        let post = |source: &str, n: usize| Post {
            id: format!("{source}:{n}"),
            source: source.into(),
            ..Post::default()
        };
        let gone = || {
            let (reason, score) = (Reason::ExactDuplicate, 1.0);
            Some(Outcome::Merged { into: "first:0".into(), reason, score, evidence: String::new() })
        };
        let (mut posts, mut outcomes) = (Vec::new(), Vec::new());
        for (source, all, merged) in [("first", 20, 10), ("second", 20, 11), ("small", 4, 4)] {
            posts.extend((0..all).map(|n| post(source, n)));
            outcomes.extend((0..all).map(|n| if n < merged { gone() } else { None }));
        }
        let told = emptied(&posts, &outcomes);
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with("dedup: 11 of 20 posts of `second` went into others"), "{told:?}");
    }
}
