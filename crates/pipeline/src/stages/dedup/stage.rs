//! The stage: one outcome for each post, and a table of all similar pairs.

use std::collections::BTreeMap;

use rayon::prelude::*;
use riddlemill_record::{Language, Outcome, Post, Reason, Record, is_published};
use riddlemill_review::decisions::{StageDecisions, Verdict};
use riddlemill_tables::{StageReader, StageWriter};
use riddlemill_text::join::{Spill, Unwatched, Watch};
use riddlemill_text::offline::dedup::{
    Found, SimilarPair, join_query, rank_records, similar_pairs, similar_pairs_on_disk,
};
use riddlemill_text::text::count_with_noun;
use riddlemill_text::text::sameness::{MOST_UNITS, Veto, find_veto};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use super::outcomes::{DedupOutcomes, FoundPairs};
use super::posts::{Posts, StagePosts, disk_error, places_of_ids};
use super::room::{PostTotals, room_of_pairs};
use super::{DiskSpill, NearPair};
use crate::config::{Config, sections};
use crate::stages::context::{About, NewRows, StageError, StageRows};
use crate::stages::embed::Embeds;
use crate::stages::job::Job;
use crate::stages::same_joke::{JUDGED, JudgedPair, ONE};
use crate::stages::stage::Stage;
use crate::stages::{JoinProgress, NEAR, NearEmbeddings, Pulse, Seconds, Stop};

