//! The outcome of each post: from the comparison of texts, and from people's decisions, which take precedence.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::NearPair;
use super::decided::{DECISION, PairDecisions, RowMerge, order_pair};
use super::posts::{Posts, disk_error};
use crate::stages::StageError;
use riddlemill_record::{Outcome, Post, Reason, Witness};
use riddlemill_review::decisions::{Decision, Pairing, StageDecisions, seen_pair};
use riddlemill_text::join::Watch;
use riddlemill_text::offline::dedup::{
    Found, Gone, Keeper, PairsOnDisk, SimilarPair, gone_on_disk, heads_of_groups, measure_witness,
    merged_text,
};

/// Pairs that are measured and handed over together.
const BATCH: usize = 1 << 13;

/// The outcomes of posts. Each is computed on request: a million of them would take too much memory.
pub(super) struct DedupOutcomes<'a> {
    /// What each post is merged into by the rule alone, and why.
    rule: Vec<Gone>,
    /// People's decisions, if there are any about these posts.
    people: Option<People<'a>>,
    /// The similar pairs, by groups.
    similar_pairs: FoundPairs,
    /// The post of each group that ranks first.
    heads: Vec<usize>,
    ranks: Vec<u32>,
    /// The verdicts on pairs that people decided about.
    words: BTreeMap<(u32, u32), &'static str>,
}

/// Pairs that a join found, in their order.
pub(super) enum FoundPairs {
    /// In memory.
    InMemory(Vec<SimilarPair>),
    /// On disk, where there may be more than memory holds.
    OnDisk(PairsOnDisk),
}

impl FoundPairs {
    /// How many there are.
    pub fn count_pairs(&self) -> usize {
        match self {
            FoundPairs::InMemory(pairs) => pairs.len(),
            FoundPairs::OnDisk(pairs) => pairs.len(),
        }
    }

    /// All of them, in memory.
    pub fn load_pairs(self) -> Result<Vec<SimilarPair>, StageError> {
        match self {
            FoundPairs::InMemory(pairs) => Ok(pairs),
            FoundPairs::OnDisk(pairs) => pairs.into_memory().map_err(disk_error),
        }
    }
}

/// The merges of posts about which people decided.
struct People<'a> {
    goes: FxHashMap<usize, RowMerge<'a>>,
    /// Decisions that keep posts apart from others.
    apart: BTreeMap<u32, &'a Decision>,
}

impl<'a> DedupOutcomes<'a> {
    /// From the result of a join and people's decisions about these posts.
    pub fn from_found<P: Posts + ?Sized>(
        found: Found,
        posts: &'a P,
        decisions: &'a StageDecisions,
    ) -> Result<Self, StageError> {
        let rule = found.merged_rows();
        let Found { groups, similar_pairs, ranks, heads } = found;
        DedupOutcomes::new(
            rule,
            (groups, heads),
            FoundPairs::InMemory(similar_pairs),
            ranks,
            posts,
            decisions,
        )
    }

    /// The same for pairs on disk.
    pub fn from_disk<P: Posts + ?Sized>(
        groups: Vec<Vec<u32>>,
        pairs: PairsOnDisk,
        ranks: Vec<u32>,
        posts: &'a P,
        decisions: &'a StageDecisions,
        watch: &dyn Watch,
    ) -> Result<Self, StageError> {
        let heads = heads_of_groups(&groups, &ranks);
        let rule = gone_on_disk(&groups, &heads, &ranks, &pairs, watch).map_err(disk_error)?;
        DedupOutcomes::new(rule, (groups, heads), FoundPairs::OnDisk(pairs), ranks, posts, decisions)
    }

    /// If people decided about any of these posts, all pairs are loaded: one decision may change the outcomes of other
    /// posts.
    fn new<P: Posts + ?Sized>(
        rule: Vec<Gone>,
        (groups, heads): (Vec<Vec<u32>>, Vec<usize>),
        similar_pairs: FoundPairs,
        ranks: Vec<u32>,
        posts: &'a P,
        decisions: &'a StageDecisions,
    ) -> Result<Self, StageError> {
        let pairings = pairings_of_posts(posts, decisions)?;
        if !pairings.is_empty() {
            return Ok(DedupOutcomes::apply_decisions(
                rule,
                groups,
                similar_pairs.load_pairs()?,
                ranks,
                &pairings,
            ));
        }
        Ok(DedupOutcomes { rule, people: None, similar_pairs, heads, ranks, words: BTreeMap::new() })
    }

