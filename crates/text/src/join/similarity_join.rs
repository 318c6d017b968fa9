//! The join of the default similarity: every pair of texts that [`crate::text::sameness`] calls the
//! same or borderline.
//!
//! Each of its predicates is a separate, exact join:
//!
//! | predicate | what is joined | how |
//! |---|---|---|
//! | identical | keys | equal |
//! | opening | folded texts | one begins with the other: by the hash of each beginning |
//! | near | folded texts | [`super::Metric::Indel`] |
//! | sound | sounds | [`super::Metric::Indel`] |
//! | reworded | folded texts | [`super::Metric::Reworded`] |
//!
//! What they find together is compared by the predicates that found it, and the comparison alone decides. Texts that no
//! comparison can distinguish form one group, which is compared once.

use std::borrow::Cow;
use std::time::Instant;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::forecast::{self, FORECAST_FROM, JoinWork, Steps, Timed, Work, draw_sample, query_of_sample};
use super::memory::BLOCK_KEYS;
use super::openings::find_openings;
use super::pairs::join_by_blocks;
use super::predicate_joins::{DefaultJoin, default_joins};
use super::watch::WorkPart;
use super::{Effort, Watch};
use crate::text::sameness::{
    Comparison, Predicate, Predicates, PreparedText, Reading, SharedWeights, Verdict, all_predicates,
    compare_among, holds_of, least_units,
};

/// Every pair that is at least borderline, with texts that compare alike held as one group.
#[derive(Clone, Debug)]
pub struct AlikePairs {
    /// Rows by group, ascending within a group, groups by their first row; blank texts are in none.
    pub groups: Vec<Vec<u32>>,
    /// Pairs of groups, `a < b` by number, ascending.
    pub pairs: Vec<AlikePair>,
    /// What the joins took, and as `compared` how many pairs were compared in full.
    pub effort: Effort,
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
pub fn find_alike_pairs(texts: &[&str]) -> AlikePairs {
    alike_of(texts, WorkPart::without_watch())
}

/// [`find_alike_pairs`] for somebody who waits.
pub fn similarity_join_watched(texts: &[&str], watch: &dyn Watch) -> AlikePairs {
    alike_of(texts, WorkPart::of_whole(watch))
}

/// What reading is told to take before its texts are known: little, because progress never goes back.
const READ: f64 = 0.02;

/// Pairs that are compared between two reports of progress.
const AT_ONCE: usize = 256;

fn alike_of(texts: &[&str], part: WorkPart<'_>) -> AlikePairs {
    let (readings, groups) = group_rows(texts, part.narrow_to(READ));
    let all: Vec<&Reading> = readings.iter().collect();
    let steps = steps_of(&all, part);
    part.report_share((steps.read - READ).max(0.0));
    let part = part.narrow_to(1.0 - steps.read.max(READ));
    let (candidates, works) = find_candidates(&all, &default_joins(), &steps, part);
    let mut effort = Effort::default();
    works.into_iter().for_each(|(_, spent)| effort += spent);
    effort.compared = candidates.len() as u64;
    let items = part.narrow_to(steps.compare).over_items(candidates.len());
    let pairs = candidates
        .par_chunk_by(|x, y| x.a == y.a)
        .flat_map_iter(|partners| compare_partners(&all, partners, |some| items.begin_items(some)))
        .collect();
    AlikePairs { groups, pairs, effort }
}

/// Compares the pairs of one first text, as long as `begins` lets it begin the next few, whose number it is told.
fn compare_partners(
    readings: &[&Reading],
    partners: &[Candidate],
    begins: impl Fn(usize) -> bool,
) -> Vec<AlikePair> {
    let prepared = |reading: u32| PreparedText::from(readings[reading as usize]);
    let Some(first) = partners.first().map(|pair| prepared(pair.a)) else { return Vec::new() };
    let mut alike = Vec::new();
    // A text of common phrases may have a hundred thousand partners.
    for some in partners.chunks(AT_ONCE).take_while(|some| begins(some.len())) {
        alike.extend(some.iter().filter_map(|pair| pair.compare_texts(&first, &prepared(pair.b))));
    }
    alike
}

/// The shares of the steps after the reading of these texts, by a sample of them.
pub(super) fn steps_of(readings: &[&Reading], part: WorkPart<'_>) -> Steps {
    if readings.len() < FORECAST_FROM || part.is_stopped() {
        return Steps::without_forecast(&default_joins());
    }
    let sample: Vec<&Reading> = draw_sample(readings.len()).into_iter().map(|at| readings[at]).collect();
    sampled_steps(&sample, readings.len(), part)
}

/// The same by the sample itself, of so many texts.
pub(super) fn sampled_steps(sample: &[&Reading], texts: usize, part: WorkPart<'_>) -> Steps {
    if sample.is_empty() {
        return Steps::without_forecast(&default_joins());
    }
    let work = forecast_work(sample, texts);
    part.report_forecast(work.expected_work());
    work.step_shares()
}

fn forecast_work(sample: &[&Reading], texts: usize) -> Work {
    let by = texts as f64 / sample.len() as f64;
    let joins: Vec<DefaultJoin> = default_joins()
        .into_iter()
        .map(|join| DefaultJoin { query: query_of_sample(&join.query, by), ..join })
        .collect();
    work_of(sample, &joins).scaled_by(by)
}

/// The work of joining these texts.
fn work_of(readings: &[&Reading], joins: &[DefaultJoin]) -> Work {
    let (candidates, works) =
        find_candidates(readings, joins, &Steps::without_forecast(joins), WorkPart::without_watch());
    let chars = |reading: u32| readings[reading as usize].folded().chars().count() as f64;
    // By the clock: how much of a comparison the vetoes take depends on the texts.
    let compared = candidates.par_chunk_by(|x, y| x.a == y.a).map(|partners| {
        let begun = Instant::now();
        let alike = compare_partners(readings, partners, |_| true);
        let took = Timed { pairs: partners.len() as f64, took: begun.elapsed() };
        (took, alike.iter().map(|pair| chars(pair.a) * chars(pair.b)).collect::<Vec<f64>>())
    });
    let (times, cells): (Vec<Timed>, Vec<Vec<f64>>) = compared.unzip();
    let cells = cells.concat();
    Work {
        bytes: readings.iter().map(|reading| reading.folded().len() as f64).sum(),
        joins: works.iter().map(|(bytes, effort)| JoinWork::of_effort(*bytes, effort)).collect(),
        compared: forecast::usual_time(times),
        found: cells.len() as f64,
        cells: cells.iter().sum(),
    }
}

/// Two groups that may be alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    pub a: u32,
    pub b: u32,
    /// Of which predicates. A join finds exactly the pairs of its own, so that no other holds.
    pub of: Predicates,
    /// What the two share, where a join has counted it.
    pub shared: Option<SharedWeights>,
}

