//! Similar texts, by the metric in the settings.

use std::borrow::Cow;

use rayon::prelude::*;

use crate::join::{
    AlikePair, AlikePairs, Joined, Metric, Pair, Query, Threshold, Watch, self_join_watched,
    similarity_join_watched,
};
use crate::offline::settings::DedupMetric;
use crate::offline::{language_of, settings};
use crate::text::language::{split_tag, tag_language};
use crate::text::normalise::{Fold, fold};
use crate::text::sameness::{Predicate, Verdict};
use riddlemill_record::{Language, Post};

/// Two similar groups of equal texts.
#[derive(Clone, Copy, Debug)]
pub struct SimilarPair {
    /// The first group.
    pub a: u32,
    /// The second group.
    pub b: u32,
    /// 0 to 1.
    pub score: f64,
    /// Whether the two are merged, or only shown to a person as a close pair.
    pub same: bool,
    /// The predicate that decided.
    pub predicate: &'static str,
    /// The veto that kept them from being merged.
    pub veto: Option<&'static str>,
}

/// The text of a post with its language, as joins take it. `stated` is the language of posts that have none.
pub fn tagged_text(post: &Post, stated: Option<Language>) -> Cow<'_, str> {
    tag_language(&post.text, language_of(post, stated, || post.text.clone()))
}

/// The join query for the settings, down to the margin; `None` for the default similarity.
pub fn join_query(settings: &settings::Dedup) -> Option<Query> {
    let metric = match settings.metric {
        DedupMetric::Levenshtein => Metric::Levenshtein,
        DedupMetric::Indel => Metric::Indel,
        DedupMetric::Jaccard => Metric::Jaccard { n: 2 },
        // A threshold of 1 finds equal texts only.
        DedupMetric::Exact => {
            return Some(Query { metric: Metric::Indel, threshold: decimal_threshold(1.0) });
        }
        DedupMetric::Default => return None,
    };
    Some(Query { metric, threshold: decimal_threshold(settings.threshold - settings.margin) })
}

/// A metric's name in ledgers and reports.
pub fn metric_name(metric: Metric) -> &'static str {
    match metric {
        Metric::Levenshtein => "levenshtein",
        Metric::Indel => "indel",
        Metric::Jaccard { .. } => "jaccard",
        Metric::Reworded { .. } => "reworded",
    }
}

/// Groups of texts that count as equal, and pairs of similar groups. The texts are [tagged](tagged_text) with their languages,
/// which the default similarity follows; other metrics compare strings.
pub fn similar_pairs(
    texts: &[&str],
    settings: &settings::Dedup,
    watch: &dyn Watch,
) -> (Vec<Vec<u32>>, Vec<SimilarPair>) {
    let Some(query) = join_query(settings) else { return default_likes(texts, watch) };
    let texts: Vec<&str> = texts.iter().map(|text| split_tag(text).1).collect();
    let folded: Vec<String> = match settings.normalize {
        true => texts.par_iter().map(|text| fold(text, Fold::KEY)).collect(),
        false => Vec::new(),
    };
    let folded: Vec<&str> =
        if settings.normalize { folded.iter().map(String::as_str).collect() } else { texts };
    let Joined { groups, pairs, .. } = self_join_watched(&folded, &query, watch);
    let same = decimal_threshold(settings.threshold);
    let similar_pairs = pairs.iter().map(|pair| similar_by_metric(pair, query.metric, same)).collect();
    (groups, similar_pairs)
}

pub(super) fn similar_by_metric(pair: &Pair, metric: Metric, same: Threshold) -> SimilarPair {
    SimilarPair {
        a: pair.a,
        b: pair.b,
        score: pair.score.value(),
        same: same.admits(pair.score),
        predicate: metric_name(metric),
        veto: None,
    }
}

fn default_likes(texts: &[&str], watch: &dyn Watch) -> (Vec<Vec<u32>>, Vec<SimilarPair>) {
    let AlikePairs { groups, pairs, .. } = similarity_join_watched(texts, watch);
    (groups, pairs.iter().map(similar_by_comparison).collect())
}

pub(super) fn similar_by_comparison(pair: &AlikePair) -> SimilarPair {
    SimilarPair {
        a: pair.a,
        b: pair.b,
        score: pair.comparison.score,
        same: pair.comparison.verdict == Verdict::Same,
        predicate: pair.comparison.predicate.map_or("none", Predicate::name),
        veto: pair.comparison.veto.map(|v| v.name()),
    }
}

/// A threshold as the decimal that was written: 0.8 is four fifths, not the nearest double. Values that are
/// not above 0 become the smallest threshold.
pub fn decimal_threshold(threshold: f64) -> Threshold {
    let millionths = (threshold * 1e6).round().clamp(1.0, 1e6) as u32;
    Threshold::new(millionths, 1_000_000).unwrap_or(Threshold::ONE)
}

/// Every pair of similar rows, ascending by row number, with its predicate; rows of one group are similar at
/// 1. An iterator, because hundreds of thousands of identical rows would fill the memory.
pub fn row_pairs<'a>(
    groups: &'a [Vec<u32>],
    similar_pairs: &'a [SimilarPair],
) -> impl Iterator<Item = (u32, u32, Option<&'a SimilarPair>)> + 'a {
    let mut partners: Vec<Vec<(u32, Option<&SimilarPair>)>> =
        (0..groups.len() as u32).map(|own| vec![(own, None)]).collect();
    for like in similar_pairs {
        partners[like.a as usize].push((like.b, Some(like)));
        partners[like.b as usize].push((like.a, Some(like)));
    }
    with_groups(groups).into_iter().flat_map(move |(a, group)| {
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

/// Every row with its group, in the order of the rows.
pub(super) fn with_groups(groups: &[Vec<u32>]) -> Vec<(u32, u32)> {
    let mut rows: Vec<(u32, u32)> = groups
        .iter()
        .zip(0u32..)
        .flat_map(|(rows, group)| rows.iter().map(move |row| (*row, group)))
        .collect();
    rows.sort_unstable();
    rows
}