/// Removes duplicates among the posts of these stages, each of which is one whatever number of them have it, by their texts and by people's decisions. What does not fit in
/// the memory that the settings allow works on the disk, with the same result. Pairs whose embeddings a step before has found
/// near are further evidence, unless a veto of the default similarity holds.
///
/// # Errors
/// [`StageError`] where the stage cannot be written, there is no room for it, or the user stopped.
pub fn dedup_posts(
    (inputs, seconds): (&[StageReader], &Seconds),
    settings: &sections::Dedup,
    decisions: &StageDecisions,
    on_disk: DiskSpill<'_>,
    writer: &mut StageWriter<Post>,
    (stop, pulse): (&Stop, &dyn Pulse),
) -> Result<(), StageError> {
    let needs = PostTotals::estimate_needs(inputs)?;
    let spills = needs.memory_bytes() > settings.memory_mib.saturating_mul(1 << 20);
    if spills {
        // Checked first, because a disk that fills up later would waste the whole join.
        needs.check_room(on_disk)?;
        pulse.notify_user(&needs.describe_needs(settings));
    }
    let mut posts =
        StagePosts::read_posts((inputs, seconds), spills.then_some(on_disk.folder), settings.language, stop)?;
    if let Some(words) = of_over_length(settings, posts.over_length, posts.count_posts()) {
        pulse.notify_user(&format!("dedup: {words}"));
    }
    let near = near_by_embeddings(inputs, &posts)?;
    let count = posts.count_posts() as u64;
    let waiting = JoinProgress::before_writing(stop, pulse, count);
    let (groups, mut pairs) = match posts.in_memory() {
        Some(texts) => {
            let (groups, pairs) = similar_pairs(&texts, settings, &waiting);
            (groups, FoundPairs::InMemory(pairs))
        }
        None => {
            let memory = usize::try_from(settings.memory_mib << 20).unwrap_or(usize::MAX);
            let spill = Spill { folder: on_disk.folder, memory, texts: posts.count_posts() };
            let mut failed = None;
            let found =
                similar_pairs_on_disk(posts.iter_tagged_texts(&mut failed), settings, spill, &waiting);
            // An unreadable text ends the iterator, which the join takes for the end of the posts.
            failed.map_or(Ok(()), Err)?;
            let (groups, pairs) = found.map_err(disk_error)?;
            room_of_pairs(&pairs, on_disk)?;
            (groups, FoundPairs::OnDisk(pairs))
        }
    };
    // A stopped join in memory returns what it has, which must not be written.
    stop.fail_if_stopped()?;
    if !near.is_empty() {
        // Few enough posts are embedded that all pairs fit in memory.
        let mut held = pairs.load_pairs()?;
        add_near(&mut held, &groups, &near, |a, b| {
            Ok(find_veto(&posts.text_with_language(a)?, &posts.text_with_language(b)?).map(Veto::name))
        })?;
        pairs = FoundPairs::InMemory(held);
    }
    let one = judged_one(inputs, &posts)?;
    if !one.is_empty() {
        // Few enough posts are judged that all pairs fit in memory.
        let mut held = pairs.load_pairs()?;
        add_judged(&mut held, &groups, &one);
        pairs = FoundPairs::InMemory(held);
    }
    // What the join held is free again.
    posts.hold_texts(settings.memory_mib.saturating_mul(1 << 20))?;
    // Ties are broken by id, because the numbers of posts depend on the order of the files.
    let places = places_of_ids(&posts);
    let ranks = rank_records(&posts.standings, settings.keep, |row| places[row as usize]);
    let decided = match pairs {
        FoundPairs::InMemory(pairs) => {
            DedupOutcomes::from_found(Found::from_join(groups, pairs, ranks), &posts, decisions)?
        }
        FoundPairs::OnDisk(pairs) => {
            DedupOutcomes::from_disk(groups, pairs, ranks, &posts, decisions, &waiting)?
        }
    };
    stop.fail_if_stopped()?;
    let mut table = writer.start_table::<NearPair>("pairs")?;
    let written = JoinProgress::new(stop, pulse, waiting.remaining_records());
    let each = 1.0 / (count as f64 + PAIR * decided.pair_count() as f64).max(1.0);
    decided.put_near_pairs(&posts, &places, &waiting, |pairs| {
        pairs.iter().for_each(|pair| table.append(pair));
        written.report_share(PAIR * each * pairs.len() as f64);
        Ok(table.flush()?)
    })?;
    writer.add_table(table)?;
    let (mut sources, mut first) = (Sources::default(), 0);
    // Read a second time, because only ids, texts and ranks were kept in memory.
    let parts = inputs
        .iter()
        .enumerate()
        .flat_map(|(at, input)| input.read_parts::<Post>("rows").map(move |part| (at, part)));
    for (input, part) in parts {
        let (part, again): (Vec<Post>, Vec<Post>) =
            part?.into_iter().partition(|post| !seconds.has_earlier(input, &post.id));
        for post in again {
            if let Some(outcome) = seconds.outcome_of_repeat(input, &post.id) {
                writer.append(&post.id, &outcome);
            }
        }
        let outcome = |(at, post): (usize, &Post)| decided.outcome_of_post(first + at, post, &posts);
        let outcomes: Vec<Option<Outcome<Post>>> =
            part.par_iter().enumerate().map(outcome).collect::<Result<_, _>>()?;
        first += part.len();
        for (post, outcome) in part.into_iter().zip(outcomes) {
            let outcome = outcome.map(|outcome| keep_published(&post, outcome, Post::clone));
            let unknown = post.language == Some(Language::Und) && post.language_certainty != Some(1.0);
            sources.count_post(&post.source, matches!(outcome, Some(Outcome::Merged { .. })), unknown);
            let id = post.id.clone();
            writer.append(&id, &outcome.unwrap_or(Outcome::Kept(post)));
            written.report_share(each);
            stop.fail_if_stopped()?;
        }
        writer.flush()?;
    }
    sources
        .warn_of_merged()
        .iter()
        .chain(&sources.warn_of_foreign())
        .for_each(|words| pulse.notify_user(words));
    Ok(())
}

/// What is told where the default similarity is set, and this many of all texts are too long for their wording to be compared.
pub(in crate::stages) fn of_over_length(
    settings: &sections::Dedup,
    long: usize,
    all: usize,
) -> Option<String> {
    (long > 0 && join_query(settings).is_none()).then(|| {
        format!(
            "{long} of {} over {MOST_UNITS} characters long (of English: words), compared as copies and as beginnings of each \
             other, and not by wording",
            count_with_noun(all as u64, "text")
        )
    })
}

/// No warning for a source with fewer posts if half of them were merged: that happens by chance.
const MANY_OF_A_SOURCE: usize = 10;

/// How many posts a source has, how many of them are merged into others, and in no language that is known.
#[derive(Default)]
struct Sources(BTreeMap<String, (usize, usize, usize)>);

impl Sources {
    fn count_post(&mut self, source: &str, merged: bool, unknown: bool) {
        // `entry` would allocate the name again for every post.
        if !self.0.contains_key(source) {
            self.0.insert(source.to_owned(), (0, 0, 0));
        }
        if let Some((all, gone, foreign)) = self.0.get_mut(source) {
            *all += 1;
            *gone += usize::from(merged);
            *foreign += usize::from(unknown);
        }
    }