/// The predicates that are cheap to try, by texts that are equal or begin alike.
pub(super) const BY_BEGINNING: Predicates =
    Predicates::of_one(Predicate::Identical).union_with(Predicates::of_one(Predicate::Opening));

impl Candidate {
    /// Found in some order as a pair of a predicate.
    pub fn new(x: u32, y: u32, of: Predicates, shared: Option<SharedWeights>) -> Self {
        Self { a: x.min(y), b: x.max(y), of: of.union_with(BY_BEGINNING), shared }
    }

    /// Takes another of the same two groups in; false where it is of others.
    pub fn merge_if_same(&mut self, other: &Candidate) -> bool {
        let same = (self.a, self.b) == (other.a, other.b);
        if same {
            self.of = self.of.union_with(other.of);
            self.shared = self.shared.or(other.shared);
        }
        same
    }

    /// How the two compare with these texts, where they are at least borderline.
    pub fn compare_texts(self, first: &PreparedText, second: &PreparedText) -> Option<AlikePair> {
        let Candidate { a, b, of, shared } = self;
        let comparison = compare_among(first, second, of, shared);
        (comparison.verdict != Verdict::Different).then_some(AlikePair { a, b, comparison })
    }
}

/// What a join sees of a reading; empty where the text is too short for its predicate, or the predicate is not of its language.
pub fn joined_text<'a>(reading: &'a Reading, join: &DefaultJoin) -> Cow<'a, str> {
    let (folded, least) = (reading.folded(), least_units(join.least_chars, reading.language()));
    if !holds_of(join.predicate, reading.language()) || folded.chars().take(least).count() < least {
        Cow::Borrowed("")
    } else {
        (join.view)(folded)
    }
}

