//! Which posts of the dumps published rows are: for each row the posts that are equal, else the nearest ones.
//!
//! Every row is compared with every post itself, never with what a cluster was merged into: of two rows that are near each
//! other, a post is the one that it equals. Posts that import or a rule set aside are compared like those that were kept.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use super::explain::last_passages;
use super::whereabouts::{Ending, RecordEnding, find_whereabouts};
use crate::config::{Config, Source, SourceKind, sections};
use crate::join::{Metric, Unwatched, plain_similarity};
use crate::recipe::Recipe;
use crate::record::{Post, is_published};
use crate::search::{DumpRecord, Search};
use crate::stages::{StageError, similar_pairs};
use crate::store::{StageReader, Workspace};
use crate::text::normalise::{Fold, fold};

/// Posts that share most with a row and are compared with it.
const CANDIDATES: usize = 8;

/// A published record that is no post of a dump, not even nearly.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RowWithoutPost {
    /// The published record.
    pub published: String,
    pub text: String,
    /// The post with the nearest text, whatever became of it; `None` if there are no posts.
    pub nearest: Option<FoundPost>,
}

/// A post of a dump, and the equal or similar published record.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoundPost {
    /// The published record.
    pub published: String,
    pub text: String,
    pub post: String,
    /// The post's text.
    pub post_text: String,
    /// Its place: `source/file:position`.
    pub place: String,
    /// When it was written, by its source.
    pub time: Option<String>,
    /// Their similarity, 0 to 1.
    pub score: f64,
    /// `equal` if not a byte differs, `exact_duplicate` if only what comparisons ignore does, `near_duplicate`, `borderline`
    /// if both remain separate records, or `nearest` if they are not the same.
    pub how: String,
    /// What became of the post: `kept`, or the stage that it left, and how.
    pub ended: String,
}

/// The posts that rows are, and the rows that are no post.
pub(super) struct Attributed {
    /// One entry a post: the row that it is.
    pub found: Vec<FoundPost>,
    pub without: Vec<RowWithoutPost>,
}

/// A post that rows are compared with.
struct Text {
    /// The post's id, or its place if it has none.
    id: String,
    text: String,
    key: String,
    place: String,
    time: Option<String>,
    /// If it did not reach dedup: as it is in its dump.
    aside: Option<DumpRecord>,
}

/// A post that may be a row: how alike they are.
#[derive(Clone, Copy)]
struct SourceCandidate {
    source: usize,
    how: LikenessKind,
    score: f64,
}

/// How a post and a row are alike, the surest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LikenessKind {
    Equal,
    Exact,
    Near,
    Borderline,
    Nearest,
}

impl LikenessKind {
    fn code(self) -> &'static str {
        match self {
            LikenessKind::Equal => "equal",
            LikenessKind::Exact => "exact_duplicate",
            LikenessKind::Near => "near_duplicate",
            LikenessKind::Borderline => "borderline",
            LikenessKind::Nearest => "nearest",
        }
    }
}