    /// A warning for each source with over half of its posts in a language that was not stated and is not known.
    fn warn_of_foreign(&self) -> Vec<String> {
        let warning = |(source, (all, _, foreign)): (&String, &(usize, usize, usize))| {
            (*all >= MANY_OF_A_SOURCE && 2 * foreign > *all).then(|| {
                format!(
                    "dedup: {foreign} of {all} posts of `{source}` are neither Chinese nor English as far as their words tell, so \
                     that only identical texts, openings and edits are compared; `language` of its [[source]] states it \
                     (\"zh\", \"en\", or \"und\" if it is another)"
                )
            })
        };
        self.0.iter().filter_map(warning).collect()
    }

    /// A warning for each source with over half of its posts merged into others: a dump that is there twice, or a rule that
    /// takes its posts for one.
    fn warn_of_merged(&self) -> Vec<String> {
        let warning = |(source, (all, gone, _)): (&String, &(usize, usize, usize))| {
            (*all >= MANY_OF_A_SOURCE && 2 * gone > *all).then(|| {
                format!(
                    "dedup: {gone} of {all} posts of `{source}` were merged into others; is the source \
                     there twice? \
                     `riddlemill show dedup --outcome merged` lists them"
                )
            })
        };
        self.0.iter().filter_map(warning).collect()
    }
}

/// A published record is kept where a rule would merge it into another; it is merged only if a person joined the two.
pub(in crate::stages) fn keep_published<R: Record>(
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
                evidence: format!("{}: {evidence}", crate::stages::overrule::by_rule(&outcome)).into(),
                before: String::new(),
                after: String::new(),
            }
        }
        _ => outcome,
    }
}

/// Writing a pair with its figures takes as long as writing so many records, about.
const PAIR: f64 = 1.5;

/// The predicate of pairs whose embeddings are near.
const COSINE: &str = "cosine";

/// Which posts are near by their embeddings, by number, with their cosine.
fn near_by_embeddings(
    inputs: &[StageReader],
    posts: &StagePosts,
) -> Result<Vec<(usize, usize, f64)>, StageError> {
    let mut pairs: Vec<NearEmbeddings> = Vec::new();
    for input in inputs.iter().filter(|input| input.manifest().tables.contains_key(NEAR)) {
        pairs.append(&mut input.read_table(NEAR)?);
    }
    if pairs.is_empty() {
        return Ok(Vec::new());
    }
    let at: FxHashMap<&str, usize> = (0..posts.count_posts()).map(|post| (posts.id(post), post)).collect();
    let number = |pair: &NearEmbeddings| Some((*at.get(&*pair.a)?, *at.get(&*pair.b)?, pair.cosine));
    Ok(pairs.iter().filter_map(number).collect())
}

/// The predicate of borderline pairs that a judge calls one joke.
const JUDGE: &str = "judge";

/// Which posts a judge called one joke, by number.
fn judged_one(inputs: &[StageReader], posts: &StagePosts) -> Result<Vec<(usize, usize)>, StageError> {
    let mut pairs: Vec<JudgedPair> = Vec::new();
    for input in inputs.iter().filter(|input| input.manifest().tables.contains_key(JUDGED)) {
        pairs.append(&mut input.read_table(JUDGED)?);
    }
    pairs.retain(|pair| pair.verdict.as_deref() == Some(ONE));
    if pairs.is_empty() {
        return Ok(Vec::new());
    }
    let at: FxHashMap<&str, usize> = (0..posts.count_posts()).map(|post| (posts.id(post), post)).collect();
    let number = |pair: &JudgedPair| Some((*at.get(&*pair.a)?, *at.get(&*pair.b)?));
    Ok(pairs.iter().filter_map(number).collect())
}