/// Groups of rows that compare alike with everything.
fn group_rows(texts: &[&str], part: WorkPart<'_>) -> (Vec<Reading>, Vec<Vec<u32>>) {
    let items = part.over_items(texts.len());
    let read = |text: &&str| Reading::new(if items.begin_items(1) { text } else { "" });
    let all: Vec<Reading> = texts.par_iter().map(read).collect();
    let mut seen: FxHashMap<&Reading, u32> = FxHashMap::default();
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for (reading, row) in all.iter().zip(0u32..).filter(|(reading, _)| !reading.is_blank()) {
        let group = *seen.entry(reading).or_insert_with(|| {
            groups.push(Vec::with_capacity(1));
            groups.len() as u32 - 1
        });
        groups[group as usize].push(row);
    }
    let mut all: Vec<Option<Reading>> = all.into_iter().map(Some).collect();
    let readings = groups.iter().filter_map(|rows| all[rows[0] as usize].take()).collect();
    (readings, groups)
}

/// The bytes of what a join joins, and what it took.
type Joining = (usize, Effort);

/// Pairs of readings, ascending, that one of the joins found, and what each join took.
fn find_candidates(
    readings: &[&Reading],
    joins: &[DefaultJoin],
    steps: &Steps,
    part: WorkPart<'_>,
) -> (Vec<Candidate>, Vec<Joining>) {
    let mut works = Vec::with_capacity(joins.len());
    // Readings of one text differ by the numbers of a series or a list. There are few.
    let mut of_text: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
    let mut pairs: Vec<Candidate> = Vec::new();
    for (reading, b) in readings.iter().zip(0u32..) {
        let same = of_text.entry(reading.key()).or_default();
        pairs.extend(same.iter().map(|&a| Candidate::new(a, b, Predicates::ALL, None)));
        same.push(b);
    }
    drop(of_text);
    let mut add = |found: &mut dyn Iterator<Item = (u32, u32, Option<SharedWeights>)>, of: Predicates| {
        pairs.extend(found.map(|(a, b, shared)| Candidate::new(a, b, of, shared)));
        pairs.par_sort_unstable();
        pairs.dedup_by(|next, kept| kept.merge_if_same(next));
    };
    // The shorter text has so many characters, hence both have.
    let long = |least: usize| -> Vec<&str> {
        let long = |text: &str| text.chars().take(least).count() >= least;
        let texts = readings.iter().map(|reading| reading.folded());
        texts.map(|text| if long(text) { text } else { "" }).collect()
    };
    for spec in all_predicates().iter().filter(|spec| spec.predicate == Predicate::Opening) {
        let found = find_openings(&long(spec.least_chars), spec.borderline);
        add(&mut found.into_iter().map(|(a, b)| (a, b, None)), BY_BEGINNING);
    }
    for (join, step) in joins.iter().zip(&steps.joins) {
        let views: Vec<Cow<'_, str>> =
            readings.par_iter().map(|reading| joined_text(reading, join)).collect();
        let views: Vec<&str> = views.iter().map(AsRef::as_ref).collect();
        let part = part.narrow_to(step.share).as_join(step.probing);
        let joined = join_by_blocks(&views, &join.query, BLOCK_KEYS, part);
        works.push((views.iter().map(|view| view.len()).sum(), joined.effort));
        let same_view = joined.groups.iter().flat_map(|rows| {
            rows.iter().enumerate().flat_map(|(i, &a)| rows[..i].iter().map(move |&b| (a, b, None)))
        });
        let rows = |group: u32| &joined.groups[group as usize];
        let found = joined.pairs.iter().zip(joined.shared_weights()).flat_map(|(pair, shared)| {
            rows(pair.a).iter().flat_map(move |&a| rows(pair.b).iter().map(move |&b| (a, b, shared)))
        });
        add(&mut same_view.chain(found), Predicates::of_one(join.predicate));
    }
    (pairs, works)
}

#[cfg(test)]
#[path = "similarity_join_tests.rs"]
mod tests;