    /// Applies people's decisions on top of the rule.
    fn apply_decisions(
        rule: Vec<Gone>,
        groups: Vec<Vec<u32>>,
        similar_pairs: Vec<SimilarPair>,
        ranks: Vec<u32>,
        pairings: &[Pairing<'a>],
    ) -> Self {
        let decided = PairDecisions::new(groups, similar_pairs, &ranks, pairings);
        let people = People {
            goes: decided.merge_targets(&ranks).into_iter().collect(),
            apart: decided.separating_decisions(),
        };
        let words = decided.words_of_pairs();
        let PairDecisions { mut similar_pairs, heads, .. } = decided;
        // A pair that people decided about is listed even if no predicate found it.
        let known: BTreeSet<(u32, u32)> =
            similar_pairs.iter().map(|like| order_pair(like.a, like.b)).collect();
        for ((a, b), word) in words.iter().filter(|(pair, _)| !known.contains(pair)) {
            let score = if *word == "joined" { 1.0 } else { 0.0 };
            let (a, b) = (*a, *b);
            similar_pairs.push(SimilarPair { a, b, score, same: false, predicate: DECISION, veto: None });
        }
        let similar_pairs = FoundPairs::InMemory(similar_pairs);
        DedupOutcomes { rule, people: Some(people), similar_pairs, heads, ranks, words }
    }

    /// How many pairs [`DedupOutcomes::put_near_pairs`] gives.
    pub fn pair_count(&self) -> usize {
        self.similar_pairs.count_pairs()
    }

    /// The outcome of one post; `None` if it is kept unchanged.
    pub fn outcome_of_post<P: Posts + ?Sized>(
        &self,
        row: usize,
        post: &Post,
        posts: &P,
    ) -> Result<Option<Outcome<Post>>, StageError> {
        let merged = |into: usize, keeper| {
            Ok::<_, StageError>(merged_text(&post.text, (posts.id(into), &posts.text_of_post(into)?), keeper))
        };
        let by_rule = || self.rule[row].map(|(into, keeper)| merged(into, keeper)).transpose();
        let Some(people) = &self.people else { return by_rule() };
        let outcome = match people.goes.get(&row) {
            None => None,
            Some(&RowMerge::ByRule(into, found)) => {
                let keeper = found.map(|(score, predicate)| Keeper { into: 0, score, predicate });
                Some(merged(into, keeper)?)
            }
            Some(&RowMerge::ByDecision(into, decision)) => Some(Outcome::Merged {
                into: posts.id(into).into(),
                reason: Reason::DecidedOne,
                score: 1.0,
                evidence: format!("{decision}; {}", describe_outcome(by_rule()?.as_ref())),
            }),
        };
        // A record that is kept because two were split gets the rule's decision as evidence.
        let Some(decision) = people.apart.get(&(row as u32)) else { return Ok(outcome) };
        let rule = by_rule()?;
        let Some(Outcome::Merged { into: before, .. }) = &rule else { return Ok(outcome) };
        let why = format!("{decision}; {}", describe_outcome(rule.as_ref()));
        Ok(match outcome {
            Some(Outcome::Merged { into, reason, score, evidence }) => {
                // If the rule would merge it into the same post, the split changed nothing for it.
                let evidence = if into == *before { evidence } else { format!("{evidence}; {why}") };
                Some(Outcome::Merged { into, reason, score, evidence })
            }
            _ => Some(Outcome::Changed {
                row: post.clone(),
                rule: Reason::DecidedTwo.code(),
                evidence: why.into(),
                before: String::new(),
                after: String::new(),
            }),
        })
    }

    /// The table of all similar pairs, in the order of the ids, some pairs at a time. `places` are
    /// those of the ids ([`places_of_ids`](super::posts::places_of_ids)). It ends early if a stop was requested.
    pub fn put_near_pairs<P: Posts + ?Sized>(
        &self,
        posts: &P,
        places: &[u32],
        watch: &dyn Watch,
        mut put: impl FnMut(Vec<NearPair>) -> Result<(), StageError>,
    ) -> Result<(), StageError> {
        let pair = |like: &SimilarPair| {
            let pair = near_pair(like, self.posts_of_pair(like), posts)?;
            Ok(match self.words.get(&order_pair(like.a, like.b)) {
                Some(word) => NearPair { verdict: (*word).into(), ..pair },
                None => pair,
            })
        };
        let mut put = |batch: &[SimilarPair]| match watch.is_stopped() {
            true => Ok(false),
            false => {
                put(batch.par_iter().map(pair).collect::<Result<_, StageError>>()?)?;
                Ok::<_, StageError>(true)
            }
        };
        let key = |like: &SimilarPair| {
            let (a, b) = self.posts_of_pair(like);
            (places[a], places[b])
        };
        let pairs = match &self.similar_pairs {
            FoundPairs::InMemory(pairs) => pairs,
            FoundPairs::OnDisk(pairs) => {
                let mut sorted = pairs.sorted_by(watch, |like| Some(key(like))).map_err(disk_error)?;
                loop {
                    let batch = sorted.by_ref().take(BATCH).map(|found| found.map(|(_, pair)| pair));
                    let batch = batch.collect::<Result<Vec<_>, _>>().map_err(disk_error)?;
                    if batch.is_empty() || !put(&batch)? {
                        return Ok(());
                    }
                }
            }
        };
        // The pairs are borrowed, so their places are sorted instead.
        let mut order: Vec<((u32, u32), u32)> =
            pairs.par_iter().zip(0..pairs.len() as u32).map(|(like, at)| (key(like), at)).collect();
        order.par_sort_unstable();
        for batch in order.chunks(BATCH) {
            if !put(&batch.iter().map(|(_, at)| pairs[*at as usize]).collect::<Vec<_>>())? {
                break;
            }
        }
        Ok(())
    }

    /// The posts of a pair; the one that ranks first is first.
    fn posts_of_pair(&self, like: &SimilarPair) -> (usize, usize) {
        let (a, b) = (self.heads[like.a as usize], self.heads[like.b as usize]);
        if self.ranks[b] < self.ranks[a] { (b, a) } else { (a, b) }
    }
}

/// What people decided about these posts.
fn pairings_of_posts<'a, P: Posts + ?Sized>(
    posts: &'a P,
    decisions: &'a StageDecisions,
) -> Result<Vec<Pairing<'a>>, StageError> {
    // The closure for texts cannot return an error, so it is kept here and returned afterwards.
    let failed = RefCell::new(None);
    let text = |post: u32| {
        posts.text_of_post(post as usize).unwrap_or_else(|error| {
            failed.replace(Some(error));
            "".into()
        })
    };
    let seen = |a: u32, b: u32| {
        let id = |post: u32| posts.id(post as usize);
        seen_pair((id(a), &text(a)), (id(b), &text(b)))
    };
    let pairings = decisions.find_pairings((0..posts.count_posts()).map(|post| posts.id(post)), seen);
    failed.into_inner().map_or(Ok(()), Err)?;
    Ok(pairings)
}

/// What the rule alone does with a record.
fn describe_outcome(outcome: Option<&Outcome<Post>>) -> String {
    outcome.map_or_else(|| "by rule kept".to_string(), crate::stages::overrule::by_rule)
}

fn near_pair<P: Posts + ?Sized>(
    like: &SimilarPair,
    (a, b): (usize, usize),
    posts: &P,
) -> Result<NearPair, StageError> {
    let Witness { levenshtein, jaro_winkler, sorensen_dice } =
        measure_witness(&posts.text_of_post(a)?, &posts.text_of_post(b)?);
    Ok(NearPair {
        a: posts.id(a).into(),
        b: posts.id(b).into(),
        score: like.score,
        verdict: if like.same { "same" } else { "borderline" }.into(),
        predicate: like.predicate.into(),
        veto: like.veto.map(str::to_string),
        levenshtein,
        jaro_winkler,
        sorensen_dice,
    })
}