/// Attributes the posts of all dumps to the published rows among the posts that enter dedup.
pub(super) fn attribute_rows(
    config: &Config,
    recipe: &'static Recipe,
    entering: &StageReader,
    likeness: &sections::Dedup,
) -> Result<Attributed, StageError> {
    let mut rows: Vec<Post> = Vec::new();
    let mut sources: Vec<Text> = Vec::new();
    for part in entering.read_parts::<Post>("rows") {
        for post in part? {
            match is_published(&post.id) {
                true => rows.push(post),
                false => sources.push(Text {
                    place: format!("{}/{}:{}", post.source, post.file, post.position),
                    key: fold(&post.text, Fold::KEY),
                    id: post.id,
                    text: post.text,
                    time: post.time,
                    aside: None,
                }),
            }
        }
    }
    let known: FxHashSet<String> = sources.iter().map(|source| source.id.clone()).collect();
    let sets: Vec<&Source> =
        config.sources.iter().filter(|source| source.kind == SourceKind::Published).collect();
    Search::open(config)?.for_each_record(|record| {
        let of_set = |set: &&Source| {
            record.locator.dump().strip_prefix(&set.name).is_some_and(|rest| rest.starts_with('/'))
        };
        let of_published = sets.iter().any(of_set);
        if of_published || record.ids.iter().any(|id| known.contains(id)) || record.verbatim.trim().is_empty()
        {
            return;
        }
        sources.push(Text {
            id: record.ids.first().cloned().unwrap_or_else(|| record.locator.to_string()),
            text: record.verbatim.trim().to_owned(),
            key: fold(&record.verbatim, Fold::KEY),
            place: record.locator.to_string(),
            time: None,
            aside: Some(record),
        });
    });
    let index = Index::new(&rows, &sources);
    let candidates: Vec<Vec<SourceCandidate>> = rows
        .par_iter()
        .map(|row| compare_row(row, &index.find_nearest(&row.text), &sources, likeness))
        .collect();

    // A post is one row: the one that it equals, else the one that it is most like.
    let mut best: BTreeMap<usize, (usize, SourceCandidate)> = BTreeMap::new();
    for (row, candidates) in candidates.iter().enumerate() {
        for candidate in candidates.iter().filter(|candidate| candidate.how < LikenessKind::Nearest) {
            let is_better = best
                .get(&candidate.source)
                .is_none_or(|(_, known)| (candidate.how, -candidate.score) < (known.how, -known.score));
            if is_better {
                best.insert(candidate.source, (row, *candidate));
            }
        }
    }
    let of_rows: BTreeSet<usize> = best.values().map(|(row, _)| *row).collect();
    let nearest = |row: usize| {
        candidates[row]
            .iter()
            .copied()
            .min_by(|a, b| b.score.total_cmp(&a.score).then(a.source.cmp(&b.source)))
    };
    let without: Vec<(usize, Option<SourceCandidate>)> =
        (0..rows.len()).filter(|row| !of_rows.contains(row)).map(|row| (row, nearest(row))).collect();
    let named = best.keys().copied().chain(without.iter().filter_map(|(_, near)| Some((*near)?.source)));
    let ended = ends_of_posts(&Workspace::new(&config.root), recipe, &sources, &named.collect())?;
    let found_post = |row: &Post, candidate: SourceCandidate| {
        let source = &sources[candidate.source];
        let how = candidate.how.code().to_owned();
        FoundPost {
            published: row.id.clone(),
            text: row.text.clone(),
            post: source.id.clone(),
            post_text: source.text.clone(),
            place: source.place.clone(),
            time: source.time.clone(),
            score: candidate.score,
            how,
            ended: ended.get(&candidate.source).cloned().unwrap_or_else(|| "not read".into()),
        }
    };
    let mut found: Vec<FoundPost> =
        best.values().map(|(row, candidate)| found_post(&rows[*row], *candidate)).collect();
    found.sort_by(|a, b| {
        a.published.cmp(&b.published).then(b.score.total_cmp(&a.score)).then(a.post.cmp(&b.post))
    });
    let without = without.into_iter().map(|(row, near)| RowWithoutPost {
        published: rows[row].id.clone(),
        text: rows[row].text.clone(),
        nearest: near.map(|near| found_post(&rows[row], near)),
    });
    Ok(Attributed { found, without: without.collect() })
}

/// How alike a row and each of some posts are.
fn compare_row(
    row: &Post,
    near: &[usize],
    sources: &[Text],
    likeness: &sections::Dedup,
) -> Vec<SourceCandidate> {
    let key = fold(&row.text, Fold::KEY);
    let texts: Vec<&str> =
        std::iter::once(row.text.as_str()).chain(near.iter().map(|at| sources[*at].text.as_str())).collect();
    let (groups, pairs) = similar_pairs(&texts, likeness, &Unwatched);
    let group = |text: u32| groups.iter().position(|group| group.contains(&text));
    let own = group(0);
    let compared = near.iter().zip(1..).map(|(at, text)| {
        let source = &sources[*at];
        let other = group(text);
        let pair = pairs.iter().find(|pair| {
            let both = (Some(pair.a as usize), Some(pair.b as usize));
            both == (own, other) || both == (other, own)
        });
        let (how, score) = match pair {
            _ if source.text == row.text => (LikenessKind::Equal, 1.0),
            _ if source.key == key || own.is_some() && own == other => (LikenessKind::Exact, 1.0),
            Some(pair) if pair.same => (LikenessKind::Near, pair.score),
            Some(pair) => (LikenessKind::Borderline, pair.score),
            None => (LikenessKind::Nearest, plain_similarity(Metric::Indel, &key, &source.key).value()),
        };
        SourceCandidate { source: *at, how, score }
    });
    compared.collect()
}