/// Borderline pairs that a judge called one joke count as the same, whatever veto kept them apart: that is what it was asked
/// about.
fn add_judged(pairs: &mut [SimilarPair], groups: &[Vec<u32>], one: &[(usize, usize)]) {
    let rows = groups.iter().zip(0u32..).flat_map(|(rows, group)| rows.iter().map(move |row| (*row, group)));
    let group_of: FxHashMap<u32, u32> = rows.collect();
    let group = |row: usize| group_of.get(&(row as u32)).copied();
    let one: FxHashSet<(u32, u32)> =
        one.iter().filter_map(|(a, b)| group(*a).zip(group(*b))).map(|(a, b)| (a.min(b), a.max(b))).collect();
    for pair in pairs.iter_mut().filter(|pair| !pair.same) {
        if one.contains(&(pair.a.min(pair.b), pair.a.max(pair.b))) {
            (pair.same, pair.predicate) = (true, JUDGE);
        }
    }
}

/// Adds rows that are near by their embeddings to the pairs of groups that are similar by their words. A pair with a
/// veto is listed for a person, however it was found.
fn add_near(
    pairs: &mut Vec<SimilarPair>,
    groups: &[Vec<u32>],
    near: &[(usize, usize, f64)],
    veto: impl Fn(usize, usize) -> Result<Option<&'static str>, StageError>,
) -> Result<(), StageError> {
    if near.is_empty() {
        return Ok(());
    }
    let rows = groups.iter().zip(0u32..).flat_map(|(rows, group)| rows.iter().map(move |row| (*row, group)));
    let group_of: BTreeMap<u32, u32> = rows.collect();
    let mut known: BTreeMap<(u32, u32), usize> =
        pairs.iter().enumerate().map(|(at, like)| ((like.a, like.b), at)).collect();
    for &(first, second, score) in near {
        let (first_of, second_of) = (group_of.get(&(first as u32)), group_of.get(&(second as u32)));
        // A text without a letter is in no group.
        let Some((&one, &other)) = first_of.zip(second_of).filter(|(one, other)| one != other) else {
            continue;
        };
        let (a, b) = (one.min(other), one.max(other));
        let at = known.get(&(a, b)).copied();
        // Their words already make them one.
        if at.is_some_and(|at| pairs[at].same) {
            continue;
        }
        let veto = veto(first, second)?;
        if at.is_some() && veto.is_some() {
            // Already listed for a person.
            continue;
        }
        let found = SimilarPair { a, b, score, same: veto.is_none(), predicate: COSINE, veto };
        match at {
            Some(at) => pairs[at] = found,
            None => {
                known.insert((a, b), pairs.len());
                pairs.push(found);
            }
        }
    }
    Ok(())
}

/// The outcome of each post, in order, and the table of all similar pairs.
type Decisions = (Vec<Option<Outcome<Post>>>, Vec<NearPair>);

/// What [`dedup_posts`] would do, and the pairs it lists. Similar texts are the same only if `agree` is true for the two
/// posts, given by number. `similar` are further pairs that are near, regardless of their strings.
pub(in crate::stages) fn decide_where(
    posts: &[Post],
    settings: &sections::Dedup,
    decisions: &StageDecisions,
    similar: &[(usize, usize, f64)],
    watch: &dyn Watch,
    agree: impl Fn(usize, usize) -> bool,
) -> Result<Decisions, StageError> {
    let mut found = Found::among_posts(posts, settings, watch);
    add_near(&mut found.similar_pairs, &found.groups, similar, |_, _| Ok(None))?;
    for like in &mut found.similar_pairs {
        like.same &= agree(found.heads[like.a as usize], found.heads[like.b as usize]);
    }
    let decided = DedupOutcomes::from_found(found, posts, decisions)?;
    let outcome = |(row, post)| decided.outcome_of_post(row, post, posts);
    let outcomes = posts.iter().enumerate().map(outcome).collect::<Result<_, _>>()?;
    let mut pairs = Vec::new();
    decided.put_near_pairs(posts, &places_of_ids(posts), &Unwatched, |more| {
        pairs.extend(more);
        Ok(())
    })?;
    Ok((outcomes, pairs))
}

/// One record per joke.
#[derive(Debug)]
pub struct Deduplicating;

impl Stage for Deduplicating {
    fn describe_stage(&self) -> About {
        // 2 keeps a text in capitals alone where there is no other. 3 wants a third of the pairs of neighbours. 4 takes
        // more retellings for the same, and the forum's names for no likeness. 5 takes what over 256 posts hold for no
        // likeness of two. 6 goes by the language of the record, and lists exchanged words, other numbers and other subjects as
        // borderline. 7 compares texts over 4,000 units as copies and beginnings alone.
        About { name: "dedup", version: 8, section: "dedup", rows: StageRows::Posts, detail: "" }
    }

