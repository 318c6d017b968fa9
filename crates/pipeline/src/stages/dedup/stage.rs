//! The stage: posts in, one outcome each out, and a table of all that is alike.

use std::collections::BTreeMap;
use std::path::Path;

use rayon::prelude::*;

use super::fates::Fates;
use super::posts::{Held, Posts, disk_error};
use super::room::Needs;
use crate::config::sections;
use crate::stages::{Pulse, StageError, Stop, Waiting};
use riddlemill_review::decisions::StageDecisions;
use riddlemill_tables::{StageReader, StageWriter};
use riddlemill_text::join::{Spill, Watch};
use riddlemill_text::offline::dedup::{Found, SimilarPair, ranks, similar_pairs, similar_pairs_on_disk};
use riddlemill_text::record::{Outcome, Post, Reason, Record, is_published, record};

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

/// Where what does not fit in memory waits, and whether the disk is looked at before.
#[derive(Clone, Copy, Debug)]
pub struct OnDisk<'a> {
    /// A new folder under this one.
    pub folder: &'a Path,
    /// Whether a disk without room for it ends the stage before it begins.
    pub check: bool,
}

/// Removes duplicates among the posts of these stages, as the texts and people's decisions say. What does not fit in
/// the memory that the settings allow works on the disk, with the same result.
///
/// # Errors
/// [`StageError`] where the stage cannot be written, there is no room for it, or the user stopped.
pub fn dedup(
    inputs: &[StageReader],
    settings: &sections::Dedup,
    decisions: &StageDecisions,
    on_disk: OnDisk<'_>,
    writer: &mut StageWriter<Post>,
    stop: &Stop,
    pulse: &dyn Pulse,
) -> Result<(), StageError> {
    let needs = Needs::of(inputs)?;
    let spills = needs.memory() > settings.memory_mib.saturating_mul(1 << 20);
    if spills {
        needs.room(on_disk)?;
        pulse.tell(&needs.words(settings));
    }
    let posts = Held::read(inputs, spills.then_some(on_disk.folder), stop)?;
    let count = posts.count() as u64;
    // Some records are left for the writing, which is the stage's end.
    let (joined, written) = (count - count / WRITING, count / WRITING);
    let waiting = Waiting::new(stop, pulse, joined);
    let (groups, similar_pairs) = match posts.in_memory() {
        Some(texts) => similar_pairs(&texts, settings, &waiting),
        None => {
            let memory = usize::try_from(settings.memory_mib << 20).unwrap_or(usize::MAX);
            let spill = Spill { folder: on_disk.folder, memory, texts: posts.count() };
            let mut failed = None;
            let found = similar_pairs_on_disk(posts.each(&mut failed), settings, spill, &waiting);
            failed.map_or(Ok(()), Err)?;
            found.map_err(disk_error)?
        }
    };
    stop.check()?;
    let ranks = ranks(&posts.standings, &settings.keep, |row| posts.id(row as usize));
    let fates = Fates::of(Found::of(groups, similar_pairs, ranks), &posts, decisions)?;
    stop.check()?;
    let mut table = writer.table::<NearPair>("pairs")?;
    fates.pairs(&posts, &|| stop.asked(), |pairs| {
        pairs.iter().for_each(|pair| table.append(pair));
        Ok(table.flush()?)
    })?;
    writer.keep(table)?;
    let written = Waiting::new(stop, pulse, written);
    let (mut sources, mut first) = (Sources::default(), 0);
    for part in inputs.iter().flat_map(|input| input.parts::<Post>("rows")) {
        let part = part?;
        let outcome = |(at, post): (usize, &Post)| fates.outcome(first + at, post, &posts);
        let outcomes: Vec<Option<Outcome<Post>>> =
            part.par_iter().enumerate().map(outcome).collect::<Result<_, _>>()?;
        first += part.len();
        for (post, outcome) in part.into_iter().zip(outcomes) {
            let outcome = outcome.map(|outcome| unmerged(&post, outcome, Post::clone));
            sources.count(&post.source, matches!(outcome, Some(Outcome::Merged { .. })));
            let id = post.id.clone();
            writer.append(&id, &outcome.unwrap_or(Outcome::Kept(post)));
            written.advance(1.0 / count as f64);
            stop.check()?;
        }
        writer.flush()?;
    }
    sources.emptied().iter().for_each(|words| pulse.tell(words));
    Ok(())
}

/// Of a source with fewer posts nobody is told that half of them went: chance does that.
const MANY_OF_A_SOURCE: usize = 10;

/// How many posts a source has, and how many of them go into others.
#[derive(Default)]
struct Sources(BTreeMap<String, (usize, usize)>);

impl Sources {
    fn count(&mut self, source: &str, merged: bool) {
        if !self.0.contains_key(source) {
            self.0.insert(source.to_owned(), (0, 0));
        }
        if let Some((all, gone)) = self.0.get_mut(source) {
            *all += 1;
            *gone += usize::from(merged);
        }
    }

    /// A line on each source of which over half of the posts go into others: a dump that is there twice, or a rule that
    /// takes its posts for one.
    fn emptied(&self) -> Vec<String> {
        let told = |(source, (all, gone)): (&String, &(usize, usize))| {
            (*all >= MANY_OF_A_SOURCE && 2 * gone > *all).then(|| {
                format!(
                    "dedup: {gone} of {all} posts of `{source}` went into others; is it there twice? \
                     `riddlemill show dedup --outcome merged` lists them"
                )
            })
        };
        self.0.iter().filter_map(told).collect()
    }
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

/// What becomes of each post, in order, and the table of all that is alike.
type Decisions = (Vec<Option<Outcome<Post>>>, Vec<NearPair>);

/// What [`dedup`] would do, and the pairs it lists, where texts that are near are the same only if `agree` says so of
/// the two posts, by number. `similar` are further pairs that are near, whatever the strings say.
pub(in crate::stages) fn decide_where(
    posts: &[Post],
    settings: &sections::Dedup,
    decisions: &StageDecisions,
    similar: &[(usize, usize, f64)],
    watch: &dyn Watch,
    agree: impl Fn(usize, usize) -> bool,
) -> Result<Decisions, StageError> {
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
    let fates = Fates::of(found, posts, decisions)?;
    let outcome = |(row, post)| fates.outcome(row, post, posts);
    let outcomes = posts.iter().enumerate().map(outcome).collect::<Result<_, _>>()?;
    let mut pairs = Vec::new();
    fates.pairs(posts, &|| false, |more| {
        pairs.extend(more);
        Ok(())
    })?;
    Ok((outcomes, pairs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_loses_over_half_of_its_posts_is_told() {
        let mut sources = Sources::default();
        for (source, all, merged) in [("first", 20, 10), ("second", 20, 11), ("small", 4, 4)] {
            (0..all).for_each(|n| sources.count(source, n < merged));
        }
        let told = sources.emptied();
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with("dedup: 11 of 20 posts of `second` went into others"), "{told:?}");
    }
}