/// What became of posts.
fn ends_of_posts(
    workspace: &Workspace,
    recipe: &'static Recipe,
    sources: &[Text],
    named: &BTreeSet<usize>,
) -> Result<BTreeMap<usize, String>, StageError> {
    let mut ended = BTreeMap::new();
    let kept = || named.iter().filter(|at| sources[**at].aside.is_none());
    let ids: BTreeSet<&str> = kept().map(|at| sources[*at].id.as_str()).collect();
    let last = last_passages(workspace, recipe, &ids)?;
    for at in kept() {
        let passage = last.get(&sources[*at].id);
        let left = passage.filter(|passage| !["kept", "changed"].contains(&passage.outcome.as_str()));
        let reason = |reason: &String| format!(" ({reason})");
        ended.insert(
            *at,
            match left {
                None => "kept".into(),
                Some(passage) => format!(
                    "{} {}{}",
                    passage.stage,
                    passage.outcome,
                    passage.reason.as_ref().map(reason).unwrap_or_default()
                ),
            },
        );
    }
    let aside: Vec<(usize, DumpRecord)> =
        named.iter().filter_map(|at| Some((*at, sources[*at].aside.clone()?))).collect();
    let records: Vec<DumpRecord> = aside.iter().map(|(_, record)| record.clone()).collect();
    let words = |found: &RecordEnding| match (&found.outcome, found.ending) {
        (None, Ending::Waiting) => format!("waiting for {}", found.stage),
        (None, _) => "kept".into(),
        (Some(outcome), _) => {
            let reason = found.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
            format!("{} {outcome}{reason}", found.stage)
        }
    };
    for ((at, _), found) in aside.iter().zip(find_whereabouts(workspace, recipe, &records)?) {
        ended.insert(*at, found.as_ref().map_or_else(|| "no run has read it".into(), words));
    }
    Ok(ended)
}

/// The posts with each pair of neighbouring characters that is in a row.
struct Index<'s> {
    sources: &'s [Text],
    /// The posts with a pair, each once, in order.
    with: FxHashMap<(char, char), Vec<u32>>,
    /// How many different pairs each post has.
    sizes: Vec<u32>,
    equal: FxHashMap<&'s str, Vec<usize>>,
}

impl<'s> Index<'s> {
    fn new(rows: &[Post], sources: &'s [Text]) -> Index<'s> {
        let wanted: FxHashSet<(char, char)> =
            rows.par_iter().flat_map_iter(|row| text_bigrams(&fold(&row.text, Fold::KEY))).collect();
        let of_sources: Vec<FxHashSet<(char, char)>> =
            sources.par_iter().map(|source| text_bigrams(&source.key)).collect();
        let mut with: FxHashMap<(char, char), Vec<u32>> = FxHashMap::default();
        for (at, pairs) in of_sources.iter().enumerate() {
            for pair in pairs.iter().filter(|pair| wanted.contains(pair)) {
                with.entry(*pair).or_default().push(at as u32);
            }
        }
        let sizes = of_sources.iter().map(|pairs| pairs.len() as u32).collect();
        let mut equal: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for (at, source) in sources.iter().enumerate().filter(|(_, source)| !source.key.is_empty()) {
            equal.entry(&source.key).or_default().push(at);
        }
        Index { sources, with, sizes, equal }
    }

    /// The posts that are equal to a text but for what comparisons ignore, and those that share most pairs with it.
    fn find_nearest(&self, text: &str) -> Vec<usize> {
        let key = fold(text, Fold::KEY);
        let own = text_bigrams(&key);
        let mut shared: FxHashMap<u32, u32> = FxHashMap::default();
        for source in own.iter().filter_map(|pair| self.with.get(pair)).flatten() {
            *shared.entry(*source).or_default() += 1;
        }
        let dice = |source: u32, shared: u32| {
            f64::from(2 * shared) / f64::from(own.len() as u32 + self.sizes[source as usize])
        };
        let mut ranked: Vec<(f64, u32)> =
            shared.into_iter().map(|(source, shared)| (dice(source, shared), source)).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut found = self.equal.get(key.as_str()).cloned().unwrap_or_default();
        for (_, source) in ranked.into_iter().take(CANDIDATES) {
            if !found.contains(&(source as usize)) {
                found.push(source as usize);
            }
        }
        if found.is_empty() && !self.sources.is_empty() {
            // Nothing has a pair in common with it: any post is as near as any other.
            found.push(0);
        }
        found
    }
}

fn text_bigrams(key: &str) -> FxHashSet<(char, char)> {
    key.chars().zip(key.chars().skip(1)).collect()
}