    fn make_rows(&self, job: &Job<'_>) -> Result<NewRows, StageError> {
        let mut writer = job.create_post_writer()?;
        let run: sections::Run = job.asking.config.typed_settings(None, "run");
        let on_disk = DiskSpill { folder: job.working_folder(), check: run.disk_check };
        let watched = (job.asking.stop, job.asking.pulse);
        let (people, seconds) = (job.step.read_decisions()?, job.find_repeated_records()?);
        dedup_posts((job.inputs, &seconds), &job.step_settings(), &people, on_disk, &mut writer, watched)?;
        Ok(writer.into())
    }

    fn row_settings(&self, config: &Config, recipe: &str) -> BTreeMap<String, Value> {
        Embeds::Posts.comparison_settings(config, recipe)
    }

    fn may_be_overruled(&self, verdict: Verdict) -> bool {
        verdict.is_of_pair()
    }

    fn merges_posts(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embeddings_add_to_words_and_vetoes_hold() {
        let pair = |a, b, same, predicate, veto| SimilarPair { a, b, score: 0.5, same, predicate, veto };
        let mut pairs = vec![
            pair(0, 1, true, "near", None),
            pair(0, 2, false, "reworded", Some("template")),
            pair(1, 2, false, "reworded", None),
        ];
        let groups = vec![vec![0], vec![1, 4], vec![2], vec![3]];
        // The last row has no letter, and is in no group; 1 and 4 are one.
        let near =
            [(0, 1, 0.99), (0, 2, 0.98), (1, 2, 0.97), (1, 4, 1.0), (2, 3, 0.96), (3, 4, 0.95), (3, 5, 1.0)];
        let veto = |a, b| Ok(((a, b) == (0, 2) || (a, b) == (2, 3)).then_some("series"));
        add_near(&mut pairs, &groups, &near, veto).unwrap();
        let found_pairs: Vec<_> = pairs.iter().map(|p| (p.a, p.b, p.same, p.predicate, p.veto)).collect();
        assert_eq!(
            found_pairs,
            [
                (0, 1, true, "near", None),
                (0, 2, false, "reworded", Some("template")),
                (1, 2, true, COSINE, None),
                (2, 3, false, COSINE, Some("series")),
                (1, 3, true, COSINE, None),
            ]
        );
    }

    #[test]
    fn what_a_judge_calls_one_joke_counts_as_the_same() {
        let pair = |a, b, same, veto| SimilarPair { a, b, score: 0.5, same, predicate: "reworded", veto };
        let mut pairs =
            vec![pair(0, 1, false, Some("negation")), pair(0, 2, true, None), pair(1, 2, false, None)];
        let groups = vec![vec![0], vec![3, 1], vec![2]];
        // The judge saw another row of the group; a row in no group is nobody's, and pairs that words know alone count.
        add_judged(&mut pairs, &groups, &[(0, 3), (2, 0), (4, 1)]);
        let found: Vec<_> = pairs.iter().map(|p| (p.a, p.b, p.same, p.predicate, p.veto)).collect();
        assert_eq!(
            found,
            [
                (0, 1, true, JUDGE, Some("negation")),
                (0, 2, true, "reworded", None),
                (1, 2, false, "reworded", None)
            ]
        );
    }

    #[test]
    fn a_source_that_loses_over_half_of_its_posts_is_reported() {
        let mut sources = Sources::default();
        for (source, all, merged) in [("first", 20, 10), ("second", 20, 11), ("small", 4, 4)] {
            (0..all).for_each(|n| sources.count_post(source, n < merged, source == "second" && n > 9));
        }
        let warnings = sources.warn_of_merged();
        assert_eq!(warnings.len(), 1);
        assert!(
            warnings[0].starts_with("dedup: 11 of 20 posts of `second` were merged into others"),
            "{warnings:?}"
        );
        assert!(sources.warn_of_foreign().is_empty(), "half is not most: {:?}", sources.warn_of_foreign());
        (0..3).for_each(|_| sources.count_post("second", false, true));
        assert!(
            sources.warn_of_foreign()[0].contains("13 of 23 posts of `second`"),
            "{:?}",
            sources.warn_of_foreign()
        );
    }
}
